/**
 * Read unified diffs and apply them to a text.
 *
 * Invariant: pure; a diff that does not fit is refused, never forced.
 */

export interface DiffLine {
  readonly kind: "hunk" | "add" | "remove" | "same" | "note";
  readonly text: string;
  /** One-based line in the text before; of removed and unchanged lines. */
  readonly oldLine?: number;
  /** One-based line in the text after; of added and unchanged lines. */
  readonly newLine?: number;
}

const HUNK = /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@/;

/** The lines of a unified diff, the head with the file names left out. */
export function diffLines(diff: string): DiffLine[] {
  const found: DiffLine[] = [];
  let oldLine = 0;
  let newLine = 0;
  let isInside = false;
  const lines = diff.split("\n");
  if (lines.at(-1) === "") {
    lines.pop();
  }
  for (const line of lines) {
    const hunk = HUNK.exec(line);
    if (hunk) {
      isInside = true;
      oldLine = Number(hunk[1]);
      newLine = Number(hunk[2]);
      found.push({ kind: "hunk", text: line });
    } else if (!isInside) {
      continue;
    } else if (line.startsWith("+")) {
      found.push({ kind: "add", text: line.slice(1), newLine: newLine++ });
    } else if (line.startsWith("-")) {
      found.push({ kind: "remove", text: line.slice(1), oldLine: oldLine++ });
    } else if (line.startsWith("\\")) {
      found.push({ kind: "note", text: line.slice(2) });
    } else {
      found.push({ kind: "same", text: line.slice(1), oldLine: oldLine++, newLine: newLine++ });
    }
  }
  return found;
}

/** The text after the diff, or nothing when the diff is of another text. */
export function applyDiff(before: string, diff: string): string | undefined {
  const source = before.split("\n");
  let endsWithNewline = before === "" || source.at(-1) === "";
  if (source.at(-1) === "") {
    source.pop();
  }
  const result: string[] = [];
  let at = 0;
  let lastKind: DiffLine["kind"] | undefined;
  for (const line of diffLines(diff)) {
    switch (line.kind) {
      case "hunk": {
        const until = hunkStart(line.text);
        if (until < at || until > source.length) {
          return undefined;
        }
        result.push(...source.slice(at, until));
        at = until;
        break;
      }
      case "add":
        result.push(line.text);
        break;
      case "remove":
      case "same":
        if (!sameLine(source[at], line.text)) {
          return undefined;
        }
        if (line.kind === "same") {
          result.push(source[at] ?? "");
        }
        at += 1;
        break;
      case "note":
        // `\ No newline at end of file`, said of the line above it.
        endsWithNewline = lastKind === "remove";
        break;
    }
    lastKind = line.kind;
  }
  result.push(...source.slice(at));
  return result.join("\n") + (endsWithNewline && result.length > 0 ? "\n" : "");
}

/** Zero-based line where a hunk begins. A hunk that only inserts names the line before it. */
function hunkStart(head: string): number {
  const start = Number(HUNK.exec(head)?.[1] ?? 0);
  return / -\d+,0 /.test(head) ? start : start - 1;
}

/** The two sides as far as the diff itself tells them, for a text that is no longer there. */
export function sidesOf(diff: string): { before: string; after: string } {
  const lines = diffLines(diff);
  const side = (left: "add" | "remove") =>
    lines
      .filter((line) => line.kind !== left && line.kind !== "note")
      .map((line) => line.text)
      .join("\n");
  return { before: side("add"), after: side("remove") };
}

/** How many lines a diff adds and removes. */
export function countLines(diff: string): { added: number; removed: number } {
  let added = 0;
  let removed = 0;
  for (const line of diffLines(diff)) {
    added += line.kind === "add" ? 1 : 0;
    removed += line.kind === "remove" ? 1 : 0;
  }
  return { added, removed };
}

function sameLine(have: string | undefined, want: string): boolean {
  return have === want || (have !== undefined && have === `${want}\r`);
}
