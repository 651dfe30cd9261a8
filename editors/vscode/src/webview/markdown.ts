/**
 * Markdown of the model as HTML.
 *
 * Invariant: the text is not trusted. No raw HTML, no pictures, no link but to web pages, mail and
 * files; links carry their target as data and are followed by the extension. Nothing unseen is in it,
 * however it was written: the HTML is looked at, not the Markdown.
 */
import MarkdownIt from "markdown-it";
import { escapeHtml } from "../html";
import { shownProse } from "../shown";

export interface CodeLabels {
  readonly copy: string;
  readonly insert: string;
}

type Render = (markdown: string) => string;

/** A renderer whose code blocks have buttons with these labels. */
export function markdownRenderer(labels: CodeLabels): Render {
  const markdown = new MarkdownIt({ html: false, linkify: true, breaks: false, typographer: false });
  markdown.linkify.set({ fuzzyLink: false, fuzzyEmail: false, fuzzyIP: false });
  markdown.validateLink = isHarmless;
  const { rules } = markdown.renderer;
  rules["fence"] = (tokens, index) => {
    const token = tokens[index];
    return codeBlock(token?.content ?? "", token?.info.trim() ?? "", labels);
  };
  rules["code_block"] = (tokens, index) => codeBlock(tokens[index]?.content ?? "", "", labels);
  rules["image"] = (tokens, index) => {
    const token = tokens[index];
    const target = token?.attrGet("src") ?? "";
    return `<a href="#" data-href="${escapeHtml(target)}" title="${escapeHtml(target)}">${escapeHtml(token?.content || target)}</a>`;
  };
  rules["link_open"] = (tokens, index) => {
    const target = escapeHtml(tokens[index]?.attrGet("href") ?? "");
    return `<a href="#" data-href="${target}" title="${target}">`;
  };
  // The page's policy forbids style attributes; a class says the same.
  for (const cell of ["th", "td"]) {
    rules[`${cell}_open`] = (tokens, index) => {
      const side = /text-align:(\w+)/.exec(tokens[index]?.attrGet("style") ?? "")?.[1];
      return side ? `<${cell} class="${side}">` : `<${cell}>`;
    };
  }
  rules["table_open"] = () => '<div class="table" tabindex="0"><table>';
  rules["table_close"] = () => "</table></div>";
  return (text) => shownProse(markdown.render(text));
}

/** A code block with its buttons; also the frame of one that still grows. */
export function codeBlock(code: string, info: string, labels: CodeLabels): string {
  const language = info.split(/[\s{,]/)[0] ?? "";
  const name = escapeHtml(language);
  const body = code.endsWith("\n") ? code.slice(0, -1) : code;
  return (
    `<div class="code" data-language="${name}"><div class="code-head"><span>${name}</span>` +
    `<button type="button" class="quiet" data-act="copy">${escapeHtml(labels.copy)}</button>` +
    `<button type="button" class="quiet" data-act="insert">${escapeHtml(labels.insert)}</button></div>` +
    `<pre tabindex="0"><code>${escapeHtml(body)}</code></pre></div>`
  );
}

/** Web pages, mail, and paths; every other scheme is left as text. */
export function isHarmless(target: string): boolean {
  const plain = [...target].filter((char) => char > " ").join("");
  const scheme = /^([a-z][a-z0-9+.-]*):/i.exec(plain)?.[1]?.toLowerCase();
  // `main.py:12` looks like a scheme and is a place in a file.
  const isPlace = /^[^:/?#]+\.[a-z0-9]+:\d/i.test(plain);
  return !plain.startsWith("//") && (scheme === undefined || isPlace || ["http", "https", "mailto", "file"].includes(scheme));
}
