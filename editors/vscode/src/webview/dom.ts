/**
 * Elements, texts, and talking to the extension.
 *
 * Invariant: text that others wrote reaches the page through `h`, `shown…` or the Markdown renderer,
 * so that nothing unseen is in it.
 */
import type { Actions, FromPage, PageData, PageMethod, ToPage } from "../messages";
import type { Requests } from "../protocol.gen";
import { shownLine, shownProse } from "../shown";
import { fill } from "../texts";
import type { Texts } from "../texts";
import { colorLater } from "./colors";
import { markdownRenderer } from "./markdown";

interface Host {
  postMessage(message: FromPage): void;
  getState(): unknown;
  setState(state: unknown): void;
}

declare function acquireVsCodeApi(): Host;

export const host = acquireVsCodeApi();
export const pageData = JSON.parse(document.body.dataset["kova"] ?? "{}") as PageData;
const texts = pageData.texts;

export function t(key: keyof Texts, ...args: readonly (string | number)[]): string {
  return fill(texts[key], ...args);
}

export const toHtml = markdownRenderer({ copy: t("copy"), insert: t("insert") });

type Child = Node | string | false | undefined;
type Attributes = Readonly<Record<string, string | number | boolean | undefined | ((event: Event) => void)>>;

/** Attributes that a person reads or hears. */
const SAID: ReadonlySet<string> = new Set(["title", "aria-label", "alt"]);

/** Make an element. Attributes that begin with `on` are listeners; `true` is an empty attribute. */
export function h<K extends keyof HTMLElementTagNameMap>(
  tag: K,
  attributes: Attributes = {},
  ...children: readonly Child[]
): HTMLElementTagNameMap[K] {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") {
      element.addEventListener(name.slice(2), value);
    } else if (value !== undefined && value !== false) {
      element.setAttribute(name, value === true ? "" : SAID.has(name) ? shownProse(String(value)) : String(value));
    }
  }
  for (const child of children) {
    if (child !== undefined && child !== false) {
      element.append(typeof child === "string" ? shownProse(child) : child);
    }
  }
  return element;
}

export function button(label: string, press: () => void, more: Attributes = {}): HTMLButtonElement {
  return h("button", { type: "button", onclick: press, ...more }, label);
}

export function markdownElement(markdown: string): HTMLElement {
  const element = h("div", { class: "md" });
  element.innerHTML = toHtml(markdown);
  colorLater(element);
  return element;
}

const pending = new Map<number, { resolve: (value: unknown) => void; reject: (error: Error) => void }>();
let lastId = 0;

function ask(message: (id: number) => FromPage): Promise<unknown> {
  const id = ++lastId;
  return new Promise((resolve, reject) => {
    pending.set(id, { resolve, reject });
    host.postMessage(message(id));
  });
}

/** Ask the engine through the extension. */
export function engine<M extends PageMethod>(method: M, params: Requests[M]["params"]): Promise<Requests[M]["result"]> {
  return ask((id) => ({ type: "call", id, method, params })) as Promise<Requests[M]["result"]>;
}

/** Ask the extension to do something. */
export function act<A extends keyof Actions>(action: A, args: Actions[A]["args"]): Promise<Actions[A]["result"]> {
  return ask((id) => ({ type: "do", id, action, args })) as Promise<Actions[A]["result"]>;
}

export function listen(hear: (message: ToPage) => void): void {
  window.addEventListener("message", ({ data }: MessageEvent<ToPage>) => {
    if (data.type !== "answer") {
      hear(data);
      return;
    }
    const waiting = pending.get(data.id);
    pending.delete(data.id);
    if (data.error !== undefined) {
      waiting?.reject(new Error(data.error));
    } else {
      waiting?.resolve(data.result);
    }
  });
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Clicks on links and on the buttons of code blocks, wherever they are. */
export function followClicks(root: HTMLElement, say: (text: string, isProblem: boolean) => void): void {
  const complain = (error: unknown) => say(messageOf(error), true);
  root.addEventListener("click", (event) => {
    const target = event.target instanceof Element ? event.target : undefined;
    const link = target?.closest<HTMLElement>("a[data-href]");
    if (link) {
      event.preventDefault();
      event.stopPropagation();
      act("openLink", { href: link.dataset["href"] ?? "" }).catch(complain);
      return;
    }
    const pressed = target?.closest<HTMLElement>("button[data-act]");
    const block = pressed?.closest<HTMLElement>(".code");
    const text = block?.querySelector("code")?.textContent;
    if (!pressed || !block || text === null || text === undefined) {
      return;
    }
    if (pressed.dataset["act"] === "copy") {
      act("copy", { text }).then(() => say(t("copied"), false), complain);
    } else {
      act("insert", { text, language: block.dataset["language"] ?? "" }).catch(complain);
    }
  });
}

/** `file:///a/b.py` as a path to be read. */
export function pathOf(uri: string): string {
  try {
    return shownLine(decodeURIComponent(uri.replace(/^file:\/\//, "")));
  } catch {
    return shownLine(uri);
  }
}

/** The last parts of a path, enough to know it. */
export function nameOf(uri: string): string {
  return pathOf(uri).split("/").slice(-1)[0] ?? uri;
}

export function count(tokens: number): string {
  return tokens < 1000 ? String(tokens) : tokens < 1e6 ? `${Math.round(tokens / 1000)}k` : `${(tokens / 1e6).toFixed(1)}M`;
}

export function duration(ms: number): string {
  return ms < 1000 ? `${Math.round(ms)} ms` : ms < 60000 ? `${(ms / 1000).toFixed(1)} s` : `${Math.floor(ms / 60000)} min ${Math.round((ms % 60000) / 1000)} s`;
}
