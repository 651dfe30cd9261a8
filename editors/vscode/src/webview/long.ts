/**
 * What must be opened in full before it may be allowed.
 *
 * Invariant: pure; nothing that is cut or long can be allowed unseen.
 */
import type { Approval, CommandSubject } from "../protocol.gen";

export const PREVIEW_LINES = 30;
const PREVIEW_CHARS = 1_500;

export interface LongPart {
  readonly key: string;
  /** What is named in the hint. */
  readonly name: string;
  /** The card holds only a part of it; the engine has the rest. */
  readonly isCut: boolean;
}

/** The parts of a card that its preview does not show in full. */
export function longParts(approval: Approval): LongPart[] {
  const { subject } = approval;
  switch (subject.type) {
    case "edit":
      return subject.files
        .filter((file) => Boolean(file.hiddenLines) || isLong(file.diff))
        .map((file) => ({
          key: file.uri,
          name: file.uri.split("/").at(-1) ?? file.uri,
          isCut: Boolean(file.hiddenLines),
        }));
    case "command":
      return isFoldedCommand(subject) ? [{ key: "command", name: approval.title, isCut: Boolean(subject.hiddenChars) }] : [];
    case "plan":
      return isLong(subject.markdown) ? [{ key: "plan", name: approval.title, isCut: false }] : [];
    case "other":
      return isLong(subject.summary) ? [{ key: "other", name: approval.title, isCut: false }] : [];
    case "network":
      return isLong(subject.url) ? [{ key: "network", name: approval.title, isCut: false }] : [];
    default:
      return [];
  }
}

export function isFoldedCommand({ command, hiddenChars }: CommandSubject): boolean {
  return Boolean(hiddenChars) || isLong(command);
}

export function isLong(text: string): boolean {
  return text.length > PREVIEW_CHARS || text.split("\n").length > PREVIEW_LINES + 3;
}

/** The beginning of a long text. */
export function preview(text: string): string {
  return isLong(text) ? `${text.split("\n").slice(0, PREVIEW_LINES).join("\n").slice(0, PREVIEW_CHARS)}…` : text;
}
