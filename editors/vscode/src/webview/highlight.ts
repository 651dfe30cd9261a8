/**
 * The colours of code, as HTML.
 *
 * Invariant: pure but for the grammars it has met; the text stays text, in `span` elements with classes.
 */
import hljs from "highlight.js/lib/core";
import bash from "highlight.js/lib/languages/bash";
import c from "highlight.js/lib/languages/c";
import cpp from "highlight.js/lib/languages/cpp";
import csharp from "highlight.js/lib/languages/csharp";
import css from "highlight.js/lib/languages/css";
import diff from "highlight.js/lib/languages/diff";
import dockerfile from "highlight.js/lib/languages/dockerfile";
import go from "highlight.js/lib/languages/go";
import ini from "highlight.js/lib/languages/ini";
import java from "highlight.js/lib/languages/java";
import javascript from "highlight.js/lib/languages/javascript";
import json from "highlight.js/lib/languages/json";
import kotlin from "highlight.js/lib/languages/kotlin";
import lua from "highlight.js/lib/languages/lua";
import php from "highlight.js/lib/languages/php";
import python from "highlight.js/lib/languages/python";
import ruby from "highlight.js/lib/languages/ruby";
import rust from "highlight.js/lib/languages/rust";
import sql from "highlight.js/lib/languages/sql";
import swift from "highlight.js/lib/languages/swift";
import typescript from "highlight.js/lib/languages/typescript";
import xml from "highlight.js/lib/languages/xml";
import yaml from "highlight.js/lib/languages/yaml";

const LANGUAGES = {
  bash, c, cpp, csharp, css, diff, dockerfile, go, ini, java, javascript, json, kotlin, lua, php, python,
  ruby, rust, sql, swift, typescript, xml, yaml,
} as const;
/** Names that people write at a fence and that the languages do not claim themselves. */
const MORE_NAMES: ReadonlyMap<string, string> = new Map([
  ["shell", "bash"], ["console", "bash"], ["jsonl", "json"], ["scss", "css"], ["vue", "xml"], ["svelte", "xml"],
]);

/** A larger block stays in one colour. */
export const MOST_CHARS = 20_000;
const MOST_LINE_CHARS = 1_000;

/** The text of a block as HTML, or nothing when it stays as it is. */
export function colored(text: string, name: string): string | undefined {
  const language = languageOf(name);
  if (language === undefined || text.length > MOST_CHARS || text.split("\n").some((line) => line.length > MOST_LINE_CHARS)) {
    return undefined;
  }
  return hljs.highlight(text, { language, ignoreIllegals: true }).value;
}

/** A grammar is taken in when its language is first met. */
function languageOf(name: string): string | undefined {
  const wanted = name.toLowerCase();
  const language = MORE_NAMES.get(wanted) ?? wanted;
  if (hljs.getLanguage(language) === undefined) {
    const entry = Object.entries(LANGUAGES).find(([own, grammar]) => own === language || grammar(hljs).aliases?.includes(language));
    if (entry === undefined) {
      return undefined;
    }
    hljs.registerLanguage(...entry);
  }
  return language;
}
