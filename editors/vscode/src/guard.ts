/**
 * Whether an edit of the engine may be applied to a document as it is now.
 *
 * Invariant: pure; an edit of another text than the present one is refused.
 */
import { createHash } from "node:crypto";
import type { Range } from "./protocol.gen";

/** The `kova` part of `workspace/applyEdit`. */
export interface EditGuard {
  readonly textHash: string;
  readonly newTextHash: string;
}

/** The `kova` part of the answer. */
export interface EditOutcome {
  readonly version: number;
  readonly textHash: string;
  readonly reason?: "stale" | "readonly" | "typing" | "closed";
}

export interface DocumentFacts {
  readonly version: number;
  readonly text: string;
  readonly isReadonly: boolean;
  /** The person typed in it in the last moments. */
  readonly isTyping: boolean;
  /** Zero-based lines that hold a cursor. */
  readonly cursorLines: readonly number[];
}

export interface WantedEdit {
  /** Version that the edit was computed from; null when unknown. */
  readonly version: number | null;
  readonly textHash: string;
  readonly ranges: readonly Range[];
}

/** SHA-256 in hex of the text in UTF-8. */
export function textHash(text: string): string {
  return createHash("sha256").update(text, "utf8").digest("hex");
}

/** Why the edit may not be applied; nothing when it may. */
export function refusal(
  document: DocumentFacts | undefined,
  edit: WantedEdit,
): EditOutcome["reason"] {
  if (!document) {
    return "closed";
  }
  if (document.isReadonly) {
    return "readonly";
  }
  if (edit.version !== null && edit.version !== document.version) {
    return "stale";
  }
  if (textHash(document.text) !== edit.textHash) {
    return "stale";
  }
  const isTouched = document.cursorLines.some((line) =>
    edit.ranges.some((range) => range.start.line <= line && line <= range.end.line),
  );
  return document.isTyping && isTouched ? "typing" : undefined;
}
