/**
 * The prompt: text, mentions, pictures, chips, and the keys of the input.
 *
 * Invariant: what was typed is never lost; it is kept as it changes and cleared only once sent.
 */
import { LONG_TEXT_CHARS, afterSending, joined } from "../drafts";
import type { Head } from "../head";
import { PICTURE_TYPES, mentionText, mentioned } from "../mentions";
import type { Attachments, Chip, Draft, PageOptions, PictureData } from "../messages";
import type { QueuedPrompt } from "../protocol.gen";
import { Attached } from "./attached";
import { Completion } from "./completion";
import { act, button, h, messageOf, nameOf, t } from "./dom";
import { refsOf } from "./handover";
import { QueueList } from "./queue";

/** A longer draft is kept when the typing pauses, not at every key. */
const LONG_DRAFT_CHARS = 100_000;
const PAUSE_MS = 400;
const MOST_TITLE_CHARS = 400;
const NONE: readonly QueuedPrompt[] = [];

export class Composer {
  readonly element: HTMLFormElement;
  readonly input: HTMLTextAreaElement;
  private readonly completion: Completion;
  private readonly chipList = h("ul", { class: "chips", "aria-label": t("attachments"), hidden: true });
  private readonly queue = new QueueList((prompt) => void this.takeBack(prompt));
  private readonly send: HTMLButtonElement;
  private readonly other: HTMLButtonElement;
  private readonly halt: HTMLButtonElement;
  private readonly attached = new Attached(() => this.drawChips(), (error) => this.complain(error));
  private mentions: Readonly<Record<string, string>> = {};
  private chips: readonly Chip[] = [];
  private head: Head | undefined;
  private isReady = false;
  private isSending = false;
  private isTaking = false;
  private lastPrompt = "";
  private draftTimer = 0;

  constructor(
    private options: PageOptions,
    bar: HTMLElement,
    private readonly say: (text: string, isProblem: boolean) => void,
    private readonly stop: () => void,
    private readonly cycle: () => void,
  ) {
    this.input = h("textarea", {
      rows: 2,
      placeholder: t("askAnything"),
      "aria-label": t("askAnything"),
      spellcheck: "false",
      role: "combobox",
      "aria-expanded": "false",
    });
    this.completion = new Completion(this.input, (path, uri) => {
      this.mentions = { ...this.mentions, [path]: uri };
      this.changed();
    });
    this.send = h("button", { type: "submit", class: "primary", title: "Enter" }, t("send"));
    this.other = button(t("steer"), () => void this.submit(this.otherWhenBusy), { class: "secondary", title: "Ctrl+Enter" });
    this.halt = button(t("stop"), stop, { class: "secondary stop", title: "Escape" });
    const attach = button("+", () => void act("pickPictures", null).catch(this.complain), {
      class: "quiet icon",
      title: t("addPicture"),
      "aria-label": t("addPicture"),
    });
    this.element = h(
      "form",
      { class: "composer" },
      this.queue.element,
      h("div", { class: "prompt" }, this.chipList, this.input, this.completion.element, h("div", { class: "actions" }, attach, bar, h("span", { class: "go" }, this.halt, this.other, this.send))),
    );
    this.element.addEventListener("submit", (event) => {
      event.preventDefault();
      void this.submit(this.options.whenBusy);
    });
    this.input.addEventListener("keydown", (event) => this.key(event));
    this.input.addEventListener("input", () => this.changed());
    this.chipList.addEventListener("keydown", (event) => this.chipKey(event));
    this.input.addEventListener("blur", () => setTimeout(() => this.completion.close(), 100));
    this.input.addEventListener("paste", (event) => this.paste(event));
    this.element.addEventListener("dragover", (event) => event.preventDefault());
    this.element.addEventListener("drop", (event) => this.drop(event));
    this.refresh();
  }

  setOptions(options: PageOptions): void {
    this.options = options;
    this.refresh();
  }

  setHead(head: Head | undefined): void {
    this.head = head;
    this.refresh();
    this.queue.show(head?.queue ?? NONE);
  }

  /** A prompt that waits comes back into the field. */
  private async takeBack({ promptId }: QueuedPrompt): Promise<void> {
    if (this.isTaking) {
      return;
    }
    this.isTaking = true;
    try {
      const { draft, attachments } = await act("takeBack", { promptId });
      const all = joined({ text: this.input.value, mentions: this.mentions }, draft);
      this.input.value = all.text;
      this.mentions = all.mentions;
      this.attached.give(attachments);
      this.changed();
      this.focus();
    } catch (error) {
      this.complain(error);
    } finally {
      this.isTaking = false;
    }
  }

  setReady(isReady: boolean): void {
    this.isReady = isReady;
    this.refresh();
  }

