/** An approval card: what would happen, why it is asked, and the answers that are offered. */
import type { Approval, FileChange, PlanSubject, Segment } from "../protocol.gen";
import { changeHead, coded, diffElement } from "./blocks";
import type { Card } from "./cards";
import { act, button, engine, h, markdownElement, nameOf, pageData, pathOf, t } from "./dom";
import { reasonElements } from "./items";
import type { Complain } from "./items";
import { PREVIEW_LINES, isLong, longParts, preview } from "./long";

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
  private readonly hint = h("p", { class: "hint", role: "note" });
  private readonly feedback: HTMLTextAreaElement;
  private isArmed = false;
  isAnswered = false;

  constructor(
    private readonly approval: Approval,
    private readonly say: (text: string, isProblem: boolean) => void,
    private readonly complain: Complain,
  ) {
    this.id = approval.approvalId;
    this.title = approval.title;
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
      h("h3", { id: heading, ...(saysTheCommand(approval) ? { class: "spoken" } : {}) }, approval.title),
      h("div", { class: "card-body" }, ...this.subject(), ...this.why()),
      this.hint,
      this.feedback,
      h("div", { class: "buttons" }, ...this.makeButtons()),
    );
    this.armLater();
    this.refresh();
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
    const offered = this.approval.decisions.find((one) => one === decision || KEYS[one] === KEYS[decision]);
    const pressed = offered ? this.buttons.get(offered) : undefined;
    if (!pressed) {
      return false;
    }
    if (pressed.getAttribute("aria-disabled") === "true") {
      this.focus();
      this.say(this.hint.textContent || this.title, false);
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
        return [
          h("p", { class: "hint" }, pathOf(subject.cwd)),
          this.longText(subject.command, "command", (text) => h("pre", { class: "command", tabindex: 0 }, text)),
          ...segmentElements(subject.segments ?? []),
        ];
      case "edit":
        return subject.files.map((file) => this.fileElement(file));
      case "network":
        return [
          h("p", {}, `${t("networkRequest")}: ${subject.method}`),
          this.longText(subject.url, "network", (text) => h("pre", { class: "command", tabindex: 0 }, text)),
        ];
      case "plan":
        return [this.longText(subject.markdown, "plan", markdownElement), ...planOptions(subject, this.id)];
      case "other":
        return [this.longText(subject.summary, "other", (text) => h("p", { class: "words" }, text))];
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
        h("h4", {}, t("rulesWritten", rulesPath ?? "")),
        h("ul", { class: "rules" }, ...rules.map((rule) => h("li", {}, h("code", {}, rule)))),
      );
    }
    return shown;
  }

  private fileElement(file: FileChange): HTMLElement {
    const isCut = Boolean(file.hiddenLines);
    const isOpen = !isCut && !isLong(file.diff);
    const box = h("div", { class: "file-change" });
    const draw = (maxLines?: number) => {
      const whole = button(t("showAll"), () => {
        this.opened(file.uri);
        draw();
      }, { class: "quiet" });
      box.replaceChildren(
        h(
          "div",
          { class: "file-head" },
          changeHead(file.uri, file.change, file.diff),
          button(t("openDiff"), () => this.openDiff(file), { class: "quiet", "aria-label": `${t("openDiff")}: ${nameOf(file.uri)}` }),
        ),
        diffElement(file.diff, maxLines),
        ...(file.hiddenLines ? [h("p", { class: "hint" }, t("hiddenLines", file.hiddenLines))] : []),
        ...(maxLines !== undefined && !isCut ? [whole] : []),
      );
    };
    draw(isOpen ? undefined : PREVIEW_LINES);
    return box;
  }

  private longText(text: string, key: string, make: (text: string) => HTMLElement): HTMLElement {
    if (!isLong(text)) {
      return make(text);
    }
    const box = h("div", {});
    const whole = button(t("showAll"), () => {
      this.opened(key);
      box.replaceChildren(make(text));
    }, { class: "quiet" });
    box.append(make(preview(text)), whole);
    return box;
  }

  private openDiff(file: FileChange): void {
    act("openDiff", { approvalId: this.id, uri: file.uri }).then(() => this.opened(file.uri), this.complain);
  }

  private opened(key: string): void {
    this.unopened.delete(key);
    this.refresh();
  }

  private makeButtons(): HTMLElement[] {
    const modifier = pageData.isMac ? "⌥" : "Alt+";
    const made = this.approval.decisions.map((decision) => {
      const label = answerWord(decision) ?? decision;
      const key = KEYS[decision];
      const pressed = button(label, () => this.press(decision), {
        class: decision === "once" || decision === "approve" ? "primary" : "secondary",
        "data-decision": decision,
        ...(key ? { title: `${label} (${modifier}${key})`, "aria-keyshortcuts": `Alt+${key}` } : {}),
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
        const key = result.status === "alreadyResolved" ? "alreadyAnswered" : "answeredBy";
        this.say(t(key, answerWord(result.decision) ?? result.decision, result.resolvedBy), false);
      },
      (error: unknown) => {
        this.isAnswered = false;
        this.refresh();
        this.complain(error);
      },
    );
  }

  private refresh(): void {
    const long = longParts(this.approval).find((part) => this.unopened.has(part.key));
    this.hint.textContent = long ? t("readWhole", long.name) : "";
    this.hint.hidden = !long;
    for (const [decision, pressed] of this.buttons) {
      const isHeld = ALLOWING.has(decision) && long !== undefined;
      pressed.setAttribute("aria-disabled", String(this.isAnswered || !this.isArmed || isHeld));
    }
    this.element.classList.toggle("answered", this.isAnswered);
    this.element.dataset["armed"] = String(this.isArmed);
  }
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
          h("code", {}, segment.text),
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
