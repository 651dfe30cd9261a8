/** An approval card: what would happen, why it is asked, and the answers that are offered. */
import type { Approval, CommandSubject, FileChange, PlanSubject, Segment } from "../protocol.gen";
import { shown, shownLine } from "../shown";
import { changeHead, coded, commandElement, diffElement } from "./blocks";
import type { Card, CardListener } from "./cards";
import { act, button, engine, h, markdownElement, nameOf, pageData, pathOf, t } from "./dom";
import { reasonElements } from "./items";
import { PREVIEW_LINES, isFoldedCommand, isLong, longParts, preview } from "./long";
import { wholeText } from "./whole";
import type { Expected } from "./whole";

export const ARMED_AFTER_MS = 300;

const WORDS = {
  deny: "deny",
  once: "once",
  remember: "remember",
  approve: "approve",
  reject: "reject",
  rejectAndExit: "rejectAndExit",
  revise: "revise",
  adopt: "adopt",
} as const;

/** Answers that let something happen. */
const ALLOWING: ReadonlySet<string> = new Set(["once", "remember", "approve", "adopt"]);
const KEYS: Readonly<Record<string, string>> = { deny: "D", reject: "D", once: "O", approve: "O", adopt: "O", remember: "R" };

let lastId = 0;

/** What an answer of a person is called; nothing for what the engine itself decides. */
export function answerWord(decision: string): string | undefined {
  return decision in WORDS ? t(WORDS[decision as keyof typeof WORDS]) : undefined;
}

export class ApprovalCard implements Card {
  readonly id: string;
  readonly title: string;
  readonly element: HTMLElement;
  private readonly buttons = new Map<string, HTMLButtonElement>();
  private readonly unopened: Set<string>;
  private readonly folds = new Map<string, () => Promise<void>>();
  private readonly hint = h("p", { class: "hint", role: "note" });
  private readonly feedback: HTMLTextAreaElement;
  private isArmed = false;
  isAnswered = false;

  constructor(
    private readonly approval: Approval,
    private readonly told: CardListener,
  ) {
    this.id = approval.approvalId;
    this.title = shownLine(approval.title);
    this.unopened = new Set(longParts(approval).map((part) => part.key));
    const heading = `card-${++lastId}`;
    this.feedback = h("textarea", {
      rows: 1,
      placeholder: t("feedback"),
      "aria-label": t("feedback"),
      hidden: approval.kind !== "plan",
      onkeydown: (event) => this.feedbackKey(event as KeyboardEvent),
    });
    this.element = h(
      "section",
      { class: `card ${approval.kind}`, role: "group", tabindex: -1, "aria-labelledby": heading, "data-card": this.id },
      h("h3", { id: heading, ...(saysTheCommand(approval) ? { class: "spoken" } : {}) }, this.title),
      h("div", { class: "card-body" }, ...this.subject(), ...this.why()),
      h("div", { class: "card-foot" }, this.hint, this.feedback, h("div", { class: "buttons" }, ...this.makeButtons())),
    );
    this.armLater();
    this.refresh();
  }

  get callId(): string {
    return this.approval.callId;
  }

  get draft(): string {
    return this.isAnswered ? "" : this.feedback.value.trim();
  }

  takeDraft(words: string): void {
    this.feedback.hidden = false;
    this.feedback.value = words;
  }

  focus(): void {
    this.element.focus();
    this.element.scrollIntoView({ block: "nearest" });
  }

  decide(decision: string): boolean {
    if (decision === "openDiff") {
      const { subject } = this.approval;
      if (subject.type === "edit" && subject.files[0]) {
        this.openDiff(subject.files[0]);
        return true;
      }
      return false;
    }
    if (decision === "showWhole") {
      const open = [...this.folds].find(([key]) => this.unopened.has(key))?.[1];
      void open?.();
      return open !== undefined;
    }
    const offered = this.approval.decisions.find((one) => one === decision || KEYS[one] === KEYS[decision]);
    const pressed = offered ? this.buttons.get(offered) : undefined;
    if (!pressed) {
      return false;
    }
    if (pressed.getAttribute("aria-disabled") === "true") {
      this.focus();
      this.told.say(this.hint.textContent || this.title, false);
    } else if (offered) {
      this.answer(offered);
    }
    return true;
  }

  /** A key that was meant for something else must not be an answer to a card that just came. */
  private armLater(): void {
    const arm = () => {
      setTimeout(() => {
        this.isArmed = true;
        this.refresh();
      }, ARMED_AFTER_MS);
    };
    if (document.visibilityState === "visible") {
      arm();
    } else {
      document.addEventListener("visibilitychange", arm, { once: true });
    }
  }

