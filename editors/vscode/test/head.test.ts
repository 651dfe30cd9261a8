import assert from "node:assert/strict";
import { test } from "node:test";
import { advance, headOf, waitingCards } from "../src/head";
import type { Event, SessionSnapshot } from "../src/protocol.gen";

const SNAPSHOT: SessionSnapshot = {
  sessionId: "s1",
  title: "A test",
  mode: "agent",
  level: "ask",
  model: "demo",
  state: "idle",
  items: [],
  approvals: [],
  questions: [],
  usage: { contextTokens: 10, contextWindow: 100, inputTokens: 5 },
  watermark: { epoch: "e1", seq: 3 },
};

let seq = 3;
function event(type: string, payload: Record<string, unknown>, more: Partial<Event> = {}): Event {
  seq += 1;
  return { sessionId: "s1", epoch: "e1", seq, at: 0, type, payload, ...more };
}

const APPROVAL = {
  approvalId: "a1",
  sessionId: "s1",
  turnId: "t1",
  callId: "c1",
  kind: "tool",
  title: "Edit main.py",
  subject: { type: "other", summary: "x" },
  decisions: ["deny", "once"],
  requestedAt: 0,
};

test("a turn runs, waits for a card, goes on and ends", () => {
  let head = headOf(SNAPSHOT);
  head = advance(head, event("turn.started", { promptId: "p" }, { turnId: "t1" }));
  assert.deepEqual([head.state, head.turnId], ["running", "t1"]);
  head = advance(head, event("approval.requested", { approval: APPROVAL }));
  head = advance(head, event("turn.suspended", { waitingFor: "a1" }));
  assert.deepEqual([head.state, waitingCards(head)], ["waiting", 1]);
  head = advance(head, event("approval.resolved", { approvalId: "a1", decision: "once", resolvedBy: "x" }));
  head = advance(head, event("turn.resumed", {}));
  assert.deepEqual([head.state, waitingCards(head)], ["running", 0]);
  head = advance(head, event("turn.completed", { stopReason: "done", usage: { inputTokens: 9 } }));
  assert.deepEqual([head.state, head.turnId, head.usage], ["idle", undefined, { inputTokens: 9 }]);
});

test("an event that was folded before changes nothing", () => {
  const head = headOf(SNAPSHOT);
  const old = event("session.renamed", { title: "other" }, { seq: 3 });
  assert.equal(advance(head, old), head);
});

test("a card that comes again replaces itself", () => {
  let head = headOf(SNAPSHOT);
  head = advance(head, event("approval.requested", { approval: APPROVAL }));
  head = advance(head, event("approval.requested", { approval: { ...APPROVAL, title: "again" } }));
  assert.deepEqual(head.approvals.map((one) => one.title), ["again"]);
});

test("a model call says what the session used with it; a cost that became unknown goes", () => {
  const total = { contextTokens: 60, contextWindow: 100, inputTokens: 75, cost: 0.5 };
  let head = advance(headOf(SNAPSHOT), event("model.replied", { usage: { inputTokens: 70 }, total }));
  assert.deepEqual(head.usage, total);
  head = advance(head, event("model.replied", { usage: { inputTokens: 1 }, total: { inputTokens: 76 } }));
  assert.deepEqual(head.usage, { inputTokens: 76 });
});

test("deltas, other sessions and unknown events leave the settings alone", () => {
  const head = headOf(SNAPSHOT);
  const delta = event("item.delta", { kind: "reply", offset: 0, text: "x" });
  delete delta.seq;
  assert.equal(advance(head, delta), head);
  assert.equal(advance(head, event("turn.started", {}, { sessionId: "s2" })), head);
  const after = advance(head, event("something.new", {}));
  assert.deepEqual({ ...after, cursor: head.cursor }, head);
});

test("the goal is the one that was told last, also at rest", () => {
  const goal = { goalId: "g1", objective: "Green.", status: "active", by: "goal" };
  let head = advance(headOf(SNAPSHOT), event("goal.updated", { goal }));
  assert.equal(head.goal?.status, "active");
  head = advance(head, event("goal.updated", { goal: { ...goal, status: "paused", reason: "Why." } }));
  assert.deepEqual([head.goal?.status, head.goal?.reason], ["paused", "Why."]);
});
