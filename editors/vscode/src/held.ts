/** Parts of a prompt as chips: a selection, the problems of a file, a file. */
import * as vscode from "vscode";
import { problemPart } from "./diagnostics";
import type { Chip } from "./messages";
import { placeOf } from "./places";
import type { DiagnosticPart, FilePart, ImagePart, InputPart, SelectionPart } from "./protocol.gen";
import { fromRange } from "./ranges";

const MOST_PROBLEMS = 20;

export interface Held extends Chip {
  readonly uri: vscode.Uri;
  readonly parts: readonly InputPart[];
}

export function selectionOf({ document, selection }: vscode.TextEditor, isAutomatic: boolean): Held | undefined {
  const place = placeOf(document.uri);
  if (selection.isEmpty || !place) {
    return undefined;
  }
  const text = document.getText(selection);
  return selected({ type: "selection", uri: place.toString(), range: fromRange(selection), text }, isAutomatic);
}

/** A document without a name has no path to be read under: its text, or what is selected, goes along. */
export function unnamedOf({ document, selection }: vscode.TextEditor): Held {
  const { uri, languageId } = document;
  const text = document.getText(selection.isEmpty ? undefined : selection);
  const fence = "`".repeat(Math.max(3, ...[...text.matchAll(/`+/g)].map(([run]) => run.length + 1)));
  const label = selection.isEmpty ? uri.path : `${uri.path}:${selection.start.line + 1}-${selection.end.line + 1}`;
  const parts: InputPart[] = [{ type: "text", text: `${fence}${languageId}\n${text}\n${fence}` }];
  return { id: `unnamed:${uri.toString()}`, kind: "selection", label, title: label, isAutomatic: false, uri, parts };
}

export function problemsOf(
  uri: vscode.Uri,
  diagnostics: readonly vscode.Diagnostic[],
  isAutomatic: boolean,
): Held | undefined {
  const worst = [...diagnostics].sort((a, b) => a.severity - b.severity).slice(0, MOST_PROBLEMS);
  return worst.length > 0
    ? problems(uri, worst.map((one) => problemPart(uri, one)), diagnostics.length, isAutomatic)
    : undefined;
}

export function fileOf(part: FilePart | ImagePart): Held {
  const uri = vscode.Uri.parse(part.uri ?? "");
  const lines = part.type === "file" && part.range ? `:${part.range.start.line + 1}-${part.range.end.line + 1}` : "";
  const label = `${vscode.workspace.asRelativePath(uri)}${lines}`;
  return { id: `file:${uri.toString()}${lines}`, kind: "file", label, title: label, isAutomatic: false, uri, parts: [part] };
}

/** The chips that a prompt had, of what does not stand in its text. */
export function heldOf(parts: readonly InputPart[]): Held[] {
  const found = parts.flatMap((part) =>
    part.type === "selection" ? [selected(part, false)] : part.type === "file" || part.type === "image" ? [fileOf(part)] : [],
  );
  const byFile = new Map<string, DiagnosticPart[]>();
  for (const part of parts) {
    if (part.type === "diagnostic") {
      byFile.set(part.uri, [...(byFile.get(part.uri) ?? []), part]);
    }
  }
  return [...found, ...[...byFile].map(([uri, those]) => problems(vscode.Uri.parse(uri), those, those.length, false))];
}

function selected(part: SelectionPart, isAutomatic: boolean): Held {
  const { start, end } = part.range;
  const uri = vscode.Uri.parse(part.uri);
  const first = start.line + 1;
  const last = end.line + (end.character === 0 && end.line > start.line ? 0 : 1);
  const path = vscode.workspace.asRelativePath(uri);
  const lines = first === last ? String(first) : `${first}-${last}`;
  return {
    id: `selection:${uri.toString()}:${lines}:${start.character}:${end.character}`,
    kind: "selection",
    label: `${nameOf(path)}:${lines}`,
    title: `${path}:${lines}`,
    isAutomatic,
    uri,
    parts: [part],
  };
}

function problems(uri: vscode.Uri, parts: readonly DiagnosticPart[], count: number, isAutomatic: boolean): Held {
  const path = vscode.workspace.asRelativePath(uri);
  return {
    id: `diagnostics:${uri.toString()}`,
    kind: "diagnostics",
    label: vscode.l10n.t("{0} problems in {1}", count, nameOf(path)),
    title: parts.map((one) => `${path}:${one.range.start.line + 1} ${one.message}`).join("\n"),
    isAutomatic,
    uri,
    parts,
  };
}

function nameOf(path: string): string {
  return path.split("/").at(-1) ?? path;
}
