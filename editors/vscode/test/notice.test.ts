import assert from "node:assert/strict";
import { test } from "node:test";
import type { Head } from "../src/head";
import { noticeOf } from "../src/notice";
import type { Event, Goal, QueuedPrompt } from "../src/protocol.gen";

const HEAD = { title: "Tidy up", queue: [] as readonly QueuedPrompt[], approvals: [{ title: "older card" }] } as unknown as Head;

function told(type: string, payload: object, head: Partial<Head> = {}) {
  const event = { type, payload, sessionId: "s", epoch: "e", at: 0 };
  return noticeOf(event as unknown as Event, { ...HEAD, ...head });
}

test("a card is told by its own words, not those of another that is open", () => {
  assert.deepEqual(told("approval.requested", { approval: { title: "Edit a.py" } }), { kind: "waits", subject: "Edit a.py" });
  const request = { questions: [{ question: "Which?" }] };
  assert.deepEqual(told("question.requested", { request }), { kind: "waits", subject: "Which?" });
});

test("an end is told, not one that the person made, nor one that another prompt follows", () => {
  assert.deepEqual(told("turn.completed", { stopReason: "done" }), { kind: "done", subject: "Tidy up" });
  assert.deepEqual(told("turn.completed", { stopReason: "failed" }), { kind: "failed", subject: "Tidy up" });
  assert.equal(told("turn.completed", { stopReason: "interrupted" }), undefined);
  assert.equal(told("turn.completed", { stopReason: "done" }, { queue: [{}] as unknown as readonly QueuedPrompt[] }), undefined);
  assert.equal(told("item.completed", {}), undefined);
});

test("a turn of a goal that goes on is no end, the one that reached it is", () => {
  const at = (status: string) => told("turn.completed", { stopReason: "done" }, { goal: { status } as unknown as Goal });
  assert.equal(at("active"), undefined);
  assert.deepEqual(at("complete"), { kind: "done", subject: "Tidy up" });
});
