/**
 * What a person who looks elsewhere is told of.
 *
 * Invariant: pure; nobody is told of what they did themselves, nor of an end that is none.
 */
import type { Head } from "./head";
import type { Event, KnownEvent } from "./protocol.gen";

export interface Notice {
  readonly kind: "waits" | "done" | "failed";
  readonly subject: string;
}

/** `head` is that after the event. */
export function noticeOf(event: Event, head: Head): Notice | undefined {
  const known = event as unknown as KnownEvent;
  switch (known.type) {
    case "approval.requested":
      return { kind: "waits", subject: known.payload.approval.title };
    case "question.requested":
      return { kind: "waits", subject: known.payload.request.questions[0]?.question ?? "" };
    case "turn.completed": {
      const { stopReason } = known.payload;
      const goesOn = head.queue.length > 0 || head.goal?.status === "active";
      return goesOn || stopReason === "interrupted"
        ? undefined
        : { kind: stopReason === "failed" ? "failed" : "done", subject: head.title };
    }
    default:
      return undefined;
  }
}
