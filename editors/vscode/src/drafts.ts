/**
 * Drafts: what is left of one that was sent, and a prompt as a draft again.
 *
 * Invariant: pure; no character of what was typed gets lost.
 */
import { mentionText, mentioned } from "./mentions";
import type { Draft, PictureData } from "./messages";
import type { InputPart } from "./protocol.gen";

/** A longer text is a chip: a field with a megabyte in it is slow to type in. */
export const LONG_TEXT_CHARS = 10_000;

/** The draft after this text was sent: what was typed meanwhile stays. */
export function afterSending(draft: Draft, sent: string): Draft {
  const text = draft.text.startsWith(sent) ? draft.text.slice(sent.length) : draft.text;
  const mentions = mentioned(text, draft.mentions).map(({ path, uri }) => [path, uri] as const);
  return { text, mentions: Object.fromEntries(mentions) };
}

/** One draft below the other. */
export function joined(first: Draft, second: Draft): Draft {
  const texts = [first.text.trimEnd(), second.text].filter((text) => text !== "");
  return { text: texts.join("\n"), mentions: { ...first.mentions, ...second.mentions } };
}

/** A prompt as it lay in the composer. */
export interface Retaken {
  readonly draft: Draft;
  readonly pasted: readonly string[];
  readonly pictures: readonly PictureData[];
  /** Files, selections and problems that stand not in the text. */
  readonly others: readonly InputPart[];
}

/** Take a prompt apart; `pathOf` says how a file is mentioned. */
export function retaken(input: readonly InputPart[], pathOf: (uri: string) => string | undefined): Retaken {
  const texts = input.filter((part) => part.type === "text").map((part) => part.text);
  const text = texts.filter((one) => one.length <= LONG_TEXT_CHARS).join("\n");
  const pictures = input.flatMap((part) =>
    part.type === "image" && part.data !== undefined
      ? [{ name: nameOf(part.mimeType), mimeType: part.mimeType ?? "image/png", data: part.data }]
      : [],
  );
  const mentions: Record<string, string> = {};
  const others: InputPart[] = [];
  for (const part of input) {
    const path = part.type === "file" && !part.range ? pathOf(part.uri) : undefined;
    if (part.type === "file" && path !== undefined && text.includes(mentionText(path))) {
      mentions[path] = part.uri;
    } else if (part.type !== "text" && !(part.type === "image" && part.data !== undefined)) {
      others.push(part);
    }
  }
  return { draft: { text, mentions }, pasted: texts.filter((one) => one.length > LONG_TEXT_CHARS), pictures, others };
}

function nameOf(mimeType = "image/png"): string {
  return `picture.${mimeType.split("/")[1] ?? "png"}`;
}
