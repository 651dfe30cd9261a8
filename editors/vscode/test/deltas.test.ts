import assert from "node:assert/strict";
import { test } from "node:test";
import { Joined } from "../src/webview/deltas";

test("deltas join, repeated ones add nothing", () => {
  const joined = new Joined();
  assert.equal(joined.add(0, "ab"), "ab");
  assert.equal(joined.add(2, "cd"), "cd");
  assert.equal(joined.add(1, "bcde"), "e");
  assert.equal(joined.add(0, "ab"), "");
  assert.deepEqual([joined.text, joined.hasGap], ["abcde", false]);
});

test("offsets count code points", () => {
  const joined = new Joined();
  joined.add(0, "😀a");
  assert.equal(joined.add(2, "b"), "b");
  assert.equal(joined.add(1, "ab😀"), "😀");
  assert.deepEqual([joined.text, joined.hasGap], ["😀ab😀", false]);
});

test("a lost delta is noticed", () => {
  const joined = new Joined();
  joined.add(5, "x");
  assert.deepEqual([joined.text, joined.hasGap], ["x", true]);
});
