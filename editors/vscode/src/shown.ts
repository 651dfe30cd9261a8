/**
 * Text that others wrote, made safe to look at: nothing in it is unseen or moves what stands around it.
 *
 * Invariant: pure; nothing is dropped, what would not be seen is spelled as ⟨U+XXXX⟩.
 */

/** Print nothing though their category says otherwise. */
const BLANK = "\\u034f\\u115f\\u1160\\u17b4\\u17b5\\u180b-\\u180f\\u2800\\u3164\\uffa0\\ufe00-\\ufe0f\\u{e0100}-\\u{e01ef}";
const PLAIN = /^[\n\t\x20-\x7e]*$/;
const UNSEEN = new RegExp(`[^\\P{C}\\n\\t]|[^\\P{Z} ]|[${BLANK}]`, "gu");
/** In prose: kinds of spaces are spaces, and emoji and many scripts need joiners. */
const UNSEEN_IN_PROSE = new RegExp(`[\\p{Cc}\\p{Cf}\\p{Cs}\\p{Zl}\\p{Zp}${BLANK}]`, "gu");
const KEPT_IN_PROSE: ReadonlySet<string> = new Set(["\n", "\t", "\u200c", "\u200d", "\ufe0e", "\ufe0f"]);

/** What is read before it is allowed: everything that is no plain sign is spelled out. */
export function shown(text: string): string {
  return PLAIN.test(text) ? text : text.replace(UNSEEN, spelled);
}

/** The same on one line, so that a second line cannot hide or pass for our own. */
export function shownLine(text: string): string {
  return shown(text).replaceAll("\n", "⏎");
}

/** Everything else; may be called on the pieces of a stream. */
export function shownProse(text: string): string {
  return PLAIN.test(text)
    ? text
    : text.replaceAll("\r\n", "\n").replace(UNSEEN_IN_PROSE, (char) => (KEPT_IN_PROSE.has(char) ? char : spelled(char)));
}

function spelled(char: string): string {
  return `⟨U+${(char.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}⟩`;
}
