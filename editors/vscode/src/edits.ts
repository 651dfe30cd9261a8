/**
 * Edits of the engine, applied to the documents of this editor.
 *
 * Invariant: an edit is applied only to the very text it was computed from.
 */
import * as vscode from "vscode";
import type { ApplyWorkspaceEditParams, ApplyWorkspaceEditResult } from "vscode-languageclient/node";
import { refusal, textHash } from "./guard";
import type { EditGuard, EditOutcome, WantedEdit } from "./guard";
import { toRange } from "./ranges";
import type { WireRange } from "./ranges";

const TYPING_MS = 300;

export type Guarded = ApplyWorkspaceEditParams & { kova?: EditGuard };
type GuardedResult = ApplyWorkspaceEditResult & { kova?: EditOutcome };

export class Edits {
  private readonly typedAt = new Map<string, number>();
  private readonly ours = new Set<string>();

  /** Tell the person's typing from what is done for the engine. */
  note({ document, contentChanges }: vscode.TextDocumentChangeEvent): void {
    const key = document.uri.toString();
    const isActive = vscode.window.activeTextEditor?.document === document;
    // A document that is clean afterwards was read anew from the disk.
    if (contentChanges.length > 0 && isActive && document.isDirty && !this.ours.has(key)) {
      this.typedAt.set(key, Date.now());
    }
  }

  forget(document: vscode.TextDocument): void {
    this.typedAt.delete(document.uri.toString());
  }

  isTyping(document: vscode.TextDocument): boolean {
    return Date.now() - (this.typedAt.get(document.uri.toString()) ?? 0) < TYPING_MS;
  }

  /** What changes in the document meanwhile is not the person's: an edit, or formatters on save. */
  async during<T>(document: vscode.TextDocument, work: () => Thenable<T>): Promise<T> {
    const key = document.uri.toString();
    this.ours.add(key);
    try {
      return await work();
    } finally {
      this.ours.delete(key);
    }
  }

  async apply(params: ApplyWorkspaceEditParams, guard: EditGuard): Promise<GuardedResult> {
    const target = targetOf(params);
    if (!target) {
      return { applied: false, failureReason: "The edit is not of exactly one document." };
    }
    const document = openDocuments([target.uri])[0];
    const reason = refusal(document && this.factsOf(document), { ...target.edit, textHash: guard.textHash });
    if (!document || reason) {
      return refused(document, reason ?? "closed");
    }
    const edit = new vscode.WorkspaceEdit();
    edit.set(
      document.uri,
      target.changes.map((change) => new vscode.TextEdit(toRange(change.range), change.newText)),
    );
    // VS Code itself refuses when the document's version moves before the edit is applied.
    const isApplied = await this.during(document, () => vscode.workspace.applyEdit(edit));
    return isApplied ? { applied: true, kova: outcomeOf(document) } : refused(document, "stale");
  }

  private factsOf(document: vscode.TextDocument) {
    return {
      version: document.version,
      text: document.getText(),
      isReadonly: isReadonly(document),
      isTyping: this.isTyping(document),
      cursorLines: vscode.window.visibleTextEditors
        .filter((editor) => editor.document === document)
        .flatMap((editor) => editor.selections.map((selection) => selection.active.line)),
    };
  }
}

/** Those of the named documents that this editor has open. */
export function openDocuments(uris: readonly string[]): vscode.TextDocument[] {
  const wanted = new Set(uris.map((uri) => vscode.Uri.parse(uri).toString()));
  return vscode.workspace.textDocuments.filter(
    (document) => wanted.has(document.uri.toString()) && !document.isClosed,
  );
}

/** VS Code lets extensions edit what `files.readonlyInclude` names, and then refuses to save it. */
export function isReadonly(document: vscode.TextDocument): boolean {
  const files = vscode.workspace.getConfiguration("files", document);
  const matches = (setting: string) =>
    Object.entries(files.get<Record<string, boolean>>(setting, {})).some(
      ([pattern, isOn]) => isOn && vscode.languages.match({ scheme: "file", pattern }, document) > 0,
    );
  return matches("readonlyInclude") && !matches("readonlyExclude");
}

interface Target {
  readonly uri: string;
  readonly edit: Omit<WantedEdit, "textHash">;
  readonly changes: readonly { range: WireRange; newText: string }[];
}

function targetOf(params: ApplyWorkspaceEditParams): Target | undefined {
  const { documentChanges, changes } = params.edit;
  if (documentChanges) {
    const [only] = documentChanges;
    if (documentChanges.length !== 1 || !only || !("textDocument" in only)) {
      return undefined;
    }
    const edits = only.edits.filter((edit) => "newText" in edit);
    return edits.length === only.edits.length
      ? made(only.textDocument.uri, only.textDocument.version, edits)
      : undefined;
  }
  const entries = Object.entries(changes ?? {});
  const [only] = entries;
  return entries.length === 1 && only ? made(only[0], null, only[1]) : undefined;
}

function made(uri: string, version: number | null, changes: Target["changes"]): Target {
  return { uri, edit: { version, ranges: changes.map((change) => change.range) }, changes };
}

function outcomeOf(document: vscode.TextDocument): EditOutcome {
  return { version: document.version, textHash: textHash(document.getText()) };
}

function refused(
  document: vscode.TextDocument | undefined,
  reason: NonNullable<EditOutcome["reason"]>,
): GuardedResult {
  const now = document ? outcomeOf(document) : { version: 0, textHash: "" };
  return { applied: false, failureReason: REFUSALS[reason], kova: { ...now, reason } };
}

const REFUSALS = {
  stale: "The document changed since the edit was computed.",
  readonly: "The document is read-only in the editor.",
  typing: "The person is typing on a line that the edit touches.",
  closed: "The document is not open.",
} as const;
