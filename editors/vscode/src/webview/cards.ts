/**
 * Cards that wait for the person: approvals, plans and questions.
 *
 * Invariant: a card goes when the engine says that it is resolved, not when a button is pressed;
 * it cannot be allowed in the first moments, nor before what is long in it was opened.
 */
import type { Approval, QuestionRequest } from "../protocol.gen";
import { ApprovalCard } from "./approval";
import { h, t } from "./dom";
import type { Complain } from "./items";
import { QuestionCard } from "./question";

export interface Card {
  readonly id: string;
  readonly title: string;
  readonly element: HTMLElement;
  /** An answer was given here; the engine may not have taken it yet. */
  readonly isAnswered: boolean;
  focus(): void;
  /** Act as a key asks; false when the card does not offer it. */
  decide(decision: string): boolean;
}

export class Cards {
  readonly element = h("section", { class: "cards", role: "region", "aria-label": t("waitingRegion"), hidden: true });
  private readonly cards = new Map<string, Card>();

  constructor(
    private readonly announce: (text: string) => void,
    private readonly say: (text: string, isProblem: boolean) => void,
    private readonly leave: () => void,
  ) {}

  get first(): Card | undefined {
    return this.cards.values().next().value;
  }

  /** It is shown, and was not answered here. */
  isOpen(id: string): boolean {
    return this.cards.get(id)?.isAnswered === false;
  }

  /** Show exactly these, oldest first; those already there stay as they are. */
  show(approvals: readonly Approval[], questions: readonly QuestionRequest[]): void {
    const wanted = new Set([...approvals.map((one) => one.approvalId), ...questions.map((one) => one.questionId)]);
    const hadFocus = this.element.contains(document.activeElement);
    for (const [id, card] of this.cards) {
      if (!wanted.has(id)) {
        card.element.remove();
        this.cards.delete(id);
      }
    }
    const complain: Complain = (error) => this.say(error instanceof Error ? error.message : String(error), true);
    for (const approval of approvals) {
      if (!this.cards.has(approval.approvalId)) {
        this.add(new ApprovalCard(approval, this.say, complain));
      }
    }
    for (const request of questions) {
      if (!this.cards.has(request.questionId)) {
        this.add(new QuestionCard(request, this.say, complain));
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
  }

  private add(card: Card): void {
    this.cards.set(card.id, card);
    this.element.append(card.element);
    this.announce(t("announceCard", card.title));
  }
}
