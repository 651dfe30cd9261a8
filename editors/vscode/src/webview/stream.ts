/**
 * A reply that grows: what is final is drawn once, only the tail is drawn anew.
 *
 * Invariant: work per frame depends on what is new and on the tail, not on the whole reply.
 */
import { codeBlock } from "./markdown";
import { h, markdownElement, t, toHtml } from "./dom";
import { shownProse } from "../shown";
import { Scanner, pieces } from "./scan";

/** A long tail that is not code is drawn less often. */
const LONG_TAIL_CHARS = 4000;
const LONG_TAIL_MS = 120;
/** So many paragraphs are laid out together: each group of its own costs something in every frame. */
const PART_PIECES = 24;

export class GrowingMarkdown {
  readonly element = h("div", { class: "reply" });
  private text = "";
  private readonly scanner = new Scanner();
  private drawnTo = 0;
  private part: HTMLElement | undefined;
  private tail: HTMLElement | undefined;
  private code: { text: Text; from: number; start: number } | undefined;
  private tailDrawnAt = 0;

  append(piece: string): void {
    this.text += piece;
  }

  /** Draw what came since the last frame. True when there is more to draw in a later one. */
  draw(now: number): boolean {
    this.scanner.take(this.text);
    const { settled, fence } = this.scanner;
    if (settled > this.drawnTo) {
      this.dropTail();
      this.settle(this.text.slice(this.drawnTo, settled));
      this.drawnTo = settled;
    }
    if (fence) {
      this.drawFence(fence.bodyStart, fence.language);
      return false;
    }
    const rest = this.text.slice(this.drawnTo);
    if (rest.trim() === "") {
      this.dropTail();
      return false;
    }
    if (this.code) {
      this.dropTail();
    }
    if (rest.length > LONG_TAIL_CHARS && now - this.tailDrawnAt < LONG_TAIL_MS) {
      return true;
    }
    this.tailDrawnAt = now;
    this.tail ??= this.element.appendChild(h("div", { class: "md tail" }));
    this.tail.innerHTML = toHtml(rest);
    return false;
  }

  /** The reply is complete: keep what is drawn unless it is another text. */
  finish(text: string): void {
    const grew = this.text;
    const refers = /^ {0,3}\[[^\]]+\]:/m.test(text);
    if (text.startsWith(grew.slice(0, this.drawnTo)) && !refers) {
      this.dropTail();
      this.settle(text.slice(this.drawnTo));
    } else {
      this.tail = undefined;
      this.code = undefined;
      this.part = undefined;
      this.element.replaceChildren();
      this.settle(text, refers);
    }
    this.text = text;
    this.drawnTo = text.length;
  }

  showGap(): void {
    this.element.prepend(h("p", { class: "hint" }, `… ${t("streaming")}`));
  }

  /** Draw what is final, whole where its parts refer to each other. */
  private settle(text: string, isWhole = false): void {
    for (const piece of isWhole ? [text] : pieces(text)) {
      if (!this.part || this.part.childElementCount >= PART_PIECES) {
        this.part = this.element.appendChild(h("div", { class: "part" }));
      }
      this.part.append(markdownElement(piece));
    }
  }

  /** A code block that still grows is text that is appended to. */
  private drawFence(bodyStart: number, language: string): void {
    if (this.code?.start !== bodyStart) {
      this.dropTail();
      this.tail = this.element.appendChild(h("div", { class: "md tail" }));
      this.tail.innerHTML = codeBlock("", language, { copy: t("copy"), insert: t("insert") });
      const text = document.createTextNode("");
      this.tail.querySelector("code")?.append(text);
      this.code = { text, from: bodyStart, start: bodyStart };
    }
    if (this.text.length > this.code.from) {
      this.code.text.appendData(shownProse(this.text.slice(this.code.from)));
      this.code.from = this.text.length;
    }
  }

  private dropTail(): void {
    this.tail?.remove();
    this.tail = undefined;
    this.code = undefined;
  }
}
