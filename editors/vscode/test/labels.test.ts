import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { test } from "node:test";
import { ENGLISH } from "../src/texts";

type Words = Record<string, string>;

const read = (file: string) => JSON.parse(readFileSync(file, "utf8")) as Words;
const bundle = read("l10n/bundle.l10n.zh-cn.json");

/** Every literal given to `vscode.l10n.t`. */
function literals(): string[] {
  return readdirSync("src")
    .filter((name) => name.endsWith(".ts"))
    .flatMap((name) => [...readFileSync(`src/${name}`, "utf8").matchAll(/l10n\.t\(\s*"((?:[^"\\]|\\.)*)"/g)])
    .map((found) => JSON.parse(`"${found[1] ?? ""}"`) as string);
}

const holes = (text: string) => [...text.matchAll(/\{\d\}/g)].map(([hole]) => hole).sort();

test("every text has a translation, and no translation is left over", () => {
  const wanted = new Set([...literals(), ...Object.values(ENGLISH)]);
  assert.deepEqual(
    { missing: [...wanted].filter((text) => !(text in bundle)), unused: Object.keys(bundle).filter((text) => !wanted.has(text)) },
    { missing: [], unused: [] },
  );
});

test("translations keep the places for arguments", () => {
  for (const [english, other] of Object.entries(bundle)) {
    assert.deepEqual(holes(other), holes(english), english);
  }
});

test("every label of package.json exists in both languages", () => {
  const used = new Set([...readFileSync("package.json", "utf8").matchAll(/"%([^%"]+)%"/g)].map((found) => found[1] ?? ""));
  for (const file of ["package.nls.json", "package.nls.zh-cn.json"]) {
    assert.deepEqual(Object.keys(read(file)).sort(), [...used].sort(), file);
  }
});