  /** Take a draft that was kept elsewhere, unless something is here already. */
  setDraft(draft: Draft, attachments: Attachments): void {
    this.attached.restore(attachments);
    if (this.input.value === "" && draft.text !== "") {
      this.input.value = draft.text;
      this.mentions = { ...draft.mentions };
      this.grow();
    }
  }

  setChips(chips: readonly Chip[]): void {
    this.chips = chips;
    this.drawChips();
  }

  addPictures(pictures: readonly PictureData[]): void {
    this.attached.addPictures(pictures);
  }

  addMention(path: string, uri: string): void {
    this.mentions = { ...this.mentions, [path]: uri };
    const before = this.input.value.slice(0, this.input.selectionStart);
    const gap = before === "" || /\s$/.test(before) ? "" : " ";
    this.input.setRangeText(`${gap}${mentionText(path)} `, this.input.selectionStart, this.input.selectionEnd, "end");
    this.changed();
  }

  /** Words that were typed elsewhere and found no place there. */
  addWords(words: string): void {
    this.input.value = [this.input.value.trimEnd(), words].filter(Boolean).join("\n");
    this.changed();
  }

  focus(): void {
    this.input.focus();
  }

  private get isBusy(): boolean {
    return this.head !== undefined && this.head.state !== "idle";
  }

  private get otherWhenBusy(): "queue" | "steer" {
    return this.options.whenBusy === "queue" ? "steer" : "queue";
  }

  private readonly complain = (error: unknown) => this.say(messageOf(error), true);

  private async submit(whenBusy: "queue" | "steer"): Promise<void> {
    const text = this.input.value;
    const isEmpty = text.trim() === "" && this.attached.isEmpty && this.chips.every((chip) => chip.isAutomatic);
    if (isEmpty || this.isSending || !this.isReady) {
      return;
    }
    const sent = this.attached.all;
    this.isSending = true;
    this.refresh();
    try {
      await this.attached.arrival();
      const { notices } = await act("send", {
        text,
        mentions: mentioned(text, this.mentions).map(({ uri }) => ({ uri })),
        attachments: refsOf(sent),
        chips: this.chips.map((chip) => chip.id),
        whenBusy,
      });
      this.lastPrompt = text;
      // What was typed while it was being sent stays.
      const rest = afterSending({ text: this.input.value, mentions: this.mentions }, text);
      this.input.value = rest.text;
      this.mentions = rest.mentions;
      this.attached.sent(sent);
      this.changed();
      if (notices.length > 0) {
        this.say(notices.join(" "), true);
      }
    } catch (error) {
      this.complain(error);
    } finally {
      this.isSending = false;
      this.refresh();
    }
  }

  private key(event: KeyboardEvent): void {
    if (this.completion.key(event)) {
      event.preventDefault();
      event.stopPropagation();
      return;
    }
    if (event.isComposing) {
      return;
    }
    if (event.key === "Enter" && !event.shiftKey && !event.altKey) {
      event.preventDefault();
      const isOther = event.ctrlKey || event.metaKey;
      void this.submit(isOther ? this.otherWhenBusy : this.options.whenBusy);
    } else if (event.key === "Escape" && this.isBusy) {
      event.preventDefault();
      event.stopPropagation();
      this.stop();
    } else if (event.key === "Tab" && event.shiftKey && this.options.shiftTabCycles) {
      event.preventDefault();
      event.stopPropagation();
      this.cycle();
    } else if (event.key === "ArrowUp" && !event.altKey && this.input.value === "" && (this.queue.own || this.lastPrompt)) {
      event.preventDefault();
      if (this.queue.own) {
        void this.takeBack(this.queue.own);
      } else {
        this.input.value = this.lastPrompt;
        this.changed();
      }
    } else if ((event.key === "ArrowLeft" || event.key === "Backspace") && this.input.selectionEnd === 0 && this.toChips(-1)) {
      event.preventDefault();
    }
  }

  /** From the beginning of the text to the chips, whose buttons remove them. */
  private toChips(at: number): boolean {
    const chip = this.removers.at(at);
    chip?.focus();
    return chip !== undefined;
  }

  private get removers(): HTMLButtonElement[] {
    return [...this.chipList.querySelectorAll("button")];
  }

  private chipKey(event: KeyboardEvent): void {
    const at = this.removers.findIndex((one) => one === event.target);
    if (event.key === "Delete" || event.key === "Backspace") {
      this.removers[at]?.click();
    } else if (event.key === "ArrowLeft") {
      this.toChips(Math.max(0, at - 1));
    } else if (event.key === "ArrowRight" && at + 1 < this.removers.length) {
      this.toChips(at + 1);
    } else if (event.key === "ArrowRight" || event.key === "Escape") {
      this.focus();
    } else {
      return;
    }
    event.preventDefault();
    event.stopPropagation();
  }

