/**
 * What a session is doing, folded from its snapshot and events: settings, state, cards, usage.
 *
 * Invariant: pure; the extension and its pages fold the same events to the same head.
 */
import type {
  Approval,
  ApprovalLevel,
  Cursor,
  Event,
  Goal,
  KnownEvent,
  Mode,
  QuestionRequest,
  QueuedPrompt,
  SessionSnapshot,
  SessionState,
  Usage,
} from "./protocol.gen";

export interface Head {
  readonly sessionId: string;
  readonly title: string;
  readonly workspace: string | undefined;
  readonly mode: Mode;
  readonly level: ApprovalLevel;
  readonly model: string;
  readonly state: SessionState;
  readonly turnId: string | undefined;
  readonly queue: readonly QueuedPrompt[];
  readonly approvals: readonly Approval[];
  readonly questions: readonly QuestionRequest[];
  readonly usage: Usage;
  readonly goal: Goal | undefined;
  readonly cursor: Cursor;
}

export function headOf(snapshot: SessionSnapshot): Head {
  return {
    sessionId: snapshot.sessionId,
    title: snapshot.title,
    workspace: snapshot.workspace,
    mode: snapshot.mode,
    level: snapshot.level,
    model: snapshot.model,
    state: snapshot.state,
    turnId: snapshot.turnId,
    queue: snapshot.queue ?? [],
    approvals: snapshot.approvals,
    questions: snapshot.questions,
    usage: snapshot.usage,
    goal: snapshot.goal,
    cursor: snapshot.watermark,
  };
}

/** How many cards wait for the person. */
export function waitingCards(head: Head | undefined): number {
  return head ? head.approvals.length + head.questions.length : 0;
}

/** Fold one event. An event at or before the cursor changes nothing: it was folded already. */
export function advance(head: Head, event: Event): Head {
  if (event.sessionId !== head.sessionId) {
    return head;
  }
  if (event.seq === undefined) {
    return head;
  }
  if (event.epoch === head.cursor.epoch && event.seq <= head.cursor.seq) {
    return head;
  }
  const cursor = { epoch: event.epoch, seq: event.seq };
  return { ...fold(head, event as unknown as KnownEvent), cursor };
}

function fold(head: Head, event: KnownEvent): Head {
  switch (event.type) {
    case "session.configured": {
      const { mode, level, model } = event.payload;
      return { ...head, mode, level, model };
    }
    case "session.renamed":
      return { ...head, title: event.payload.title };
    case "turn.started":
      return { ...head, state: "running", turnId: event.turnId };
    case "turn.suspended":
      return { ...head, state: "waiting" };
    case "turn.resumed":
      return { ...head, state: "running" };
    case "turn.completed":
      return {
        ...head,
        state: "idle",
        turnId: undefined,
        approvals: [],
        questions: [],
        usage: event.payload.usage ?? head.usage,
      };
    case "model.replied":
      return { ...head, usage: event.payload.total ?? head.usage };
    case "approval.requested": {
      const { approval } = event.payload;
      const others = head.approvals.filter((one) => one.approvalId !== approval.approvalId);
      return { ...head, approvals: [...others, approval] };
    }
    case "approval.resolved": {
      const { approvalId } = event.payload;
      return { ...head, approvals: head.approvals.filter((one) => one.approvalId !== approvalId) };
    }
    case "question.requested": {
      const { request } = event.payload;
      const others = head.questions.filter((one) => one.questionId !== request.questionId);
      return { ...head, questions: [...others, request] };
    }
    case "question.resolved": {
      const { questionId } = event.payload;
      return { ...head, questions: head.questions.filter((one) => one.questionId !== questionId) };
    }
    case "goal.updated":
      return { ...head, goal: event.payload.goal };
    case "queue.updated":
      return { ...head, queue: event.payload.queue };
    default:
      return head;
  }
}
