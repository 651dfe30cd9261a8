/** The list of files under the prompt while a mention is typed. */
import { mentionAt, mentionText } from "../mentions";
import { act, h } from "./dom";

const QUIET_MS = 60;

export class Completion {
  readonly element = h("ul", { class: "completion", role: "listbox", id: "completion", hidden: true });
  private found: readonly { path: string; uri: string }[] = [];
  private chosen = 0;
  private timer = 0;
  private generation = 0;

  constructor(
    private readonly input: HTMLTextAreaElement,
    private readonly onChoose: (path: string, uri: string) => void,
  ) {
    input.setAttribute("aria-controls", "completion");
    input.setAttribute("aria-autocomplete", "list");
  }

  get isOpen(): boolean {
    return !this.element.hidden;
  }

  /** The text or the cursor changed. */
  refresh(): void {
    clearTimeout(this.timer);
    const mention = mentionAt(this.input.value, this.input.selectionStart);
    if (!mention) {
      this.close();
      return;
    }
    this.timer = window.setTimeout(() => void this.search(mention.query), QUIET_MS);
  }

  /** True when the key was for the list. */
  key(event: KeyboardEvent): boolean {
    if (!this.isOpen || event.isComposing) {
      return false;
    }
    switch (event.key) {
      case "ArrowDown":
      case "ArrowUp":
        this.chosen = (this.chosen + (event.key === "ArrowDown" ? 1 : this.found.length - 1)) % this.found.length;
        this.draw();
        return true;
      case "Enter":
      case "Tab":
        if (event.shiftKey) {
          return false;
        }
        this.choose(this.chosen);
        return true;
      case "Escape":
        this.close();
        return true;
      default:
        return false;
    }
  }

  close(): void {
    this.generation += 1;
    this.element.hidden = true;
    this.input.removeAttribute("aria-activedescendant");
  }

  private async search(query: string): Promise<void> {
    const generation = ++this.generation;
    const found = await act("findFiles", { query }).catch(() => []);
    if (generation === this.generation) {
      this.found = found;
      this.chosen = 0;
      if (found.length > 0) {
        this.draw();
      } else {
        this.close();
      }
    }
  }

  private draw(): void {
    this.element.replaceChildren(
      ...this.found.map(({ path }, at) => {
        const slash = path.lastIndexOf("/") + 1;
        return h(
          "li",
          {
            role: "option",
            id: `completion-${at}`,
            "aria-selected": String(at === this.chosen),
            onmousedown: (event) => {
              event.preventDefault();
              this.choose(at);
            },
          },
          h("span", {}, path.slice(slash)),
          " ",
          h("span", { class: "hint" }, path.slice(0, slash)),
        );
      }),
    );
    this.element.hidden = false;
    this.input.setAttribute("aria-activedescendant", `completion-${this.chosen}`);
    this.element.children[this.chosen]?.scrollIntoView({ block: "nearest" });
  }

  private choose(at: number): void {
    const file = this.found[at];
    const cursor = this.input.selectionStart;
    const mention = mentionAt(this.input.value, cursor);
    if (file && mention) {
      this.input.setRangeText(`${mentionText(file.path)} `, mention.start, cursor, "end");
      this.onChoose(file.path, file.uri);
    }
    this.close();
  }
}
