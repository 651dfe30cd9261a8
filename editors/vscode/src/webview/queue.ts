/** The prompts that wait for the turn to end; each can be taken back. */
import { OWN_NAME } from "../messages";
import type { QueuedPrompt } from "../protocol.gen";
import { button, h, t } from "./dom";

const MOST_SHOWN_CHARS = 400;

export class QueueList {
  readonly element = h("ul", { class: "queue", "aria-label": t("queued"), "aria-live": "polite", hidden: true });
  private queue: readonly QueuedPrompt[] = [];

  constructor(private readonly takeBack: (prompt: QueuedPrompt) => void) {}

  /** The newest that was asked here. */
  get own(): QueuedPrompt | undefined {
    return this.queue.findLast(({ client }) => client === undefined || client === OWN_NAME);
  }

  show(queue: readonly QueuedPrompt[]): void {
    if (queue === this.queue) {
      return; // a button that has the keyboard keeps it
    }
    this.queue = queue;
    this.element.hidden = queue.length === 0;
    this.element.replaceChildren(...queue.map((prompt) => this.row(prompt)));
  }

  private row(prompt: QueuedPrompt): HTMLElement {
    const { client, input } = prompt;
    const text = input.map((part) => (part.type === "text" ? part.text : "")).join(" ").trim();
    const origin = client && client !== OWN_NAME ? ` (${client})` : "";
    const words = text.slice(0, MOST_SHOWN_CHARS);
    return h(
      "li",
      {},
      h("span", { class: "hint", title: t("queued") }, `${t("waiting")}${origin}: `),
      h("span", { class: "waiting", title: words }, words || "…"),
      button(t("edit"), () => this.takeBack(prompt), { class: "quiet", title: t("takeBack") }),
    );
  }
}
