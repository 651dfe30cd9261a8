/** The whole of what a card holds only in part. */
import type { OutputReadParams, OutputReadResult } from "../protocol.gen";

const PAGE_BYTES = 150_000;

export type ReadPage = (params: OutputReadParams) => Promise<OutputReadResult>;

/** What the card shows of it, and how many characters it leaves out, where the card says so. */
export interface Expected {
  readonly beginning: string;
  readonly missing?: number;
}

/**
 * Read all of it, page by page. Nothing is returned when what was read is not the card's text whole: a look
 * at something else must not allow it.
 */
export async function wholeText(read: ReadPage, outputRef: string, expected: Expected): Promise<string | undefined> {
  const pieces: string[] = [];
  for (let offset = 0, isEnd = false; !isEnd; ) {
    const page = await read({ outputRef, offset, limit: PAGE_BYTES });
    pieces.push(page.text);
    isEnd = page.nextOffset >= page.totalBytes;
    if (!isEnd && page.nextOffset <= offset) {
      return undefined;
    }
    offset = page.nextOffset;
  }
  const text = pieces.join("");
  const { beginning, missing } = expected;
  const isIt = text.startsWith(beginning) && (missing === undefined || lengthOf(text.slice(beginning.length)) === missing);
  return isIt ? text : undefined;
}

/** In characters, as the engine counts them. */
function lengthOf(text: string): number {
  return [...text].length;
}
