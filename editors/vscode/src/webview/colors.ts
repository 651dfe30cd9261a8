/**
 * Colours code blocks that are complete, in moments when the page has nothing else to do.
 *
 * Invariant: a block that never comes near the view costs nothing.
 */
import { colored } from "./highlight";

/** Colours are there before the block comes into view. */
const AHEAD_PX = 400;

const queue: Element[] = [];
let isWaiting = false;
let near: IntersectionObserver | undefined;

/** Colour the code blocks within, each once it comes near the view. */
export function colorLater(root: ParentNode): void {
  for (const code of root.querySelectorAll(".code:not([data-language='']) code")) {
    near ??= new IntersectionObserver(came, { rootMargin: `${AHEAD_PX}px` });
    near.observe(code);
  }
}

function came(entries: readonly IntersectionObserverEntry[]): void {
  for (const { isIntersecting, target } of entries) {
    if (isIntersecting) {
      near?.unobserve(target);
      queue.push(target);
    }
  }
  work();
}

/** One block at a time: the page draws in between. */
function work(): void {
  if (isWaiting || queue.length === 0) {
    return;
  }
  isWaiting = true;
  requestIdleCallback(() => {
    isWaiting = false;
    const code = queue.shift();
    const html = code?.isConnected ? colored(code.textContent, languageName(code)) : undefined;
    if (code && html !== undefined) {
      code.innerHTML = html;
    }
    work();
  });
}

function languageName(code: Element): string {
  return code.closest<HTMLElement>(".code")?.dataset["language"] ?? "";
}
