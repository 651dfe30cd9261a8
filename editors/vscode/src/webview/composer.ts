/**
 * The prompt: text, mentions, pictures, chips, and the keys of the input.
 *
 * Invariant: what was typed is never lost; it is kept as it changes and cleared only once sent.
 */
import type { Head } from "../head";
import { PICTURE_TYPES, mentionText, mentioned } from "../mentions";
import { OWN_NAME } from "../messages";
import type { Attachments, Chip, Draft, PageOptions, Picture } from "../messages";
import { Completion } from "./completion";
import { act, button, h, messageOf, nameOf, t } from "./dom";

/** A longer draft is kept when the typing pauses, not at every key. */
const LONG_DRAFT_CHARS = 20_000;
const PAUSE_MS = 400;
/** A longer text from the clipboard becomes a chip: a field with a megabyte in it is slow to type in. */
const LONG_PASTE_CHARS = 10_000;
const MOST_TITLE_CHARS = 400;

export class Composer {
  readonly element: HTMLFormElement;
  readonly input: HTMLTextAreaElement;
  private readonly completion: Completion;
  private readonly chipList = h("ul", { class: "chips", "aria-label": t("attachments"), hidden: true });
  private readonly queueList = h("ul", { class: "queue", "aria-label": t("queued"), "aria-live": "polite", hidden: true });
  private readonly send: HTMLButtonElement;
  private readonly other: HTMLButtonElement;
  private readonly halt: HTMLButtonElement;
  private mentions: Record<string, string> = {};
  private pictures: readonly Picture[] = [];
  private pasted: readonly string[] = [];
  private chips: readonly Chip[] = [];
  private head: Head | undefined;
  private isReady = false;
  private isSending = false;
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
      this.mentions[path] = uri;
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
      this.queueList,
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
    const queue = head?.queue ?? [];
    this.queueList.hidden = queue.length === 0;
    this.queueList.replaceChildren(
      ...queue.map((one) => {
        const text = one.input.map((part) => (part.type === "text" ? part.text : "")).join(" ").trim();
        return h("li", { title: text }, h("span", { class: "hint" }, `${t("queued")}${one.client && one.client !== OWN_NAME ? ` (${one.client})` : ""}: `), text || "…");
      }),
    );
  }

  setReady(isReady: boolean): void {
    this.isReady = isReady;
    this.refresh();
  }

  /** Take a draft that was kept elsewhere, unless something is here already. */
  setDraft(draft: Draft, attachments: Attachments): void {
    if (this.pictures.length === 0 && this.pasted.length === 0) {
      this.setAttachments(attachments);
    }
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

  addPictures(pictures: readonly Picture[]): void {
    this.attach({ pictures: [...this.pictures, ...pictures], pasted: this.pasted });
  }

  private attach(attachments: Attachments): void {
    this.setAttachments(attachments);
    act("saveAttachments", attachments).catch(this.complain);
  }

  private setAttachments({ pictures, pasted }: Attachments): void {
    this.pictures = pictures;
    this.pasted = pasted;
    this.drawChips();
  }

  addMention(path: string, uri: string): void {
    this.mentions[path] = uri;
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
    const isEmpty = text.trim() === "" && this.pictures.length === 0 && this.pasted.length === 0 && this.chips.every((chip) => chip.isAutomatic);
    if (isEmpty || this.isSending || !this.isReady) {
      return;
    }
    this.isSending = true;
    this.refresh();
    try {
      const { notices } = await act("send", {
        text,
        mentions: mentioned(text, this.mentions).map(({ uri }) => ({ uri })),
        attachments: { pictures: this.pictures, pasted: this.pasted },
        chips: this.chips.map((chip) => chip.id),
        whenBusy,
      });
      this.lastPrompt = text;
      // What was typed while it was being sent stays.
      this.input.value = this.input.value.startsWith(text) ? this.input.value.slice(text.length) : this.input.value;
      this.mentions = {};
      this.setAttachments({ pictures: [], pasted: [] });
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
    } else if (event.key === "ArrowUp" && !event.altKey && this.input.value === "" && this.lastPrompt) {
      event.preventDefault();
      this.input.value = this.lastPrompt;
      this.changed();
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
    if (text.length > LONG_PASTE_CHARS) {
      event.preventDefault();
      this.attach({ pictures: this.pictures, pasted: [...this.pasted, text] });
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
        picture: undefined as Picture | undefined,
        remove: () => void act("removeChip", { id: chip.id }).catch(this.complain),
      })),
      ...this.pictures.map((picture) => ({
        label: nameOf(picture.name),
        title: picture.name,
        picture,
        remove: () => this.attach({ pictures: this.pictures.filter((one) => one !== picture), pasted: this.pasted }),
      })),
      ...this.pasted.map((text, at) => ({
        label: t("pastedLines", text.split("\n").length),
        title: text.slice(0, MOST_TITLE_CHARS),
        picture: undefined,
        remove: () => this.attach({ pictures: this.pictures, pasted: this.pasted.filter((_, other) => other !== at) }),
      })),
    ];
    this.chipList.hidden = shown.length === 0;
    this.chipList.replaceChildren(
      ...shown.map(({ label, title, picture, remove }) =>
        h(
          "li",
          { class: "chip", title },
          picture ? h("img", { alt: "", src: `data:${picture.mimeType};base64,${picture.data}` }) : undefined,
          h("span", {}, label),
          button("×", () => {
            remove();
            this.focus();
          }, { class: "quiet icon", "aria-label": t("remove", label), title: t("remove", label) }),
        ),
      ),
    );
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
