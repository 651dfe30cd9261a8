import assert from "node:assert/strict";
import { test } from "node:test";
import { shown, shownLine, shownProse } from "../src/shown";

test("plain text, tabs and other scripts stay as they are", () => {
  for (const text of ["ls -l\n\tx", "日本語 текст é", "𝒳 😀"]) {
    assert.equal(shown(text), text);
    assert.equal(shownProse(text), text);
  }
});

test("what deceives is spelled out", () => {
  assert.equal(shown("a\u202eb\u200bc\u00a0d\u001b[31m\u3000"), "a⟨U+202E⟩b⟨U+200B⟩c⟨U+00A0⟩d⟨U+001B⟩[31m⟨U+3000⟩");
  assert.equal(shown("\u{e0041}\u3164\ufe0f\r"), "⟨U+E0041⟩⟨U+3164⟩⟨U+FE0F⟩⟨U+000D⟩");
  assert.equal(shown("\ud800x"), "⟨U+D800⟩x");
});

test("a line end cannot begin a line of our own", () => {
  assert.equal(shownLine("ls\nrm -rf /\u2028x"), "ls⏎rm -rf /⟨U+2028⟩x");
});

test("prose keeps its spaces and emoji, and nothing that moves other text", () => {
  assert.equal(shownProse("à\u00a0la 👩\u200d💻 ❤\ufe0f\r\n"), "à\u00a0la 👩\u200d💻 ❤\ufe0f\n");
  assert.equal(shownProse("a\u202eb\u0007\u2028"), "a⟨U+202E⟩b⟨U+0007⟩⟨U+2028⟩");
});