  private subject(): HTMLElement[] {
    const { subject } = this.approval;
    switch (subject.type) {
      case "command":
        return [h("p", { class: "hint" }, pathOf(subject.cwd)), this.commandText(subject), ...segmentElements(subject.segments ?? [])];
      case "edit":
        return subject.files.map((file) => this.fileElement(file));
      case "network":
        return [h("p", {}, `${t("networkRequest")}: ${shownLine(subject.method)}`), this.longText(subject.url, "network", commandElement)];
      case "plan":
        return [this.longText(subject.markdown, "plan", markdownElement), ...planOptions(subject, this.id)];
      case "other":
        return [this.longText(subject.summary, "other", (text) => h("p", { class: "words" }, shown(text)))];
      default:
        return [h("pre", { tabindex: 0 }, JSON.stringify(subject, undefined, 2))];
    }
  }

  private why(): HTMLElement[] {
    const { notices, rules, rulesPath, decisions, subject } = this.approval;
    const shown: HTMLElement[] = [];
    // What a command's parts say already is not said twice.
    const said = subject.type === "command" ? (subject.segments ?? []).map((segment) => segment.reason) : [];
    const reasons = (this.approval.reasons ?? []).filter((reason) => !hasParts(subject) || !said.includes(reason.text));
    if (reasons.length > 0) {
      shown.push(h("h4", {}, t("reasons")), ...reasonElements(reasons));
    }
    for (const notice of notices ?? []) {
      shown.push(h("p", { class: "notice" }, ...coded(notice)));
    }
    if (rules?.length && decisions.includes("remember")) {
      shown.push(
        h("h4", {}, t("rulesWritten", shownLine(rulesPath ?? ""))),
        h("ul", { class: "rules" }, ...rules.map((rule) => h("li", {}, h("code", {}, shownLine(rule))))),
      );
    }
    return shown;
  }

  private fileElement(file: FileChange): HTMLElement {
    const { uri, change, diff, hiddenLines, outputRef } = file;
    const draw = (whole?: string) => diffElement(whole ?? diff, whole === undefined ? PREVIEW_LINES : undefined);
    const label = hiddenLines ? t("showWholeDiff", hiddenLines) : t("showAll");
    const read = () => (hiddenLines ? this.read(outputRef, { beginning: diff }) : Promise.resolve(diff));
    return h(
      "div",
      { class: "file-change" },
      h(
        "div",
        { class: "file-head" },
        changeHead(uri, change, diff),
        button(t("openDiff"), () => this.openDiff(file), { class: "quiet", "aria-label": `${t("openDiff")}: ${nameOf(uri)}` }),
      ),
      hiddenLines || isLong(diff) ? this.folded(uri, label, draw, read) : diffElement(diff),
    );
  }

  private commandText(subject: CommandSubject): HTMLElement {
    const { command, hiddenChars, outputRef } = subject;
    if (!isFoldedCommand(subject)) {
      return commandElement(command);
    }
    const label = hiddenChars ? t("showWholeCommand", hiddenChars) : t("showAll");
    const read = () => (hiddenChars ? this.read(outputRef, { beginning: command, missing: hiddenChars }) : Promise.resolve(command));
    return this.folded("command", label, (whole) => commandElement(whole ?? preview(command)), read);
  }

  private longText(text: string, key: string, make: (text: string) => HTMLElement): HTMLElement {
    return isLong(text) ? this.folded(key, t("showAll"), (whole) => make(whole ?? preview(text)), () => Promise.resolve(text)) : make(text);
  }

  /** A part that is shown whole only when it is asked for; until then the card cannot be allowed. */
  private folded(key: string, label: string, draw: (whole?: string) => HTMLElement, read: () => Promise<string>): HTMLElement {
    const box = h("div", { tabindex: -1 });
    const open = async () => {
      pressed.setAttribute("aria-disabled", "true");
      try {
        box.replaceChildren(draw(await read()));
        this.opened(key);
        (box.querySelector<HTMLElement>("[tabindex='0']") ?? box).focus();
      } catch (error) {
        pressed.removeAttribute("aria-disabled");
        this.told.complain(error);
      }
    };
    const pressed = button(label, () => void open(), {
      class: "quiet whole",
      title: `${label} (${modifier()}W)`,
      "aria-keyshortcuts": "Alt+W",
    });
    box.append(draw(), pressed);
    this.folds.set(key, open);
    return box;
  }

  private async read(outputRef: string | undefined, expected: Expected): Promise<string> {
    const text = outputRef && (await wholeText((params) => engine("kova/output/read", params), outputRef, expected));
    if (!text) {
      throw new Error(t("wholeUnknown"));
    }
    return text;
  }

  private openDiff(file: FileChange): void {
    act("openDiff", { approvalId: this.id, uri: file.uri }).then(() => this.opened(file.uri), (error: unknown) => this.told.complain(error));
  }

  private opened(key: string): void {
    this.unopened.delete(key);
    this.told.say("", false);
    this.refresh();
  }

