/**
 * Hands large things over to the extension in pieces: what is typed meanwhile waits behind few of
 * them, and is kept although megabytes are on their way.
 *
 * Invariant: the pieces go in order; nothing is referred to before all of it has arrived.
 */
import type { AttachmentRefs, Attachments, Piece } from "../messages";

const PIECE_CHARS = 131_072;
/** Two, so that the next is there when the one before has arrived. */
const MOST_ON_THE_WAY = 2;

export class Handover {
  private readonly arrived = new Set<string>();
  private wanted: ReadonlySet<string> = new Set();
  private working: Promise<unknown> = Promise.resolve();

  constructor(
    private readonly give: (piece: Piece) => Promise<unknown>,
    private readonly refer: (refs: AttachmentRefs) => Promise<unknown>,
  ) {}

  has(id: string): boolean {
    return this.arrived.has(id);
  }

  /** The extension has these: it gave them. */
  hasArrived(attachments: Attachments): void {
    contentsOf(attachments).forEach(({ id }) => this.arrived.add(id));
  }

  /** Hand over what is new of these; then they are what goes along with the draft. */
  keep(attachments: Attachments): Promise<void> {
    this.wanted = new Set(contentsOf(attachments).map(({ id }) => id));
    const work = this.working.catch(() => undefined).then(() => this.work(attachments));
    this.working = work;
    return work;
  }

  private async work(attachments: Attachments): Promise<void> {
    for (const { id, content } of contentsOf(attachments)) {
      await this.handOver(id, content);
    }
    const refs = refsOf(attachments);
    const isHere = ({ id }: { id: string }) => this.arrived.has(id);
    await this.refer({ pictures: refs.pictures.filter(isHere), pasted: refs.pasted.filter(isHere) });
  }

  private async handOver(id: string, content: string): Promise<void> {
    const onTheWay: Promise<unknown>[] = [];
    for (let offset = 0, isEnd = this.arrived.has(id); !isEnd; ) {
      if (!this.wanted.has(id)) {
        return;
      }
      const end = endOf(content, offset);
      isEnd = end >= content.length;
      const given = this.give({ id, offset, text: content.slice(offset, end), isEnd });
      given.catch(() => undefined); // told when it is waited for
      onTheWay.push(given);
      offset = end;
      if (onTheWay.length >= MOST_ON_THE_WAY) {
        await onTheWay.shift();
      }
    }
    await Promise.all(onTheWay);
    this.arrived.add(id);
  }
}

export function refsOf({ pictures, pasted }: Attachments): AttachmentRefs {
  return {
    pictures: pictures.map(({ id, name, mimeType }) => ({ id, name, mimeType })),
    pasted: pasted.map(({ id }) => ({ id })),
  };
}

function contentsOf({ pictures, pasted }: Attachments): { id: string; content: string }[] {
  return [...pictures.map(({ id, data }) => ({ id, content: data })), ...pasted.map(({ id, text }) => ({ id, content: text }))];
}

/** Not between the halves of a character. */
function endOf(content: string, start: number): number {
  const end = start + PIECE_CHARS;
  const code = content.charCodeAt(end - 1);
  return code >= 0xd800 && code <= 0xdbff ? end + 1 : end;
}
