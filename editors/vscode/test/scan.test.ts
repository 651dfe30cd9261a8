import assert from "node:assert/strict";
import { test } from "node:test";
import { Scanner, pieces } from "../src/webview/scan";

test("paragraphs, headings and code blocks are cut apart, lists are not", () => {
  const text = "# A\n\nOne\ntwo\n\n- a\n\n- b\n\n  more\n\nafter\n\n```py\nx\n\ny\n```\nend\n";
  assert.deepEqual(pieces(text), ["# A\n\n", "One\ntwo\n\n", "- a\n\n- b\n\n  more\n\n", "after\n\n", "```py\nx\n\ny\n```\n", "end\n"]);
});

test("a code block within a list does not cut the list", () => {
  const text = "1. a\n\n   ```\n   x\n\n   y\n   ```\n\n2. b\n\nafter\n";
  assert.deepEqual(pieces(text), ["1. a\n\n   ```\n   x\n\n   y\n   ```\n\n2. b\n\n", "after\n"]);
});

test("an open code block is known with its language", () => {
  const scanner = new Scanner();
  scanner.take("Look:\n````ts title\n```\nx");
  assert.deepEqual(scanner.fence, { bodyStart: 19, language: "ts title", marker: "````" });
  assert.equal(scanner.settled, 6);
  scanner.take("Look:\n````ts title\n```\nx\n````\n");
  assert.equal(scanner.fence, undefined);
});

test("inline code in a line of its own is no fence", () => {
  const scanner = new Scanner();
  scanner.take("```x``` is code\n\n");
  assert.equal(scanner.fence, undefined);
});

test("however a text grows, what was final stays final", () => {
  const text = "# A\n\nOne *two*\n\n- a\n- b\n\n> q\n\n```js\nlet a\n\n```\n\n| a | b |\n| - | - |\n| 1 | 2 |\n\nend";
  for (let size = 1; size <= 7; size += 1) {
    const scanner = new Scanner();
    let last = 0;
    for (let at = size; at <= text.length + size; at += size) {
      scanner.take(text.slice(0, at));
      assert.ok(scanner.settled >= last);
      last = scanner.settled;
    }
    // The line after a blank one decides, and `end` is not a whole line yet.
    assert.equal(last, text.indexOf("\n| a"), `steps of ${size}`);
  }
  assert.equal(pieces(text).join(""), text);
});
