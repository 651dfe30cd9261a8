/**
 * The transcript: events in, elements appended.
 *
 * Invariant: the page is touched once per frame; an item that is complete is not drawn again.
 * Of a long conversation the newest entries are there at once, the others follow in small portions.
 */
import type { DeltaPayload, Event, Item, ItemUpdatedPayload, SessionSnapshot, TurnCompletedPayload, TurnEnd, TurnStartedPayload } from "../protocol.gen";
import { button, engine, h, messageOf, t } from "./dom";
import { viewOf } from "./items";
import type { Complain, ItemView } from "./items";

/** Items drawn at once when an older page arrives. */
const PAGE_ITEMS = 100;
/** Drawn at once when a conversation opens: more than a view holds. */
const FIRST_ITEMS = 24;
/** Of a frame, for the entries that follow. */
const PORTION_MS = 6;
/** So near the end counts as the end. */
const END_PX = 40;

export class Transcript {
  readonly element = h("div", { class: "items" });
  private readonly views = new Map<string, ItemView>();
  private readonly drawing = new Set<ItemView>();
  private readonly earlier = button(t("earlier"), () => void this.loadEarlier(), { class: "quiet earlier" });
  private readonly end = h("div", { class: "end" });
  private before: number | undefined;
  private sessionId = "";
  private lastInput: TurnStartedPayload["input"];
  /** Offered while the failed turn is the last one. */
  private again: HTMLElement | undefined;
  private isAtEnd = true;
  private lastTop = 0;
  private frame = 0;
  private queue: Event[] = [];
  /** Older than what is drawn, oldest first; not drawn yet. */
  private undrawn: Item[] = [];
  private isLoading = false;

  constructor(
    private readonly scroller: HTMLElement,
    private readonly onAway: (isAway: boolean) => void,
    private readonly sendAgain: (input: NonNullable<TurnStartedPayload["input"]>) => void,
    private readonly complain: Complain,
  ) {
    this.element.append(this.earlier, this.end);
    scroller.addEventListener("scroll", () => this.scrolled(), { passive: true });
    new IntersectionObserver(([entry]) => {
      if (entry?.isIntersecting && scroller.scrollTop < 200 && this.views.size > 0) {
        void this.loadEarlier();
      }
    }, { root: scroller }).observe(this.earlier);
    // Entries are laid out only when they come near the view, and then their size is another.
    const resized = new ResizeObserver(() => this.isAtEnd && this.toEnd());
    resized.observe(scroller);
    resized.observe(this.element);
  }

  get isEmpty(): boolean {
    return this.views.size === 0;
  }

  /** Show a session from scratch. */
  reset(snapshot: SessionSnapshot | undefined): void {
    this.views.clear();
    this.drawing.clear();
    this.queue = [];
    this.sessionId = snapshot?.sessionId ?? "";
    this.before = snapshot?.itemsBefore;
    this.element.replaceChildren(this.earlier, this.end);
    const items = snapshot?.items ?? [];
    this.undrawn = items.slice(0, -FIRST_ITEMS);
    this.lastInput = items.findLast((item) => item.kind === "userMessage")?.input;
    const fragment = document.createDocumentFragment();
    for (const item of items.slice(-FIRST_ITEMS)) {
      fragment.append(this.add(item).element);
    }
    for (const notice of snapshot?.notices ?? []) {
      fragment.append(h("div", { class: "item notice warning" }, notice));
    }
    this.end.before(fragment);
    if (snapshot?.ended) {
      this.endTurn(snapshot.ended);
    }
    this.toEnd();
    this.drawOlder();
  }

  /** The next portion of what is not drawn yet, above what is; what is in view stays where it is. */
  private drawOlder(): void {
    this.earlier.hidden = this.undrawn.length > 0 || this.before === undefined;
    const { undrawn } = this;
    if (undrawn.length === 0) {
      return;
    }
    requestAnimationFrame(() => {
      if (undrawn !== this.undrawn) {
        return;
      }
      const until = performance.now() + PORTION_MS;
      const made: HTMLElement[] = [];
      while (undrawn.length > 0 && performance.now() < until) {
        const item = undrawn.pop();
        if (item) {
          made.unshift(this.add(item).element);
        }
      }
      this.insertAbove(made);
      this.drawOlder();
    });
  }

