/** A card with one to four questions: one answer, several, an own one, or none. */
import type { Answer, Question, QuestionRequest } from "../protocol.gen";
import { ARMED_AFTER_MS } from "./approval";
import type { Card, CardListener } from "./cards";
import { button, engine, h, t } from "./dom";

interface Asked {
  readonly question: Question;
  readonly box: HTMLFieldSetElement;
  readonly inputs: readonly HTMLInputElement[];
  readonly other: HTMLInputElement | undefined;
  readonly otherPick: HTMLInputElement | undefined;
}

/** Who did what with a question; nothing when it was taken back. */
export function wordsOf(outcome: string, resolvedBy: string): string | undefined {
  switch (outcome) {
    case "answered":
      return t("questionAnsweredBy", resolvedBy);
    case "declined":
      return t("questionDeclinedBy", resolvedBy);
    default:
      return undefined;
  }
}

export class QuestionCard implements Card {
  readonly id: string;
  readonly title: string;
  readonly element: HTMLFormElement;
  private readonly asked: readonly Asked[];
  private readonly buttons: readonly HTMLButtonElement[];
  private isArmed = false;
  isAnswered = false;

  constructor(
    private readonly request: QuestionRequest,
    private readonly told: CardListener,
  ) {
    this.id = request.questionId;
    this.title = request.questions[0]?.question ?? "";
    this.asked = request.questions.map((question) => asking(question, this.id));
    this.buttons = [
      button(t("decline"), () => this.send({ declined: true }), { class: "secondary", "data-decision": "decline" }),
      h("button", { type: "submit", class: "primary", "data-decision": "answer" }, t("answer")),
    ];
    this.element = h(
      "form",
      { class: "card question", tabindex: -1, "aria-label": this.title, "data-card": this.id },
      h("div", { class: "card-body" }, ...this.asked.map((one) => one.box)),
      h("div", { class: "buttons" }, ...this.buttons),
    );
    this.element.addEventListener("submit", (event) => {
      event.preventDefault();
      this.answer();
    });
    this.element.addEventListener("keydown", (event) => {
      const isChoice = event.target instanceof HTMLInputElement;
      if (event.key === "Enter" && isChoice && !event.isComposing) {
        event.preventDefault();
        this.answer();
      }
    });
    setTimeout(() => {
      this.isArmed = true;
      this.refresh();
    }, ARMED_AFTER_MS);
    this.refresh();
  }

  get callId(): string {
    return this.request.callId;
  }

  get draft(): string {
    return this.isAnswered ? "" : this.asked.map((one) => one.other?.value.trim()).filter(Boolean).join("\n");
  }

  takeDraft(words: string): void {
    const own = this.asked.find((one) => one.other)?.other;
    if (own) {
      own.value = words;
      own.dispatchEvent(new Event("input"));
    }
  }

  focus(): void {
    (this.asked[0]?.inputs[0] ?? this.element).focus();
    this.element.scrollIntoView({ block: "nearest" });
  }

  decide(decision: string): boolean {
    if (decision === "deny") {
      this.send({ declined: true });
      return true;
    }
    this.focus();
    return false;
  }

  private answer(): void {
    const answers = this.asked.map(answerOf);
    const open = answers.findIndex((one) => !one.selected?.length && !one.other);
    if (open >= 0) {
      this.told.say(t("unanswered"), true);
      this.asked[open]?.inputs[0]?.focus();
      return;
    }
    this.send({ answers });
  }

  private send(answer: { answers?: Answer[]; declined?: boolean }): void {
    if (this.isAnswered || !this.isArmed) {
      return;
    }
    this.isAnswered = true;
    this.refresh();
    engine("kova/question/respond", { questionId: this.id, ...answer }).then(
      (result) => {
        if (result.status === "alreadyResolved") {
          this.told.answered(this.id, wordsOf(result.outcome, result.resolvedBy) ?? t("alreadyAnswered", t("cancelled"), result.resolvedBy));
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
    for (const pressed of this.buttons) {
      pressed.setAttribute("aria-disabled", String(this.isAnswered || !this.isArmed));
    }
    this.element.classList.toggle("answered", this.isAnswered);
    this.element.dataset["armed"] = String(this.isArmed);
  }
}

function asking(question: Question, cardId: string): Asked {
  const type = question.multiSelect ? "checkbox" : "radio";
  const name = `q-${cardId}-${question.id}`;
  const box = h("fieldset", {}, h("legend", {}, question.header ? h("strong", {}, `${question.header}: `) : undefined, question.question));
  const inputs = (question.options ?? []).map((option) => {
    const input = h("input", { type, name, value: option.label });
    box.append(
      h(
        "label",
        { class: "option" },
        input,
        h("span", {}, option.label),
        option.description ? h("span", { class: "hint" }, option.description) : undefined,
      ),
    );
    return input;
  });
  if (question.allowOther === false) {
    return { question, box, inputs, other: undefined, otherPick: undefined };
  }
  const otherPick = inputs.length > 0 ? h("input", { type, name, value: "" }) : undefined;
  const other = h("input", { type: "text", class: "own", placeholder: t("otherAnswer"), "aria-label": t("otherAnswer") });
  other.addEventListener("input", () => {
    if (otherPick) {
      otherPick.checked = other.value !== "";
    }
  });
  otherPick?.addEventListener("change", () => otherPick.checked && other.focus());
  box.append(h("label", { class: "option" }, otherPick, otherPick ? h("span", {}, t("other")) : undefined), other);
  return { question, box, inputs, other, otherPick };
}

function answerOf({ question, inputs, other, otherPick }: Asked): Answer {
  const selected = inputs.filter((input) => input.checked).map((input) => input.value);
  const own = other?.value.trim() ?? "";
  const usesOwn = own !== "" && (otherPick === undefined || otherPick.checked);
  return {
    id: question.id,
    ...(selected.length > 0 ? { selected } : {}),
    ...(usesOwn ? { other: own } : {}),
  };
}
