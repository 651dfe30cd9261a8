import assert from "node:assert/strict";
import { test } from "node:test";
import { wholeText } from "../src/webview/whole";
import type { ReadPage } from "../src/webview/whole";

/** Pages of three bytes; the text must be ASCII. */
const paged = (text: string): ReadPage => ({ offset = 0 }) => Promise.resolve({
  text: text.slice(offset, offset + 3), offset, nextOffset: Math.min(offset + 3, text.length), totalBytes: text.length,
});

test("all pages joined are the whole", async () => {
  assert.equal(await wholeText(paged("echo a; rm b"), "r", { beginning: "" }), "echo a; rm b");
  assert.equal(await wholeText(paged("echo a; rm b"), "r", { beginning: "echo a", missing: 6 }), "echo a; rm b");
});

test("another text than the card's is refused", async () => {
  assert.equal(await wholeText(paged("echo b; rm b"), "r", { beginning: "echo a", missing: 6 }), undefined);
  assert.equal(await wholeText(paged("echo a"), "r", { beginning: "echo a", missing: 6 }), undefined);
});

test("a reader that stands still is not at the end", async () => {
  const stuck: ReadPage = () => Promise.resolve({ text: "a", offset: 0, nextOffset: 0, totalBytes: 9 });
  assert.equal(await wholeText(stuck, "r", { beginning: "" }), undefined);
});
