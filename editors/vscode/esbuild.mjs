// Bundle the extension, its pages and, with --tests, the unit tests.
import { build } from "esbuild";
import { readdirSync, rmSync } from "node:fs";

const shared = { bundle: true, logLevel: "warning", sourcemap: false, legalComments: "none" };

if (process.argv.includes("--tests")) {
  rmSync("dist/test", { recursive: true, force: true });
  await build({
    ...shared,
    entryPoints: readdirSync("test")
      .filter((name) => name.endsWith(".test.ts"))
      .map((name) => `test/${name}`),
    outdir: "dist/test",
    outExtension: { ".js": ".mjs" },
    platform: "node",
    format: "esm",
    target: "node20",
    banner: { js: 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);' },
  });
} else {
  await Promise.all([
    build({
      ...shared,
      entryPoints: ["src/extension.ts"],
      outfile: "dist/extension.js",
      external: ["vscode"],
      platform: "node",
      format: "cjs",
      target: "node20",
      minify: true,
    }),
    build({
      ...shared,
      entryPoints: { webview: "src/webview/main.ts" },
      outdir: "dist",
      platform: "browser",
      format: "iife",
      target: "es2022",
      minify: true,
    }),
  ]);
}