  private changed(): void {
    this.grow();
    this.completion.refresh();
    this.input.setAttribute("aria-expanded", String(this.completion.isOpen));
    clearTimeout(this.draftTimer);
    if (this.input.value.length < LONG_DRAFT_CHARS) {
      this.keepDraft();
    } else {
      this.draftTimer = window.setTimeout(() => this.keepDraft(), PAUSE_MS);
    }
  }

  private keepDraft(): void {
    clearTimeout(this.draftTimer);
    const draft: Draft = { text: this.input.value, mentions: this.mentions };
    act("saveDraft", draft).catch(this.complain);
  }

  /** Newer VS Code grows the field by itself. */
  private grow(): void {
    if (!CSS.supports("field-sizing", "content")) {
      this.input.style.height = "auto";
      this.input.style.height = `${Math.min(this.input.scrollHeight + 2, 240)}px`;
    }
  }

  private paste(event: ClipboardEvent): void {
    const files = [...(event.clipboardData?.files ?? [])];
    if (files.length > 0) {
      event.preventDefault();
      void this.takeFiles(files);
      return;
    }
    const text = event.clipboardData?.getData("text/plain") ?? "";
    if (text.length > LONG_TEXT_CHARS) {
      event.preventDefault();
      this.attached.addText(text);
    }
  }

  private drop(event: DragEvent): void {
    event.preventDefault();
    const files = [...(event.dataTransfer?.files ?? [])];
    const uris = (event.dataTransfer?.getData("text/uri-list") ?? "").split(/\r?\n/).filter((line) => line.startsWith("file:"));
    if (files.length > 0) {
      void this.takeFiles(files);
    }
    for (const uri of uris) {
      void act("mentionOf", { uri }).then((mention) => mention && this.addMention(mention.path, mention.uri), this.complain);
    }
  }

  private async takeFiles(files: readonly File[]): Promise<void> {
    for (const file of files) {
      const megabytes = Math.round(this.options.maxPictureBytes / 1048576);
      if (!PICTURE_TYPES.has(file.type)) {
        this.say(t("onlyPictures", file.name), true);
      } else if (file.size > this.options.maxPictureBytes) {
        this.say(t("pictureTooLarge", file.name, megabytes), true);
      } else {
        this.addPictures([{ name: file.name, mimeType: file.type, data: await base64(file) }]);
      }
    }
  }

  private drawChips(): void {
    const shown = [
      ...this.chips.map((chip) => ({
        label: chip.label,
        title: chip.title,
        picture: undefined as PictureData | undefined,
        isOnItsWay: false,
        remove: () => void act("removeChip", { id: chip.id }).catch(this.complain),
      })),
      ...this.attached.all.pictures.map((picture) => ({
        label: nameOf(picture.name),
        title: picture.name,
        picture,
        isOnItsWay: this.attached.isOnItsWay(picture.id),
        remove: () => this.attached.remove(picture.id),
      })),
      ...this.attached.all.pasted.map(({ id, text }) => ({
        label: t("pastedLines", text.split("\n").length),
        title: text.slice(0, MOST_TITLE_CHARS),
        picture: undefined,
        isOnItsWay: this.attached.isOnItsWay(id),
        remove: () => this.attached.remove(id),
      })),
    ];
    const at = this.removers.findIndex((one) => one === document.activeElement);
    this.chipList.hidden = shown.length === 0;
    this.chipList.replaceChildren(
      ...shown.map(({ label, title, picture, isOnItsWay, remove }) =>
        h(
          "li",
          { class: "chip", title, "aria-busy": isOnItsWay && "true" },
          picture ? h("img", { alt: "", src: `data:${picture.mimeType};base64,${picture.data}` }) : undefined,
          h("span", {}, label),
          button("×", () => {
            remove();
            this.focus();
          }, { class: "quiet icon", "aria-label": t("remove", label), title: t("remove", label) }),
        ),
      ),
    );
    if (at >= 0) {
      this.toChips(Math.min(at, shown.length - 1));
    }
  }

  private refresh(): void {
    const isBusy = this.isBusy;
    this.send.textContent = isBusy ? t(this.options.whenBusy) : t("send");
    this.send.setAttribute("aria-disabled", String(!this.isReady || this.isSending));
    this.other.textContent = t(this.otherWhenBusy);
    this.other.hidden = !isBusy;
    this.halt.hidden = !isBusy;
  }
}

function base64(file: File): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve((reader.result as string).replace(/^data:[^,]*,/, ""));
    reader.onerror = () => reject(new Error(reader.error?.message ?? file.name));
    reader.readAsDataURL(file);
  });
}