  private makeButtons(): HTMLElement[] {
    const made = this.approval.decisions.map((decision) => {
      const label = answerWord(decision) ?? decision;
      const key = KEYS[decision];
      const pressed = button(label, () => this.press(decision), {
        class: decision === "once" || decision === "approve" ? "primary" : "secondary",
        "data-decision": decision,
        ...(key ? { title: `${label} (${modifier()}${key})`, "aria-keyshortcuts": `Alt+${key}` } : {}),
      });
      this.buttons.set(decision, pressed);
      return pressed;
    });
    if (this.approval.decisions.includes("deny") && this.approval.kind !== "plan") {
      made.push(button(t("denyWithReason"), () => this.askWhy(), { class: "quiet" }));
    }
    return made;
  }

  private press(decision: string): void {
    if (this.buttons.get(decision)?.getAttribute("aria-disabled") !== "true") {
      this.answer(decision);
    }
  }

  private askWhy(): void {
    this.feedback.hidden = false;
    this.feedback.focus();
  }

  private feedbackKey(event: KeyboardEvent): void {
    if (event.key === "Enter" && !event.shiftKey && !event.isComposing && this.approval.kind !== "plan") {
      event.preventDefault();
      this.press("deny");
    } else if (event.key === "Escape" && this.approval.kind !== "plan") {
      event.preventDefault();
      event.stopPropagation();
      this.feedback.hidden = true;
      this.focus();
    }
  }

  private answer(decision: string): void {
    if (this.isAnswered || !this.isArmed) {
      return;
    }
    this.isAnswered = true;
    this.refresh();
    const feedback = this.feedback.value.trim();
    const chosen = this.element.querySelector<HTMLInputElement>("input[type=radio]:checked");
    engine("kova/approval/respond", {
      approvalId: this.id,
      decision,
      ...(feedback && (this.approval.kind === "plan" || !ALLOWING.has(decision)) ? { feedback } : {}),
      ...(chosen && decision === "approve" ? { option: chosen.value } : {}),
    }).then(
      (result) => {
        const isLate = result.status === "alreadyResolved";
        this.told.answered(this.id, t(isLate ? "alreadyAnswered" : "answeredBy", answerWord(result.decision) ?? result.decision, result.resolvedBy));
        if (isLate && feedback) {
          this.told.keepWords(feedback);
        }
      },
      (error: unknown) => {
        this.isAnswered = false;
        this.refresh();
        this.told.complain(error);
      },
    );
  }

  private refresh(): void {
    const long = longParts(this.approval).find((part) => this.unopened.has(part.key));
    this.hint.textContent = long ? `${t("readWhole", shownLine(long.name))} (${modifier()}W)` : "";
    this.hint.hidden = !long;
    for (const [decision, pressed] of this.buttons) {
      const isHeld = ALLOWING.has(decision) && long !== undefined;
      pressed.setAttribute("aria-disabled", String(this.isAnswered || !this.isArmed || isHeld));
    }
    this.element.classList.toggle("answered", this.isAnswered);
    this.element.dataset["armed"] = String(this.isArmed);
  }
}

function modifier(): string {
  return pageData.isMac ? "⌥" : "Alt+";
}

/** The title is the command line itself, which stands below in full. */
function saysTheCommand({ title, subject }: Approval): boolean {
  return subject.type === "command" && title.replace(/^\$ /, "") === subject.command;
}

/** The parts of the command are listed. */
function hasParts(subject: Approval["subject"]): boolean {
  return subject.type === "command" && (subject.segments ?? []).length > 1;
}

/** Each command of the line with the rule that matched it, or why it asks. */
function segmentElements(segments: readonly Segment[]): HTMLElement[] {
  if (segments.length < 2) {
    return [];
  }
  return [
    h("h4", {}, t("commandParts", segments.length)),
    h(
      "ol",
      { class: "segments" },
      ...segments.map((segment) =>
        h(
          "li",
          { "data-known": segment.rule ? "yes" : "no" },
          h("code", {}, shownLine(segment.text)),
          " ",
          h("span", { class: "why" }, ...coded(segment.rule ? t("segmentRule", segment.rule) : (segment.reason ?? ""))),
        ),
      ),
    ),
  ];
}

function planOptions(subject: PlanSubject, id: string): HTMLElement[] {
  const options = subject.options ?? [];
  if (options.length === 0) {
    return [];
  }
  return [
    h(
      "fieldset",
      {},
      h("legend", {}, t("choice")),
      ...options.map((option, at) =>
        h(
          "label",
          { class: "option" },
          h("input", { type: "radio", name: `option-${id}`, value: option.label, checked: at === 0 }),
          h("span", {}, option.label),
          option.description ? h("span", { class: "hint" }, option.description) : undefined,
        ),
      ),
    ),
  ];
}
