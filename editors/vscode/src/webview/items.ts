/** What the transcript shows, one view for each kind of item. */
import type { DeltaPayload, InputPart, Item, ItemStatus, Reason, ToolCallItem } from "../protocol.gen";
import { shownLine, shownProse } from "../shown";
import { blockElement, coded, wholeOutput } from "./blocks";
import { Joined } from "./deltas";
import { button, h, markdownElement, nameOf, t } from "./dom";
import { isLong, preview } from "./long";
import { pieces } from "./scan";
import { GrowingMarkdown } from "./stream";

/** Live output kept on the page. */
const MOST_OUTPUT_CHARS = 100_000;
const MOST_ARGUMENT_CHARS = 2_000;

export interface ItemView {
  readonly element: HTMLElement;
  update(item: Item): void;
  setStatus?(status: ItemStatus): void;
  delta?(payload: DeltaPayload): void;
  /** Draw what deltas brought; true when more is to be drawn later. */
  draw?(now: number): boolean;
}

export type Complain = (error: unknown) => void;

export function viewOf(item: Item, complain: Complain): ItemView {
  switch (item.kind) {
    case "reply":
      return new ReplyView(item.text ?? "");
    case "reasoning":
      return new ReasoningView(item);
    case "toolCall":
      return new CallView(item, complain);
    default: {
      const element = h("article", {});
      redraw(element, item);
      return { element, update: (shown) => redraw(element, shown) };
    }
  }
}

function redraw(element: HTMLElement, item: Item): void {
  switch (item.kind) {
    case "userMessage":
      element.className = "item said";
      element.setAttribute("aria-label", item.goalId ? t("goal") : t("you"));
      element.replaceChildren(
        ...(item.steered ? [h("p", { class: "hint" }, t("steered"))] : []),
        ...(item.goalId ? [h("p", { class: "hint" }, t("goalTurn"))] : []),
        ...inputElements(item.input),
      );
      break;
    case "notice":
      element.className = `item notice ${item.level}`;
      element.replaceChildren(markdownElement(item.text));
      break;
    case "compaction":
      element.className = "item compaction";
      element.replaceChildren(
        h("details", {}, h("summary", {}, t("compaction")), markdownElement(item.summary)),
      );
      break;
    default:
      element.className = "item notice";
      element.textContent = JSON.stringify(item);
  }
}

/** A prompt as it was given: text, pictures, and chips for the rest. */
export function inputElements(input: readonly InputPart[]): HTMLElement[] {
  const chips = h("p", { class: "chips" });
  const shown: HTMLElement[] = [];
  let problems = 0;
  for (const part of input) {
    switch (part.type) {
      case "text":
        shown.push(isLong(part.text) ? longWords(part.text) : h("div", { class: "words" }, part.text));
        break;
      case "image":
        if (part.data) {
          shown.push(h("img", { class: "thumb", alt: "", src: `data:${part.mimeType ?? "image/png"};base64,${part.data}` }));
        } else {
          chips.append(chip(nameOf(part.uri ?? "")));
        }
        break;
      case "file":
        chips.append(chip(nameOf(part.uri), part.uri));
        break;
      case "selection":
        chips.append(chip(`${nameOf(part.uri)}:${part.range.start.line + 1}-${part.range.end.line + 1}`, part.uri));
        break;
      case "diagnostic":
        problems += 1;
        break;
    }
  }
  if (problems > 0) {
    chips.append(chip(t("problems", problems)));
  }
  return chips.childElementCount > 0 ? [...shown, chips] : shown;
}

/** A pasted log must not be scrolled past at every look at the conversation. */
function longWords(text: string): HTMLElement {
  const box = h("div", {}, h("div", { class: "words" }, preview(text)));
  const whole = button(t("showAll"), () => {
    const words = h("div", { class: "words", tabindex: -1 }, text);
    box.replaceChildren(words);
    words.focus({ preventScroll: true });
  }, { class: "quiet" });
  box.append(whole);
  return box;
}

function chip(label: string, uri?: string): HTMLElement {
  return uri ? h("a", { class: "chip", href: "#", "data-href": uri }, label) : h("span", { class: "chip" }, label);
}

class ReplyView implements ItemView {
  readonly element: HTMLElement;
  private readonly body = new GrowingMarkdown();
  private readonly joined = new Joined();
  private isGapShown = false;

  constructor(text: string) {
    this.element = h("article", { class: "item replied", "aria-label": "Kova" }, this.body.element);
    if (text) {
      this.body.finish(text);
    }
  }

  delta({ offset, text }: DeltaPayload): void {
    this.body.append(this.joined.add(offset, text));
    if (this.joined.hasGap && !this.isGapShown) {
      this.isGapShown = true;
      this.body.showGap();
    }
  }

  draw(now: number): boolean {
    return this.body.draw(now);
  }

  update(item: Item): void {
    if (item.kind === "reply" && item.text) {
      this.body.finish(item.text);
    }
    if (item.kind === "reply" && !item.text && item.status !== "running") {
      this.element.hidden = this.body.element.childElementCount === 0;
    }
  }
}

class ReasoningView implements ItemView {
  readonly element: HTMLDetailsElement;
  private readonly body = h("div", { class: "md" });
  private readonly joined = new Joined();
  private readonly live = document.createTextNode("");
  private fresh = "";

  constructor(item: Extract<Item, { kind: "reasoning" }>) {
    this.element = h("details", { class: "item reasoning" }, h("summary", {}, t("reasoning")), this.body);
    this.body.append(this.live);
    this.update(item);
  }

