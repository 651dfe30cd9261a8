import assert from "node:assert/strict";
import { test } from "node:test";
import type { Approval, Subject } from "../src/protocol.gen";
import { longParts, preview } from "../src/webview/long";

function approval(subject: Subject): Approval {
  return { approvalId: "a", sessionId: "s", turnId: "t", callId: "c", kind: "tool", title: "T", subject, decisions: [], requestedAt: 0 };
}

const file = (diff: string, hiddenLines?: number) => ({
  uri: "file:///w/a.py",
  change: "modify" as const,
  diff,
  ...(hiddenLines ? { hiddenLines } : {}),
});

test("what the preview shows in full needs no opening", () => {
  assert.deepEqual(longParts(approval({ type: "edit", files: [file("@@ -1 +1 @@\n-a\n+b\n")] })), []);
  assert.deepEqual(longParts(approval({ type: "command", command: "ls", cwd: "file:///w" })), []);
});

test("every long or cut file must be opened", () => {
  const long = `@@ -0,0 +1,99 @@\n${"+x\n".repeat(99)}`;
  assert.deepEqual(longParts(approval({ type: "edit", files: [file(long), file("@@ -1 +1 @@\n-a\n+b\n", 7)] })), [
    { key: "file:///w/a.py", name: "a.py", isCut: false },
    { key: "file:///w/a.py", name: "a.py", isCut: true },
  ]);
});

test("a long command hides nothing at its end", () => {
  const command = `echo ${"a".repeat(2000)}; rm -rf /`;
  assert.equal(longParts(approval({ type: "command", command, cwd: "file:///w" })).length, 1);
  assert.ok(preview(command).endsWith("…"));
  assert.equal(preview("ls"), "ls");
});

test("a command that the engine cut must be opened, however short its beginning is", () => {
  const cut = approval({ type: "command", command: "echo a", cwd: "file:///w", hiddenChars: 6, outputRef: "r" });
  assert.deepEqual(longParts(cut), [{ key: "command", name: "T", isCut: true }]);
});
