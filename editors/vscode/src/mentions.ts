/**
 * Mentions of files in a prompt: `@src/main.ts`, or `@"a file.txt"`.
 *
 * Invariant: pure; shared by the extension and its page.
 */

export interface OpenMention {
  /** Where the `@` stands. */
  readonly start: number;
  /** What was typed after it. */
  readonly query: string;
}

/** The mention that is being typed at the cursor. */
export function mentionAt(text: string, cursor: number): OpenMention | undefined {
  const before = text.slice(0, cursor);
  const match = /(?:^|[\s([{,;])@("?)([^\s"@]*|(?<=")[^"\n]*)$/.exec(before);
  if (!match) {
    return undefined;
  }
  const query = match[2] ?? "";
  return { start: cursor - query.length - (match[1]?.length ?? 0) - 1, query };
}

/** How a path is written as a mention. */
export function mentionText(path: string): string {
  return /[\s"@]/.test(path) ? `@"${path}"` : `@${path}`;
}

/** The mentioned files that still stand in the text, in their order. */
export function mentioned(text: string, known: Readonly<Record<string, string>>): { path: string; uri: string }[] {
  return Object.entries(known)
    .map(([path, uri]) => ({ path, uri, at: placeOf(text, mentionText(path)) }))
    .filter(({ at }) => at >= 0)
    .sort((a, b) => a.at - b.at)
    .map(({ path, uri }) => ({ path, uri }));
}

/** Paths that fit what was typed, best first: name begins, name holds, path holds, letters in order. */
export function ranked(paths: readonly string[], query: string): string[] {
  const wanted = query.toLowerCase();
  return paths
    .map((path) => ({ path, score: scoreOf(path.toLowerCase(), wanted) }))
    .filter(({ score }) => score < Infinity)
    .sort((a, b) => a.score - b.score || a.path.length - b.path.length || (a.path < b.path ? -1 : 1))
    .map(({ path }) => path);
}

/** A glob for the files whose path holds the letters of the query in their order. */
export function globOf(query: string): string {
  const parts = query.split("/").map((part) =>
    [...part].map((char) => (/[a-z]/i.test(char) ? `[${char.toLowerCase()}${char.toUpperCase()}]` : /[\w.-]/.test(char) ? char : "?")).join("*"),
  );
  const last = parts.pop() ?? "";
  const folders = parts.map((part) => `*${part}*/**/`).join("");
  return last === "" && folders === "" ? "**/*" : `**/${folders}*${last}*`;
}

const PICTURES: Readonly<Record<string, string>> = {
  png: "image/png",
  jpg: "image/jpeg",
  jpeg: "image/jpeg",
  gif: "image/gif",
  webp: "image/webp",
};

/** Media type of a picture by its name; nothing for other files. */
export function pictureType(name: string): string | undefined {
  return PICTURES[name.split(".").at(-1)?.toLowerCase() ?? ""];
}

export const PICTURE_TYPES: ReadonlySet<string> = new Set(Object.values(PICTURES));
export const PICTURE_EXTENSIONS: readonly string[] = Object.keys(PICTURES);

function placeOf(text: string, mention: string): number {
  for (let at = text.indexOf(mention); at >= 0; at = text.indexOf(mention, at + 1)) {
    const after = text.slice(at + mention.length);
    // `@a.py` does not stand in `@a.pyi`, but does in `@a.py.` at the end of a sentence.
    if (mention.endsWith('"') || /^(?:$|\s|[,;:!?)\]}"']|\.(?:\s|$))/.test(after)) {
      return at;
    }
  }
  return -1;
}

function scoreOf(path: string, wanted: string): number {
  if (wanted === "") {
    return path.split("/").length;
  }
  const name = path.slice(path.lastIndexOf("/") + 1);
  if (name.startsWith(wanted)) {
    return 0;
  }
  if (name.includes(wanted)) {
    return 10;
  }
  if (path.includes(wanted)) {
    return 20;
  }
  let at = 0;
  for (const char of path) {
    if (char === wanted[at]) {
      at += 1;
    }
  }
  return at === wanted.length ? 30 : Infinity;
}
