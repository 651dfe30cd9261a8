/**
 * What the engine asks of this editor's documents: their state, edits, saving, diagnostics.
 *
 * Invariant: an edit is applied only to the very text it was computed from.
 */
import { constants } from "node:fs";
import { access, readFile } from "node:fs/promises";
import * as vscode from "vscode";
import type { ApplyWorkspaceEditParams, ApplyWorkspaceEditResult, Middleware } from "vscode-languageclient/node";
import type { Engine } from "./client";
import { refusal, textHash } from "./guard";
import type { EditGuard, EditOutcome, WantedEdit } from "./guard";
import type {
  DiagnosticsParams,
  DiagnosticsResult,
  DocumentDiagnostic,
  DocumentState,
  ReloadResult,
  SaveResult,
} from "./protocol.gen";
import { settled } from "./settle";

const TYPING_MS = 300;
/** VS Code reads a changed file anew by itself, a background one a little later. */
const RELOAD_MS = 1500;

type Guarded = ApplyWorkspaceEditParams & { kova?: EditGuard };
type GuardedResult = ApplyWorkspaceEditResult & { kova?: EditOutcome };

export class Documents implements vscode.Disposable {
  private readonly typedAt = new Map<string, number>();
  private readonly dirty = new Map<string, boolean>();
  private readonly applying = new Set<string>();
  private readonly subscriptions: vscode.Disposable[] = [];
  private engine: Engine | undefined;

  /** The parts of the language client's middleware that this module owns. */
  middleware(): Middleware {
    return {
      workspace: {
        handleApplyEdit: (params, next) => {
          const guard = (params as Guarded).kova;
          return guard ? this.apply(params, guard) : next(params, NEVER);
        },
      },
      window: {
        showDocument: async (params, token, next) => {
          if (params.external) {
            return next(params, token);
          }
          const { selection } = params;
          const isShown = await showBeside(
            vscode.Uri.parse(params.uri),
            selection && toRange(selection),
            params.takeFocus === true,
          );
          return { success: isShown };
        },
      },
    };
  }

  /** Answer the engine's requests and tell it when documents become dirty or clean. */
  serve(engine: Engine): void {
    this.engine = engine;
    engine.answer("kova/editor/state", async ({ uris }) => ({
      documents: await Promise.all(open(uris).map((document) => this.stateOf(document))),
    }));
    engine.answer("kova/editor/save", ({ uris }) => save(uris));
    engine.answer("kova/editor/reload", ({ uris }) => reload(uris));
    engine.answer("kova/editor/diagnostics", (params) => diagnostics(params));
    this.subscriptions.push(
      vscode.workspace.onDidChangeTextDocument((event) => this.changed(event)),
      vscode.workspace.onDidSaveTextDocument((document) => this.noteDirty(document)),
      vscode.workspace.onDidCloseTextDocument((document) => {
        this.typedAt.delete(document.uri.toString());
        this.dirty.delete(document.uri.toString());
      }),
    );
  }

  dispose(): void {
    vscode.Disposable.from(...this.subscriptions).dispose();
  }

  private changed(event: vscode.TextDocumentChangeEvent): void {
    const { document } = event;
    if (document.uri.scheme !== "file") {
      return;
    }
    const key = document.uri.toString();
    const isActive = vscode.window.activeTextEditor?.document === document;
    if (event.contentChanges.length > 0 && isActive && !this.applying.has(key)) {
      this.typedAt.set(key, Date.now());
    }
    this.noteDirty(document);
  }

  private noteDirty(document: vscode.TextDocument): void {
    const key = document.uri.toString();
    if (document.uri.scheme !== "file" || (this.dirty.get(key) ?? false) === document.isDirty) {
      return;
    }
    this.dirty.set(key, document.isDirty);
    this.engine?.tell("kova/editor/documentChanged", {
      uri: key,
      version: document.version,
      dirty: document.isDirty,
    });
  }

  private isTyping(document: vscode.TextDocument): boolean {
    return Date.now() - (this.typedAt.get(document.uri.toString()) ?? 0) < TYPING_MS;
  }