  private insertAbove(elements: readonly HTMLElement[]): void {
    const { scrollHeight, scrollTop } = this.scroller;
    this.earlier.after(...elements);
    // The browser itself keeps the place, except at the very top.
    if (!this.isAtEnd && scrollTop < 1) {
      this.scroller.scrollTop += this.scroller.scrollHeight - scrollHeight;
    }
  }

  take(events: readonly Event[]): void {
    this.queue.push(...events);
    this.schedule();
  }

  toEnd(): void {
    this.setAtEnd(true);
    this.scroller.scrollTop = this.scroller.scrollHeight;
  }

  /** Only the person's own scrolling leaves the end; growing content does not. */
  private scrolled(): void {
    const { scrollTop, scrollHeight, clientHeight } = this.scroller;
    if (scrollHeight - scrollTop - clientHeight < END_PX) {
      this.setAtEnd(true);
    } else if (scrollTop < this.lastTop - 1) {
      this.setAtEnd(false);
    }
    this.lastTop = scrollTop;
  }

  private setAtEnd(isAtEnd: boolean): void {
    if (this.isAtEnd !== isAtEnd) {
      this.isAtEnd = isAtEnd;
      this.onAway(!isAtEnd);
    }
  }

  private schedule(): void {
    this.frame ||= requestAnimationFrame((now) => {
      this.frame = 0;
      this.work(now);
    });
  }

  private work(now: number): void {
    const events = this.queue;
    this.queue = [];
    for (const event of events) {
      this.apply(event);
    }
    for (const view of [...this.drawing]) {
      if (!view.draw?.(now)) {
        this.drawing.delete(view);
      }
    }
    if (this.drawing.size > 0) {
      this.schedule();
    }
  }

  private apply(event: Event): void {
    switch (event.type) {
      case "item.started":
      case "item.completed":
        this.put((event.payload as { item: Item }).item);
        break;
      case "item.updated":
        this.views.get(event.itemId ?? "")?.setStatus?.((event.payload as unknown as ItemUpdatedPayload).status);
        break;
      case "item.delta": {
        const view = this.views.get(event.itemId ?? "");
        if (view?.delta) {
          view.delta(event.payload as unknown as DeltaPayload);
          this.drawing.add(view);
        }
        break;
      }
      case "turn.started":
        this.lastInput = (event.payload as unknown as TurnStartedPayload).input;
        this.again?.remove();
        break;
      case "turn.completed":
        this.endTurn(event.payload as unknown as TurnCompletedPayload);
        break;
    }
  }

  private put(item: Item): void {
    const known = this.views.get(item.itemId);
    const later = known ? -1 : this.undrawn.findIndex((one) => one.itemId === item.itemId);
    if (later >= 0) {
      this.undrawn[later] = item;
    } else if (known) {
      this.drawing.delete(known);
      known.update(item);
    } else {
      this.end.before(this.add(item).element);
    }
  }

  private add(item: Item): ItemView {
    const view = viewOf(item, this.complain);
    this.views.set(item.itemId, view);
    return view;
  }

  private endTurn({ stopReason, error, stopped }: TurnEnd | TurnCompletedPayload): void {
    const input = this.lastInput;
    if (stopReason === "failed") {
      this.again = input?.length ? h("p", { class: "buttons" }, button(t("sendAgain"), () => this.sendAgain(input))) : undefined;
      this.end.before(h("div", { class: "item notice error" }, h("p", {}, error?.message ?? t("stopReasonFailed")), this.again));
    } else if (stopReason === "interrupted") {
      const words = stopped?.length ? t("stopped", stopped.join(", ")) : t("stopReasonInterrupted");
      this.end.before(h("div", { class: "item notice" }, words));
    } else if (stopReason === "limit") {
      this.end.before(h("div", { class: "item notice warning" }, error?.message ?? t("stopReasonLimit")));
    }
  }

  private async loadEarlier(): Promise<void> {
    if (this.before === undefined || this.isLoading || this.undrawn.length > 0) {
      return;
    }
    this.isLoading = true;
    const sessionId = this.sessionId;
    try {
      const page = await engine("kova/session/read", { sessionId, before: this.before, limit: PAGE_ITEMS });
      if (sessionId !== this.sessionId) {
        return;
      }
      this.before = page.before;
      this.earlier.hidden = page.before === undefined;
      const fresh = [...page.items].reverse().filter((item) => !this.views.has(item.itemId));
      this.insertAbove(fresh.map((item) => this.add(item).element));
    } catch (error) {
      this.complain(messageOf(error));
    } finally {
      this.isLoading = false;
    }
  }
}
