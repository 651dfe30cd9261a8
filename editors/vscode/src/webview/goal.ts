/**
 * The line above the prompt that says what the conversation works towards by itself.
 *
 * Invariant: shows what the engine says; a goal that has ended is not shown.
 */
import { shownLine } from "../shown";
import type { Goal } from "../protocol.gen";
import { act, button, engine, h, t } from "./dom";

const WORDS: Readonly<Record<string, "goalActive" | "goalPaused" | "goalBlocked">> = {
  active: "goalActive",
  paused: "goalPaused",
  blocked: "goalBlocked",
};

/** Where a goal stands, in a word; a word of a newer engine as it is. */
export function goalWord(goal: Goal): string {
  const known = WORDS[goal.status];
  return known ? t(known) : goal.status;
}

export class GoalLine {
  private readonly words = h("span", { class: "goal-words" });
  private readonly pause = button(t("pauseGoal"), () => this.ask("kova/goal/pause"), { class: "secondary" });
  private readonly resume = button(t("resumeGoal"), () => this.ask("kova/goal/resume"), { class: "secondary" });
  private readonly cancel = button(t("cancelGoal"), () => this.ask("kova/goal/cancel"), { class: "secondary" });
  private readonly budget = button(t("budget"), () => void act("runCommand", { command: "kova.goalBudget" }).catch(this.complain), {
    class: "secondary",
  });
  readonly element = h("div", { class: "goal", role: "group", "aria-label": t("goal"), hidden: true }, this.words, this.pause, this.resume, this.budget, this.cancel);
  private sessionId = "";

  constructor(private readonly complain: (error: unknown) => void) {}

  show(sessionId: string | undefined, goal: Goal | undefined): void {
    this.sessionId = sessionId ?? "";
    const isOpen = goal !== undefined && goal.status !== "complete" && goal.status !== "cancelled";
    const focused = document.activeElement;
    this.element.hidden = !isOpen;
    if (!isOpen) {
      return;
    }
    const turns = goal.turns ?? 0;
    const limit = goal.budget?.turns;
    const count = limit === undefined ? t("goalTurns", turns) : t("goalTurnsOf", turns, limit);
    const why = goal.reason ? ` · ${shownLine(goal.reason)}` : "";
    this.words.textContent = `${t("goal")}: ${shownLine(goal.objective)} · ${goalWord(goal)} · ${count}${why}`;
    this.words.title = `${shownLine(goal.objective)}${goal.completionCriterion ? `\n${shownLine(goal.completionCriterion)}` : ""}`;
    this.element.dataset["status"] = goal.status;
    this.pause.hidden = goal.status === "paused";
    this.resume.hidden = goal.status === "active";
    if (focused === this.pause && this.pause.hidden) {
      this.resume.focus();
    } else if (focused === this.resume && this.resume.hidden) {
      this.pause.focus();
    }
  }

  private ask(method: "kova/goal/pause" | "kova/goal/resume" | "kova/goal/cancel"): void {
    engine(method, { sessionId: this.sessionId }).catch(this.complain);
  }
}
