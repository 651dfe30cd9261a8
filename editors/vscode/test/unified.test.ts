import assert from "node:assert/strict";
import { test } from "node:test";
import { applyDiff, countLines, diffLines, sidesOf } from "../src/unified";

const BEFORE = "one\ntwo\nthree\nfour\n";
const DIFF = "--- a/x\n+++ b/x\n@@ -1,3 +1,4 @@\n one\n-two\n+TWO\n+2.5\n three\n";

test("a diff is applied", () => {
  assert.equal(applyDiff(BEFORE, DIFF), "one\nTWO\n2.5\nthree\nfour\n");
  assert.deepEqual(countLines(DIFF), { added: 2, removed: 1 });
});

test("a diff of another text is refused", () => {
  assert.equal(applyDiff("one\nzwei\nthree\n", DIFF), undefined);
  assert.equal(applyDiff("", DIFF), undefined);
});

test("a new file, an emptied file, and text in between", () => {
  assert.equal(applyDiff("", "--- /dev/null\n+++ b/x\n@@ -0,0 +1,2 @@\n+a\n+b\n"), "a\nb\n");
  assert.equal(applyDiff("a\n", "--- a/x\n+++ b/x\n@@ -1 +0,0 @@\n-a\n"), "");
  assert.equal(applyDiff("a\nb\n", "@@ -1,0 +2 @@\n+x\n"), "a\nx\nb\n");
});

test("the last newline comes and goes as the diff says", () => {
  const note = "\\ No newline at end of file\n";
  assert.equal(applyDiff("a\n", `@@ -1 +1 @@\n-a\n+b\n${note}`), "b");
  assert.equal(applyDiff("a", `@@ -1 +1 @@\n-a\n${note}+b\n`), "b\n");
  assert.equal(applyDiff("a", `@@ -1 +1 @@\n-a\n${note}+b\n${note}`), "b");
  assert.equal(applyDiff("a\nb", `@@ -1,2 +1,2 @@\n-a\n+A\n b\n${note}`), "A\nb");
});

test("carriage returns stay where they are", () => {
  assert.equal(applyDiff("a\r\nb\r\n", "@@ -1,2 +1,2 @@\n a\r\n-b\r\n+c\r\n"), "a\r\nc\r\n");
});

test("lines are numbered and the two sides can be told from the diff alone", () => {
  assert.deepEqual(
    diffLines(DIFF).map((line) => [line.kind, line.oldLine, line.newLine]),
    [
      ["hunk", undefined, undefined],
      ["same", 1, 1],
      ["remove", 2, undefined],
      ["add", undefined, 2],
      ["add", undefined, 3],
      ["same", 3, 4],
    ],
  );
  assert.deepEqual(sidesOf(DIFF), {
    before: "@@ -1,3 +1,4 @@\none\ntwo\nthree",
    after: "@@ -1,3 +1,4 @@\none\nTWO\n2.5\nthree",
  });
});
