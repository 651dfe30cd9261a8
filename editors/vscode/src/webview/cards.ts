/**
 * Cards that wait for the person: approvals, plans and questions.
 *
 * Invariant: a card goes when the engine says that it is resolved, not when a button is pressed;
 * it cannot be allowed in the first moments, nor before what is long in it was opened.
 */
import type { Approval, QuestionRequest } from "../protocol.gen";
import { ApprovalCard } from "./approval";
import { h, messageOf, t } from "./dom";
import { QuestionCard } from "./question";

export interface Card {
  readonly id: string;
  readonly callId: string;
  readonly title: string;
  readonly element: HTMLElement;
  /** An answer was given here; the engine may not have taken it yet. */
  readonly isAnswered: boolean;
  /** Words of the person that were not sent. */
  readonly draft: string;
  takeDraft(words: string): void;
  focus(): void;
  /** Act as a key asks; false when the card does not offer it. */
  decide(decision: string): boolean;
}

/** What a card tells of. */
export interface CardListener {
  say(text: string, isProblem: boolean): void;
  complain(error: unknown): void;
  /** The engine took an answer that was given here. */
  answered(id: string, words: string): void;
  /** Words that found no place: they must not be lost. */
  keepWords(words: string): void;
}

export class Cards {
  readonly element = h("section", { class: "cards", role: "region", "aria-label": t("waitingRegion"), hidden: true });
  private readonly cards = new Map<string, Card>();

  private readonly told: CardListener;

  constructor(
    private readonly announce: (text: string) => void,
    say: (text: string, isProblem: boolean) => void,
    private readonly keepWords: (words: string) => void,
    private readonly leave: () => void,
  ) {
    this.told = {
      say,
      keepWords,
      complain: (error) => say(messageOf(error), true),
      // Under the next card it would be read as that one's.
      answered: (id, words) => ([...this.cards.keys()].some((one) => one !== id) ? announce(words) : say(words, false)),
    };
  }

  get first(): Card | undefined {
    return this.cards.values().next().value;
  }

  /** What is shown and was not answered here. */
  open(id: string): Card | undefined {
    const card = this.cards.get(id);
    return card?.isAnswered === false ? card : undefined;
  }

  /** Show exactly these, oldest first; those already there stay as they are. True when one is new. */
  show(approvals: readonly Approval[], questions: readonly QuestionRequest[]): boolean {
    const wanted = new Set([...approvals.map((one) => one.approvalId), ...questions.map((one) => one.questionId)]);
    const hadFocus = this.element.contains(document.activeElement);
    const gone = [...this.cards.values()].filter((card) => !wanted.has(card.id));
    const before = this.cards.size - gone.length;
    for (const card of gone) {
      card.element.remove();
      this.cards.delete(card.id);
    }
    for (const approval of approvals) {
      if (!this.cards.has(approval.approvalId)) {
        this.add(new ApprovalCard(approval, this.told));
      }
    }
    for (const request of questions) {
      if (!this.cards.has(request.questionId)) {
        this.add(new QuestionCard(request, this.told));
      }
    }
    for (const { draft, callId } of gone.filter((card) => card.draft !== "")) {
      // A card whose change was computed anew is the same question.
      const heir = [...this.cards.values()].find((card) => card.callId === callId);
      if (heir) {
        heir.takeDraft(draft);
      } else {
        this.keepWords(draft);
      }
    }
    this.element.hidden = this.cards.size === 0;
    if (hadFocus && !this.element.contains(document.activeElement)) {
      const next = this.first;
      if (next) {
        next.focus();
      } else {
        this.leave();
      }
    }
    return this.cards.size > before;
  }

  private add(card: Card): void {
    this.cards.set(card.id, card);
    this.element.append(card.element);
    this.announce(t("announceCard", card.title));
  }
}