  delta({ offset, text }: DeltaPayload): void {
    this.fresh += this.joined.add(offset, text);
  }

  draw(): boolean {
    this.live.appendData(shownProse(this.fresh));
    this.fresh = "";
    this.element.hidden = false;
    return false;
  }

  update(item: Item): void {
    if (item.kind !== "reasoning") {
      return;
    }
    if (item.text) {
      this.body.replaceChildren(...pieces(item.text).map(markdownElement));
    }
    this.element.hidden = !item.text && this.joined.text === "";
  }
}

const STATUS_ICONS: Readonly<Record<string, string>> = {
  waiting: "◔",
  running: "◌",
  ok: "✓",
  error: "✗",
  blocked: "⊘",
  cancelled: "–",
  interrupted: "■",
};

const STATUS_WORDS = {
  waiting: "waiting",
  running: "runs",
  ok: "ok",
  error: "error",
  blocked: "blocked",
  cancelled: "cancelled",
  interrupted: "interrupted",
} as const;

const VERDICT_WORDS = { allow: "verdictAllow", ask: "verdictAsk", deny: "verdictDeny", blocked: "verdictBlocked" } as const;

class CallView implements ItemView {
  readonly element: HTMLDetailsElement;
  private readonly summary = h("summary", {});
  private readonly body = h("div", { class: "call-body" });
  private readonly live = h("pre", { class: "output live", tabindex: 0 });
  private readonly joined = new Joined();
  private fresh = "";
  private hasUserToggled = false;
  private isDrawn = false;

  constructor(
    private item: ToolCallItem,
    private readonly complain: Complain,
  ) {
    this.element = h("details", { class: "item call" }, this.summary, this.body);
    this.summary.addEventListener("click", () => (this.hasUserToggled = true));
    // A folded call costs nothing but its line.
    this.element.addEventListener("toggle", () => this.element.open && !this.isDrawn && this.drawBody());
    this.drawHead();
  }

  update(item: Item): void {
    if (item.kind === "toolCall") {
      this.item = item;
      this.isDrawn = false;
      this.drawHead();
      if (!this.hasUserToggled) {
        this.element.open = item.status === "error" && item.tool === "bash";
      }
      if (this.element.open) {
        this.drawBody();
      }
    }
  }

  setStatus(status: ItemStatus): void {
    this.item = { ...this.item, status };
    this.drawHead();
  }

  delta({ offset, text }: DeltaPayload): void {
    this.fresh += this.joined.add(offset, text);
  }

  draw(): boolean {
    if (this.fresh === "" || this.item.status !== "running") {
      return false;
    }
    if (!this.hasUserToggled && !this.element.open) {
      this.element.open = true;
    }
    if (!this.isDrawn) {
      this.drawBody();
    }
    const last = this.live.lastChild;
    if (last instanceof Text) {
      last.appendData(shownProse(this.fresh));
      if (last.length > MOST_OUTPUT_CHARS * 1.5) {
        last.deleteData(0, last.length - MOST_OUTPUT_CHARS);
        this.live.title = t("outputCut");
      }
    } else {
      this.live.append(shownProse(this.fresh));
    }
    this.fresh = "";
    this.live.scrollTop = this.live.scrollHeight;
    return false;
  }

  private drawHead(): void {
    const { status, title, tool, verdict } = this.item;
    this.element.dataset["status"] = status;
    const word = status in STATUS_WORDS ? t(STATUS_WORDS[status]) : status;
    this.summary.replaceChildren(
      h("span", { class: "icon", role: "img", "aria-label": word }, STATUS_ICONS[status] ?? "·"),
      h("span", { class: "title" }, shownLine(title || tool)),
      h("span", { class: "verdict" }, verdict.decision === "allow" ? "" : (verdictWord(verdict.decision))),
    );
  }

  private drawBody(): void {
    this.isDrawn = true;
    const { args, verdict, display, error, outputRef, title, tool, status } = this.item;
    const shown: Node[] = [];
    if (error) {
      shown.push(h("p", { class: "problem" }, error));
    }
    shown.push(...(display ?? []).map(blockElement));
    if (status === "running" || status === "waiting") {
      shown.push(this.live);
    }
    if (outputRef) {
      shown.push(wholeOutput(outputRef, title, this.complain));
    }
    shown.push(
      h("p", { class: "hint" }, `${tool} · ${verdictWord(verdict.decision)}`),
      ...reasonElements(verdict.reasons ?? []),
    );
    if (Object.keys(args).length > 0) {
      const text = JSON.stringify(args, undefined, 2);
      const cut = text.length > MOST_ARGUMENT_CHARS ? `${text.slice(0, MOST_ARGUMENT_CHARS)}…` : text;
      shown.push(h("details", { class: "args" }, h("summary", {}, t("toolArguments")), h("pre", { tabindex: 0 }, cut)));
    }
    this.body.replaceChildren(...shown);
  }
}

export function verdictWord(decision: string): string {
  return decision in VERDICT_WORDS ? t(VERDICT_WORDS[decision as keyof typeof VERDICT_WORDS]) : decision;
}

export function reasonElements(reasons: readonly Reason[]): HTMLElement[] {
  return reasons.length > 0
    ? [h("ul", { class: "reasons" }, ...reasons.map((reason) => h("li", { title: reason.code }, ...coded(reason.text))))]
    : [];
}
