/**
 * The transcript by keyboard: one stop of the Tab key, and arrows that go from entry to entry.
 *
 * Invariant: moves the focus only when a key was pressed; an entry that is higher than the view is
 * scrolled through before the next one comes.
 */

const STOPS = "button, a[href], summary, select, input, textarea, [tabindex='0']";
/** Less than this below the edge counts as seen. */
const NEAR_PX = 4;

export class Roving {
  private isTabbing = false;
  private last: HTMLElement | undefined;

  /** `list` stands in `scroller` and holds the entries. */
  constructor(
    private readonly scroller: HTMLElement,
    private readonly list: HTMLElement,
  ) {
    scroller.addEventListener("keydown", (event) => this.key(event));
    scroller.addEventListener("focusin", (event) => this.came(event));
    // Where the focus comes from is known, but not whether the Tab key brought it.
    document.addEventListener("keydown", ({ key }) => (this.isTabbing = key === "Tab"), true);
    document.addEventListener("pointerdown", () => (this.isTabbing = false), true);
  }

  /** The focus is on the transcript or on an entry, not on something within an entry. */
  get isOutside(): boolean {
    const active = document.activeElement;
    return active === this.scroller || this.entries.some((entry) => stopOf(entry) === active);
  }

  private get entries(): HTMLElement[] {
    return [...this.list.children].filter((child): child is HTMLElement => child instanceof HTMLElement && !child.hidden && !child.classList.contains("end"));
  }

  private entryOf(node: EventTarget | null): HTMLElement | undefined {
    return node instanceof Node ? this.entries.find((entry) => entry.contains(node)) : undefined;
  }

  private came({ target, relatedTarget }: FocusEvent): void {
    const isFromOutside = !(relatedTarget instanceof Node && this.scroller.contains(relatedTarget));
    if (isFromOutside && this.isTabbing && target !== this.scroller) {
      this.isTabbing = false;
      this.go(this.last?.isConnected ? this.last : this.entries.at(-1));
    }
    this.last = this.entryOf(document.activeElement) ?? this.last;
  }

  private key(event: KeyboardEvent): void {
    if (event.altKey || event.ctrlKey || event.metaKey || event.isComposing) {
      return;
    }
    const entry = this.entryOf(document.activeElement);
    const isTaken = event.key === "Tab" ? this.tab(entry, event.shiftKey) : event.key === "Escape" ? this.leaveInner(entry) : this.isOutside && this.arrow(entry, event.key);
    if (isTaken) {
      event.preventDefault();
      event.stopPropagation();
    }
  }

  private arrow(entry: HTMLElement | undefined, key: string): boolean {
    const { entries } = this;
    const at = entry ? entries.indexOf(entry) : -1;
    const view = this.scroller.getBoundingClientRect();
    switch (key) {
      case "ArrowDown":
        if (entry && entry.getBoundingClientRect().bottom > view.bottom + NEAR_PX) {
          return false;
        }
        return this.go(entry ? entries[at + 1] : this.firstSeen(entries, view));
      case "ArrowUp":
        if (entry && entry.getBoundingClientRect().top < view.top - NEAR_PX) {
          return false;
        }
        return this.go(entry ? entries[at - 1] : this.firstSeen([...entries].reverse(), view));
      case "Home":
        return this.go(entries[0]);
      case "End":
        return this.go(entries.at(-1));
      default:
        return false;
    }
  }

  private firstSeen(entries: readonly HTMLElement[], view: DOMRect): HTMLElement | undefined {
    return entries.find((entry) => {
      const { top, bottom } = entry.getBoundingClientRect();
      return bottom > view.top && top < view.bottom;
    });
  }

  /** Through what stands in the entry, and out of the transcript at its end. */
  private tab(entry: HTMLElement | undefined, isBack: boolean): boolean {
    if (!entry) {
      return !isBack && this.leave();
    }
    const own = stopOf(entry);
    const inner = [own, ...stopsIn(entry).filter((stop) => stop !== own)];
    const next = inner[inner.indexOf(document.activeElement as HTMLElement) + (isBack ? -1 : 1)];
    if (next) {
      next.focus();
      return true;
    }
    if (isBack) {
      this.scroller.focus({ preventScroll: true });
      return true;
    }
    return this.leave();
  }

  private leave(): boolean {
    const after = stopsIn(document.body).find(
      (stop) => !this.scroller.contains(stop) && this.scroller.compareDocumentPosition(stop) & Node.DOCUMENT_POSITION_FOLLOWING,
    );
    after?.focus();
    return after !== undefined;
  }

  private leaveInner(entry: HTMLElement | undefined): boolean {
    return entry !== undefined && !this.isOutside && this.go(entry);
  }

  private go(entry: HTMLElement | undefined): boolean {
    if (!entry) {
      return false;
    }
    const stop = stopOf(entry);
    if (stop.tabIndex < 0) {
      stop.tabIndex = -1;
    }
    stop.focus({ preventScroll: true });
    entry.scrollIntoView({ block: "nearest" });
    return true;
  }
}

/** What has the focus when an entry has it. */
function stopOf(entry: HTMLElement): HTMLElement {
  return (entry instanceof HTMLDetailsElement && entry.querySelector("summary")) || entry;
}

function stopsIn(root: HTMLElement): HTMLElement[] {
  return [...root.querySelectorAll<HTMLElement>(STOPS)].filter((stop) => stop.tabIndex >= 0 && stop.checkVisibility());
}
