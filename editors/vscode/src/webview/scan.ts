/**
 * Where a growing Markdown text can be cut, so that what stands before is final.
 *
 * Invariant: pure; each character is looked at once, however often the text grows.
 */

const FENCE = /^ {0,3}(`{3,}|~{3,})(.*)$/;
const LIST = /^ {0,3}(?:[-*+]|\d{1,9}[.)])(?:\s|$)/;

export interface OpenFence {
  /** Where the text within the fence begins. */
  readonly bodyStart: number;
  readonly language: string;
  /** A line of this alone closes it. */
  readonly marker: string;
}

export class Scanner {
  /** Everything before this offset is final. */
  settled = 0;
  /** A code block at the top level that is still open; then `settled` is where it begins. */
  fence: OpenFence | undefined;
  private scanned = 0;
  private text = "";
  private hasList = false;
  private isInnerFence: string | undefined;
  private isAfterBlank = true;

  /** Take the whole text so far; it must begin with what was taken before. */
  take(text: string): void {
    this.text = text;
    for (let end = text.indexOf("\n", this.scanned); end >= 0; end = text.indexOf("\n", this.scanned)) {
      this.line(text.slice(this.scanned, end), this.scanned, end + 1);
      this.scanned = end + 1;
    }
  }

  private line(line: string, start: number, end: number): void {
    if (this.fence) {
      if (closes(line, this.fence.marker)) {
        this.fence = undefined;
        this.cut(end);
      }
      return;
    }
    if (this.isInnerFence) {
      if (closes(line.trimStart(), this.isInnerFence)) {
        this.isInnerFence = undefined;
      }
      return;
    }
    const fence = FENCE.exec(line.trimStart() === line || !this.hasList ? line : line.trimStart());
    const opens = fence?.[1] !== undefined && !(fence[1].startsWith("`") && fence[2]?.includes("`"));
    if (opens) {
      const isTop = !this.hasList || !/^\s/.test(line);
      if (isTop) {
        this.cut(start);
        this.fence = { bodyStart: end, language: (fence[2] ?? "").trim(), marker: fence[1] ?? "" };
      } else {
        this.isInnerFence = fence[1];
      }
    } else if (line.trim() === "") {
      this.isAfterBlank = true;
      return;
    } else if (this.isAfterBlank && !/^\s/.test(line) && !(this.hasList && LIST.test(line))) {
      this.cut(start);
    }
    this.isAfterBlank = false;
    this.hasList ||= LIST.test(line);
  }

  private cut(at: number): void {
    if (this.text.slice(this.settled, at).trim() !== "") {
      this.settled = at;
    }
    this.hasList = false;
    this.isAfterBlank = true;
  }
}

/** Cut a whole text at the places where it may be cut; the pieces joined are the text. */
export function pieces(text: string): string[] {
  const found: string[] = [];
  const scanner = new Scanner();
  let from = 0;
  let at = 0;
  // Growing by lines makes every cut visible.
  while (at < text.length) {
    const next = text.indexOf("\n", at);
    at = next < 0 ? text.length : next + 1;
    scanner.take(text.slice(0, at));
    if (scanner.settled > from) {
      found.push(text.slice(from, scanner.settled));
      from = scanner.settled;
    }
  }
  if (from < text.length) {
    found.push(text.slice(from));
  }
  return found;
}

function closes(line: string, marker: string): boolean {
  const trimmed = line.trimEnd().replace(/^ {0,3}/, "");
  return trimmed.length >= marker.length && trimmed === (marker[0] ?? "`").repeat(trimmed.length);
}
