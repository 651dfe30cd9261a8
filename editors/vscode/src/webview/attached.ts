/** What goes along with the draft: pictures and long texts, kept by the extension as they come. */
import type { Attachments, PictureData } from "../messages";
import { act } from "./dom";
import { Handover } from "./handover";

export class Attached {
  all: Attachments = { pictures: [], pasted: [] };
  private readonly handover = new Handover((piece) => act("keepPiece", piece), (refs) => act("saveAttachments", refs));
  private lastId = 0;

  constructor(
    private readonly draw: () => void,
    private readonly complain: (error: unknown) => void,
  ) {}

  get isEmpty(): boolean {
    return this.all.pictures.length + this.all.pasted.length === 0;
  }

  /** It would not outlive a reload of the window yet. */
  isOnItsWay(id: string): boolean {
    return !this.handover.has(id);
  }

  /** What the extension kept from before, unless something is here already. */
  restore(kept: Attachments): void {
    this.handover.hasArrived(kept);
    if (this.isEmpty) {
      this.set(kept);
    }
  }

  /** What the extension has already. */
  give(more: Attachments): void {
    this.handover.hasArrived(more);
    this.keep({ pictures: [...this.all.pictures, ...more.pictures], pasted: [...this.all.pasted, ...more.pasted] });
  }

  addPictures(pictures: readonly PictureData[]): void {
    const added = pictures.map((one) => ({ id: this.newId(), ...one }));
    this.keep({ ...this.all, pictures: [...this.all.pictures, ...added] });
  }

  addText(text: string): void {
    this.keep({ ...this.all, pasted: [...this.all.pasted, { id: this.newId(), text }] });
  }

  remove(id: string): void {
    this.keep(this.without(new Set([id])));
  }

  /** Resolves when the extension has all of it. */
  async arrival(): Promise<void> {
    await (this.isEmpty ? undefined : this.handover.keep(this.all));
  }

  /** These are gone with a prompt; what came meanwhile stays. */
  sent({ pictures, pasted }: Attachments): void {
    this.set(this.without(new Set([...pictures, ...pasted].map(({ id }) => id))));
  }

  private without(ids: ReadonlySet<string>): Attachments {
    const isKept = ({ id }: { id: string }) => !ids.has(id);
    return { pictures: this.all.pictures.filter(isKept), pasted: this.all.pasted.filter(isKept) };
  }

  private keep(attachments: Attachments): void {
    this.set(attachments);
    this.handover.keep(attachments).then(this.draw, this.complain);
  }

  private set(attachments: Attachments): void {
    this.all = attachments;
    this.draw();
  }

  private newId(): string {
    this.lastId += 1;
    return `${Date.now().toString(36)}-${this.lastId}`;
  }
}
