// Bundle the extension, its pages and, with --tests, the unit tests.
import { build } from "esbuild";
import { cpSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";

const shared = { bundle: true, logLevel: "warning", sourcemap: false, legalComments: "none", metafile: true };

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
  carryServer("dist/server");
  const built = await Promise.all([
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
  writeFileSync("dist/LICENSES.txt", licenses(built.flatMap(({ metafile }) => Object.keys(metafile.inputs))));
}

/** The licences of the packages that went into the bundles. */
function licenses(inputs) {
  const names = inputs.map((file) => /node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(file)?.[1]).filter(Boolean);
  return [...new Set(names)].sort().map((name) => {
    const folder = `node_modules/${name}`;
    const { version, license } = JSON.parse(readFileSync(`${folder}/package.json`, "utf8"));
    const file = readdirSync(folder).find((one) => /^licen[cs]e/i.test(one));
    return `${name} ${version} (${license})\n\n${file ? readFileSync(`${folder}/${file}`, "utf8").trim() : ""}\n`;
  }).join(`\n${"-".repeat(80)}\n\n`);
}

/** The extension brings the server's source along, so that it can be installed from there. */
function carryServer(folder) {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  for (const name of ["LICENSE", "README.md", "pyproject.toml", "kova_ls"]) {
    cpSync(`../../${name}`, `${folder}/${name}`, {
      recursive: true,
      filter: (source) => !/__pycache__$/.test(source),
    });
  }
}
