/** Results of tools for people: the closed set of blocks, commands, and diffs. */
import type { Block } from "../protocol.gen";
import { shown } from "../shown";
import { countLines, diffLines } from "../unified";
import { act, h, markdownElement, nameOf, pathOf, t } from "./dom";

const MARKS = { add: "+", remove: "-", same: " ", hunk: "", note: "" } as const;
const CHANGE_WORDS = { create: "changeCreate", modify: "changeModify", delete: "changeDelete" } as const;

export function blockElement(block: Block): HTMLElement {
  switch (block.type) {
    case "text":
      return block.language === "markdown"
        ? markdownElement(block.text)
        : h("pre", { tabindex: 0 }, block.text || t("textMissing"));
    case "diff":
      return h(
        "div",
        { class: "file-change" },
        changeHead(block.uri, block.change, block.diff),
        diffElement(block.diff),
        hidden(block.hiddenLines, "hiddenLines"),
      );
    case "command":
      return h(
        "div",
        { class: "ran" },
        commandElement(block.command),
        block.output ? h("pre", { class: "output", tabindex: 0 }, block.output) : undefined,
        hidden(block.hiddenBytes, "hiddenOutput"),
        block.exitCode ? h("p", { class: "problem" }, `exit ${block.exitCode}`) : undefined,
      );
    case "todos":
      return h(
        "ul",
        { class: "todos" },
        ...block.todos.map((todo) =>
          h("li", { "data-status": todo.status }, `${TODO_MARKS[todo.status] ?? "·"} ${todo.text}`),
        ),
      );
    case "image":
      return h("p", {}, linkElement(block.uri, block.alt ?? nameOf(block.uri)));
    case "link":
      return h("p", {}, linkElement(block.uri, block.text));
    case "table":
      return h(
        "div",
        { class: "table", tabindex: 0 },
        h(
          "table",
          {},
          h("thead", {}, h("tr", {}, ...block.columns.map((name) => h("th", { scope: "col" }, name)))),
          h("tbody", {}, ...block.rows.map((row) => h("tr", {}, ...row.map((cell) => h("td", {}, cell))))),
        ),
      );
    default:
      return h("pre", { tabindex: 0 }, JSON.stringify(block, undefined, 2));
  }
}

const TODO_MARKS: Readonly<Record<string, string>> = { pending: "☐", in_progress: "◐", done: "☑" };

/** Lines of a long diff that are laid out together, when they come near the view. */
const CHUNK_LINES = 200;

/** A unified diff; at most so many lines of it. */
export function diffElement(diff: string, maxLines = Infinity): HTMLElement {
  const lines = diffLines(diff)
    .slice(0, maxLines)
    .map((line) => h("div", { class: `line ${line.kind}` }, shown(`${MARKS[line.kind]}${line.text}`) || " "));
  const body = h("div", { class: "diff", tabindex: 0, role: "group", "aria-label": t("diff") });
  if (lines.length <= CHUNK_LINES) {
    body.append(...lines);
  }
  for (let at = 0; lines.length > CHUNK_LINES && at < lines.length; at += CHUNK_LINES) {
    body.append(h("div", { class: "chunk" }, ...lines.slice(at, at + CHUNK_LINES)));
  }
  return body;
}

/** A command line. Its own line ends are marked, as one that is wrapped would look the same. */
export function commandElement(command: string): HTMLElement {
  const lines = command.split("\n");
  return h(
    "pre",
    { class: "command", tabindex: 0, "aria-label": t("command") },
    ...(lines.length === 1 ? [shown(command)] : lines.map((line) => h("div", { class: "row" }, shown(line)))),
  );
}

/** Verb, file and counts of a change. */
export function changeHead(uri: string, change: "create" | "modify" | "delete", diff: string): HTMLElement {
  const { added, removed } = countLines(diff);
  return h(
    "p",
    { class: "change-head", title: pathOf(uri) },
    h("span", { class: "verb" }, t(CHANGE_WORDS[change])),
    h("strong", {}, nameOf(uri)),
    h("span", { class: "added", "aria-label": t("linesAdded", added) }, `+${added}`),
    h("span", { class: "removed", "aria-label": t("linesRemoved", removed) }, `−${removed}`),
  );
}

/** A sentence of the engine, what stands between backquotes as code. */
export function coded(sentence: string): (string | HTMLElement)[] {
  return shown(sentence)
    .split(/`([^`]+)`/)
    .map((part, at) => (at % 2 === 1 ? h("code", {}, part) : part))
    .filter((part) => part !== "");
}

export function linkElement(target: string, label: string): HTMLElement {
  return h("a", { href: "#", "data-href": target, title: pathOf(target) }, label);
}

/** A button that shows the whole of a large output. */
export function wholeOutput(outputRef: string, title: string, complain: (error: unknown) => void): HTMLElement {
  return h(
    "button",
    { type: "button", class: "quiet", onclick: () => void act("openOutput", { outputRef, title }).catch(complain) },
    t("openWhole"),
  );
}

function hidden(amount: number | undefined, key: "hiddenLines" | "hiddenOutput"): HTMLElement | undefined {
  return amount ? h("p", { class: "hint" }, t(key, amount)) : undefined;
}