  private async stateOf(document: vscode.TextDocument): Promise<DocumentState> {
    const { version } = document;
    const hash = textHash(document.getText());
    const { encoding, hasMark } = await encodingOf(document);
    return {
      uri: document.uri.toString(),
      version,
      dirty: document.isDirty,
      encoding,
      eol: document.eol === vscode.EndOfLine.CRLF ? "\r\n" : "\n",
      bom: hasMark,
      readonly: isReadonly(document) || !(await isWritable(document.uri.fsPath)),
      textHash: hash,
      isTyping: this.isTyping(document),
    };
  }

  private async apply(params: ApplyWorkspaceEditParams, guard: EditGuard): Promise<GuardedResult> {
    const target = targetOf(params);
    if (!target) {
      return { applied: false, failureReason: "The edit is not of exactly one document." };
    }
    const uri = vscode.Uri.parse(target.uri);
    const document = open([target.uri])[0];
    const reason = refusal(document && this.factsOf(document), { ...target.edit, textHash: guard.textHash });
    if (!document || reason) {
      return refused(document, reason ?? "closed");
    }
    const edit = new vscode.WorkspaceEdit();
    edit.set(
      uri,
      target.changes.map((change) => new vscode.TextEdit(toRange(change.range), change.newText)),
    );
    const key = document.uri.toString();
    this.applying.add(key);
    try {
      // VS Code itself refuses when the document's version moves before the edit is applied.
      const isApplied = await vscode.workspace.applyEdit(edit);
      return isApplied
        ? { applied: true, kova: outcomeOf(document) }
        : refused(document, "stale");
    } finally {
      this.applying.delete(key);
    }
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

/** Show a document without covering what the person looks at, and without taking the keyboard. */
export async function showBeside(
  uri: vscode.Uri,
  selection: vscode.Range | undefined,
  takeFocus: boolean,
): Promise<boolean> {
  try {
    const document = await vscode.workspace.openTextDocument(uri);
    const shown = vscode.window.visibleTextEditors.find((one) => one.document === document);
    await vscode.window.showTextDocument(document, {
      preserveFocus: !takeFocus,
      preview: true,
      viewColumn: shown?.viewColumn ?? besideColumn(),
      ...(selection ? { selection } : {}),
    });
    return true;
  } catch {
    return false;
  }
}

/** A column beside the person's editor; the first one when none is open. */
export function besideColumn(): vscode.ViewColumn {
  return vscode.window.activeTextEditor ? vscode.ViewColumn.Beside : vscode.ViewColumn.One;
}

const NEVER = new vscode.CancellationTokenSource().token;

interface Target {
  readonly uri: string;
  readonly edit: Omit<WantedEdit, "textHash">;
  readonly changes: readonly { range: WireRange; newText: string }[];
}

interface WireRange {
  readonly start: { readonly line: number; readonly character: number };
  readonly end: { readonly line: number; readonly character: number };
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

function open(uris: readonly string[]): vscode.TextDocument[] {
  const wanted = new Set(uris.map((uri) => vscode.Uri.parse(uri).toString()));
  return vscode.workspace.textDocuments.filter(
    (document) => wanted.has(document.uri.toString()) && !document.isClosed,
  );
}

async function save(uris: readonly string[]): Promise<SaveResult> {
  const saved: string[] = [];
  const failed: string[] = [];
  for (const document of open(uris)) {
    const isSaved = !document.isDirty || (await document.save());
    (isSaved && !document.isDirty ? saved : failed).push(document.uri.toString());
  }
  return { saved, failed };
}

async function reload(uris: readonly string[]): Promise<ReloadResult> {
  const documents = open(uris);
  const dirty = documents.filter((document) => document.isDirty);
  const clean = documents.filter((document) => !document.isDirty);
  const caughtUp = await Promise.all(clean.map((document) => hasCaughtUp(document)));
  return {
    reloaded: clean.filter((_, at) => caughtUp[at]).map((document) => document.uri.toString()),
    dirty: dirty.map((document) => document.uri.toString()),
  };
}

/** Wait until a clean document shows what the disk holds; VS Code reads it by itself. */
async function hasCaughtUp(document: vscode.TextDocument): Promise<boolean> {
  const isSame = async () => {
    try {
      const bytes = await readFile(document.uri.fsPath, "utf8");
      return plain(bytes) === plain(document.getText());
    } catch {
      return false;
    }
  };
  if (await isSame()) {
    return true;
  }
  return new Promise((resolve) => {
    const subscription = vscode.workspace.onDidChangeTextDocument((event) => {
      if (event.document === document) {
        void isSame().then((same) => same && end(true));
      }
    });
    const timer = setTimeout(() => void isSame().then(end), RELOAD_MS);
    const end = (isReloaded: boolean) => {
      subscription.dispose();
      clearTimeout(timer);
      resolve(isReloaded);
    };
  });
}

function plain(text: string): string {
  return text.replace(/^\uFEFF/, "").replace(/\r\n?/g, "\n");
}

async function diagnostics(params: DiagnosticsParams): Promise<DiagnosticsResult> {
  const asked = params.uris ?? [];
  const wanted = new Set(asked.map((uri) => vscode.Uri.parse(uri).toString()));
  const concerns = (uri: vscode.Uri) => wanted.size === 0 || wanted.has(uri.toString());
  const isSettled = await settled(params.settleMs ?? 1000, {
    onChange: (listener) => {
      const subscription = vscode.languages.onDidChangeDiagnostics((event) => {
        if (event.uris.some(concerns)) {
          listener();
        }
      });
      return () => void subscription.dispose();
    },
    setTimer: (callback, ms) => {
      const timer = setTimeout(callback, ms);
      return () => clearTimeout(timer);
    },
  });
  const uris =
    asked.length > 0
      ? asked.map((uri) => vscode.Uri.parse(uri))
      : vscode.workspace.textDocuments.map((document) => document.uri).filter((uri) => uri.scheme === "file");
  const documents = uris
    .map((uri) => ({
      uri: uri.toString(),
      version: open([uri.toString()])[0]?.version,
      diagnostics: vscode.languages.getDiagnostics(uri).map(toWire),
    }))
    .filter((document) => asked.length > 0 || document.diagnostics.length > 0)
    .map(({ version, ...rest }) => (version === undefined ? rest : { ...rest, version }));
  return { documents, settled: isSettled };
}

function toWire(diagnostic: vscode.Diagnostic): DocumentDiagnostic {
  const code = typeof diagnostic.code === "object" ? diagnostic.code.value : diagnostic.code;
  return {
    range: fromRange(diagnostic.range),
    severity: diagnostic.severity + 1,
    message: diagnostic.message,
    ...(diagnostic.source ? { source: diagnostic.source } : {}),
    ...(code === undefined ? {} : { code: String(code) }),
  };
}

export function fromRange(range: vscode.Range): WireRange {
  return {
    start: { line: range.start.line, character: range.start.character },
    end: { line: range.end.line, character: range.end.character },
  };
}

function toRange(range: WireRange): vscode.Range {
  return new vscode.Range(
    range.start.line,
    range.start.character,
    range.end.line,
    range.end.character,
  );
}

async function encodingOf(
  document: vscode.TextDocument,
): Promise<{ encoding: string; hasMark: boolean }> {
  // Since VS Code 1.100 a document says how it was read.
  const said = (document as { encoding?: string }).encoding;
  const configured = vscode.workspace.getConfiguration("files", document).get("encoding", "utf8");
  const name = said ?? configured;
  if (name === "utf8bom") {
    return { encoding: "utf-8", hasMark: true };
  }
  if (name !== "utf8") {
    return { encoding: name, hasMark: /^utf16/.test(name) };
  }
  try {
    const bytes = await readFile(document.uri.fsPath);
    const hasMark = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf;
    return { encoding: "utf-8", hasMark };
  } catch {
    return { encoding: "utf-8", hasMark: false };
  }
}

/** VS Code lets extensions edit what `files.readonlyInclude` names, and then refuses to save it. */
function isReadonly(document: vscode.TextDocument): boolean {
  const files = vscode.workspace.getConfiguration("files", document);
  const matches = (setting: string) =>
    Object.entries(files.get<Record<string, boolean>>(setting, {})).some(
      ([pattern, isOn]) => isOn && vscode.languages.match({ scheme: "file", pattern }, document) > 0,
    );
  return matches("readonlyInclude") && !matches("readonlyExclude");
}

async function isWritable(file: string): Promise<boolean> {
  try {
    await access(file, constants.W_OK);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "ENOENT";
  }
}
