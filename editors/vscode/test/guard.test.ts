import assert from "node:assert/strict";
import { test } from "node:test";
import { refusal, textHash } from "../src/guard";
import type { DocumentFacts } from "../src/guard";

const DOCUMENT: DocumentFacts = { version: 4, text: "a\nb\n", isReadonly: false, isTyping: false, cursorLines: [1] };
const RANGE = { start: { line: 1, character: 0 }, end: { line: 1, character: 1 } };
const EDIT = { version: 4, textHash: textHash("a\nb\n"), ranges: [RANGE] };

test("an edit of the present text is applied", () => {
  assert.equal(refusal(DOCUMENT, EDIT), undefined);
  assert.equal(refusal(DOCUMENT, { ...EDIT, version: null }), undefined);
});

test("an edit of another text or version is refused", () => {
  assert.equal(refusal({ ...DOCUMENT, text: "a\nB\n" }, EDIT), "stale");
  assert.equal(refusal({ ...DOCUMENT, version: 5 }, EDIT), "stale");
  // Version 0 is a version like any other.
  assert.equal(refusal({ ...DOCUMENT, version: 1 }, { ...EDIT, version: 0 }), "stale");
});

test("closed and read-only documents are refused", () => {
  assert.equal(refusal(undefined, EDIT), "closed");
  assert.equal(refusal({ ...DOCUMENT, isReadonly: true }, EDIT), "readonly");
});

test("a line is left alone while it is typed on", () => {
  assert.equal(refusal({ ...DOCUMENT, isTyping: true }, EDIT), "typing");
  assert.equal(refusal({ ...DOCUMENT, isTyping: true, cursorLines: [3] }, EDIT), undefined);
});

test("the hash is of the text in UTF-8", () => {
  assert.equal(textHash("ä😀"), "41cdb6f90a10b81f7bb0b8654e469a8866b8d24988d1bb2706dadc3641a8db3b");
  assert.equal(textHash(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
});
