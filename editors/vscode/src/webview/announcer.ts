/** What a screen reader is told: steps, not the stream. */
import { h } from "./dom";

/** One after the other: a second line must not take the place of one that is being read. */
const MOST_LINES = 5;

export class Announcer {
  readonly element = h(
    "div",
    { class: "spoken" },
    h("div", { role: "status", "aria-live": "polite", "aria-relevant": "additions", "aria-atomic": "false" }),
    h("div", { role: "alert", "aria-live": "assertive", "aria-relevant": "additions", "aria-atomic": "false" }),
  );

  say(text: string, isProblem = false): void {
    const region = isProblem ? this.element.lastElementChild : this.element.firstElementChild;
    if (text !== "") {
      region?.append(h("p", {}, text));
    }
    while (region && region.childElementCount > MOST_LINES) {
      region.firstElementChild?.remove();
    }
  }
}
