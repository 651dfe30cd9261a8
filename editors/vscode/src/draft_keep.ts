/**
 * The draft that outlives the window. The text is written as it changes; what is large arrives in
 * pieces, is written once, and the draft only refers to it.
 *
 * Invariant: nothing is referred to before all of it is on the disk, nor removed while it is.
 */
import { mkdirSync, readFileSync, readdirSync, rmSync } from "node:fs";
import { rename, rm, writeFile } from "node:fs/promises";
import * as path from "node:path";
import { afterSending, joined } from "./drafts";
import type { Keep } from "./keep";
import type { AttachmentRefs, Attachments, Draft, Picture, Piece, PictureData } from "./messages";

const DRAFT = "draft";
const ATTACHMENTS = "attachments";
const EMPTY: Draft = { text: "", mentions: {} };
const NOTHING: AttachmentRefs = { pictures: [], pasted: [] };
/** Its name is a file's name. */
const ID = /^[\w-]{1,40}$/;

export class DraftKeep {
  private readonly whole = new Map<string, string>();
  private readonly growing = new Map<string, string>();
  private lastId = 0;

  /** Without a folder everything is forgotten with the window. */
  constructor(
    private readonly keep: Keep,
    private readonly folder: string | undefined,
  ) {
    if (folder !== undefined) {
      this.readBack(folder);
    }
  }

  get draft(): Draft {
    return (this.keep.get(DRAFT) as Draft | undefined) ?? EMPTY;
  }

  get attachments(): Attachments {
    return this.resolved(this.refs);
  }

  async save(draft: Draft): Promise<void> {
    await this.keep.set(DRAFT, draft);
  }

  /** Take a piece of something large; with the last one it is on the disk. */
  async take({ id, offset, text, isEnd }: Piece): Promise<void> {
    const before = offset === 0 ? "" : this.growing.get(id);
    if (!ID.test(id) || before?.length !== offset) {
      throw new Error(`a piece of ${JSON.stringify(id)} came out of order`);
    }
    this.growing.clear(); // one that was given up in the middle
    this.growing.set(id, before + text);
    if (isEnd) {
      await this.put(id, before + text);
    }
  }

  /** Remember what goes along with the draft, and forget what no longer does. */
  async refer(refs: AttachmentRefs): Promise<void> {
    const before = idsOf(this.refs);
    const present = {
      pictures: refs.pictures.filter(({ id }) => this.whole.has(id)),
      pasted: refs.pasted.filter(({ id }) => this.whole.has(id)),
    };
    await this.keep.set(ATTACHMENTS, present);
    const after = new Set(idsOf(present));
    await Promise.all(before.filter((id) => !after.has(id)).map((id) => this.remove(id)));
  }

  /** What these hold. Throws for one that did not arrive. */
  resolve(refs: AttachmentRefs): Attachments {
    const missing = idsOf(refs).find((id) => !this.whole.has(id));
    if (missing !== undefined) {
      throw new Error(`the attachment ${missing} did not arrive`);
    }
    return this.resolved(refs);
  }

  /** Keep what was not sent: a text that was typed meanwhile, another attachment. */
  async sent(text: string, refs: AttachmentRefs): Promise<void> {
    const gone = new Set(idsOf(refs));
    const { pictures, pasted } = this.refs;
    const isKept = ({ id }: { id: string }) => !gone.has(id);
    await this.keep.set(DRAFT, afterSending(this.draft, text));
    await this.refer({ pictures: pictures.filter(isKept), pasted: pasted.filter(isKept) });
  }

  /** Add to the draft; returns what came to the attachments. */
  async add(draft: Draft, pictures: readonly PictureData[], pasted: readonly string[]): Promise<Attachments> {
    const added = {
      pictures: pictures.map((one) => ({ id: this.newId(), ...one })),
      pasted: pasted.map((text) => ({ id: this.newId(), text })),
    };
    await this.keep.set(DRAFT, joined(this.draft, draft));
    await Promise.all([...added.pictures.map(({ id, data }) => this.put(id, data)), ...added.pasted.map(({ id, text }) => this.put(id, text))]);
    const before = this.refs;
    await this.refer({ pictures: [...before.pictures, ...added.pictures.map(pictureRef)], pasted: [...before.pasted, ...added.pasted.map(({ id }) => ({ id }))] });
    return added;
  }

  private get refs(): AttachmentRefs {
    return (this.keep.get(ATTACHMENTS) as AttachmentRefs | undefined) ?? NOTHING;
  }

  private resolved(refs: AttachmentRefs): Attachments {
    const of = (id: string) => this.whole.get(id) ?? "";
    const isHere = ({ id }: { id: string }) => this.whole.has(id);
    return {
      pictures: refs.pictures.filter(isHere).map((one) => ({ ...one, data: of(one.id) })),
      pasted: refs.pasted.filter(isHere).map(({ id }) => ({ id, text: of(id) })),
    };
  }

  private readBack(folder: string): void {
    const wanted = new Set(idsOf(this.refs));
    try {
      mkdirSync(folder, { recursive: true });
      for (const name of readdirSync(folder)) {
        if (wanted.has(name)) {
          this.whole.set(name, readFileSync(path.join(folder, name), "utf8"));
        } else {
          rmSync(path.join(folder, name), { recursive: true, force: true });
        }
      }
    } catch {
      // What cannot be read is not there: the draft goes on without it.
    }
  }

  private async put(id: string, content: string): Promise<void> {
    if (this.folder !== undefined) {
      const file = path.join(this.folder, id);
      await writeFile(`${file}.new`, content, { mode: 0o600 });
      await rename(`${file}.new`, file);
    }
    this.growing.delete(id);
    this.whole.set(id, content);
  }

  private async remove(id: string): Promise<void> {
    this.whole.delete(id);
    if (this.folder !== undefined) {
      await rm(path.join(this.folder, id), { force: true });
    }
  }

  private newId(): string {
    this.lastId += 1;
    return `back-${Date.now().toString(36)}-${this.lastId}`;
  }
}

function idsOf({ pictures, pasted }: AttachmentRefs): string[] {
  return [...pictures, ...pasted].map(({ id }) => id);
}

function pictureRef({ id, name, mimeType }: Omit<Picture, "data">): Omit<Picture, "data"> {
  return { id, name, mimeType };
}
