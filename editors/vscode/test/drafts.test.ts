import assert from "node:assert/strict";
import { test } from "node:test";
import { LONG_TEXT_CHARS, afterSending, joined, retaken } from "../src/drafts";

const MAIN = "file:///w/src/main.py";
const RANGE = { start: { line: 2, character: 0 }, end: { line: 4, character: 0 } };

test("what was typed while a prompt was being sent stays, with its mentions", () => {
  const draft = { text: "fix @a.py and then @b.py", mentions: { "a.py": "file:///a.py", "b.py": "file:///b.py" } };
  assert.deepEqual(afterSending(draft, "fix @a.py"), { text: " and then @b.py", mentions: { "b.py": "file:///b.py" } });
  assert.deepEqual(afterSending(draft, draft.text), { text: "", mentions: {} });
  assert.equal(afterSending({ text: "another", mentions: {} }, "fix").text, "another");
});

test("what is taken back comes below what was being written", () => {
  assert.equal(joined({ text: "now \n", mentions: {} }, { text: "then", mentions: {} }).text, "now\nthen");
  assert.equal(joined({ text: "", mentions: {} }, { text: "then ", mentions: {} }).text, "then ");
});

test("a prompt that is taken back is the draft that it was", () => {
  const long = "x".repeat(LONG_TEXT_CHARS + 1);
  const { draft, pasted, pictures, others } = retaken(
    [
      { type: "text", text: "look at @src/main.py" },
      { type: "text", text: long },
      { type: "file", uri: MAIN },
      { type: "file", uri: "file:///w/other.py" },
      { type: "selection", uri: MAIN, range: RANGE, text: "x = 1\n" },
      { type: "diagnostic", uri: MAIN, range: RANGE, message: "no" },
      { type: "image", data: "AAAA", mimeType: "image/jpeg" },
      { type: "image", uri: "file:///w/a.png" },
    ],
    (uri) => uri.replace("file:///w/", ""),
  );
  assert.deepEqual(draft, { text: "look at @src/main.py", mentions: { "src/main.py": MAIN } });
  assert.deepEqual(pasted, [long]);
  assert.deepEqual(pictures, [{ name: "picture.jpeg", mimeType: "image/jpeg", data: "AAAA" }]);
  assert.deepEqual(others.map(({ type }) => type), ["file", "selection", "diagnostic", "image"]);
});

test("a file outside of every folder, or some lines of one, is no mention", () => {
  const parts = [
    { type: "text", text: "see @main.py" },
    { type: "file", uri: "file:///w/main.py", range: RANGE },
    { type: "file", uri: "file:///elsewhere/main.py" },
  ] as const;
  const { draft, others } = retaken(parts, (uri) => (uri.startsWith("file:///w/") ? "main.py" : undefined));
  assert.deepEqual([draft.mentions, others.length], [{}, 2]);
});
