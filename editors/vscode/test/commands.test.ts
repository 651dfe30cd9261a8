import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { PAGE_COMMANDS } from "../src/messages";

interface Contributed {
  readonly command: string;
  readonly category?: string;
}

const { contributes } = JSON.parse(readFileSync("package.json", "utf8")) as {
  contributes: { commands: Contributed[]; keybindings: Contributed[] };
};
const source = readFileSync("src/commands.ts", "utf8");
const registered = [...source.matchAll(/^ {4}(\w+): /gm)].map((found) => `kova.${found[1] ?? ""}`);

/** Run by code actions and buttons, where their arguments come from. */
const NOT_IN_PALETTE = ["kova.fixProblem", "kova.manageTrust", "kova.openFolder", "kova.openConfiguration"];

test("every command of the palette is registered and belongs to Kova", () => {
  const listed = contributes.commands.map((one) => one.command);
  assert.deepEqual([...listed, ...NOT_IN_PALETTE].sort(), [...registered].sort());
  assert.ok(contributes.commands.every((one) => one.category === "Kova"));
});

test("keys and buttons run commands that exist", () => {
  for (const command of [...contributes.keybindings.map((one) => one.command), ...PAGE_COMMANDS]) {
    assert.ok(registered.includes(command), command);
  }
});
