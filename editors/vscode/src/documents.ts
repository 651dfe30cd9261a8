/** What the engine asks of this editor's documents, and what it is told of them. */
import { constants } from "node:fs";
import { access, readFile } from "node:fs/promises";
import * as vscode from "vscode";
import type { Middleware } from "vscode-languageclient/node";
import { showBeside } from "./beside";
import type { Engine } from "./client";
import { diagnostics } from "./diagnostics";
import { Edits, isReadonly, openDocuments } from "./edits";
import type { Guarded } from "./edits";
import { textHash } from "./guard";
import { placeOf } from "./places";
import type { DocumentState, ReloadResult, SaveResult } from "./protocol.gen";
import { toRange } from "./ranges";

/** VS Code reads a changed file anew by itself, a background one a little later. */
const RELOAD_MS = 1500;

export class Documents implements vscode.Disposable {
  private readonly edits = new Edits();
  private readonly dirty = new Map<string, boolean>();
  private readonly subscriptions: vscode.Disposable[] = [];
  private engine: Engine | undefined;

  /** The parts of the language client's middleware that this module owns. */
  middleware(): Middleware {
    return {
      workspace: {
        handleApplyEdit: (params, next) => {
          const guard = (params as Guarded).kova;
          return guard ? this.edits.apply(params, guard) : next(params, NEVER);
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
      documents: await Promise.all(openDocuments(uris).map((document) => this.stateOf(document))),
    }));
    engine.answer("kova/editor/save", ({ uris }) => this.save(uris));
    engine.answer("kova/editor/reload", ({ uris }) => reload(uris));
    engine.answer("kova/editor/diagnostics", (params) => diagnostics(params));
    this.subscriptions.push(
      vscode.workspace.onDidChangeTextDocument((event) => this.changed(event)),
      vscode.workspace.onDidSaveTextDocument((document) => this.noteDirty(document)),
      vscode.workspace.onDidCloseTextDocument((document) => {
        this.edits.forget(document);
        this.dirty.delete(document.uri.toString());
      }),
      // The engine sees no text of notebooks; it writes to none that has unsaved changes.
      vscode.workspace.onDidChangeNotebookDocument(({ notebook }) => this.noteDirty(notebook)),
      vscode.workspace.onDidSaveNotebookDocument((notebook) => this.noteDirty(notebook)),
      vscode.workspace.onDidCloseNotebookDocument((notebook) => this.tellDirty(notebook, false)),
      engine.onDidChange(({ state }) => {
        const unsaved = state === "ready" ? vscode.workspace.notebookDocuments.filter(({ isDirty }) => isDirty) : [];
        unsaved.forEach((notebook) => this.tellDirty(notebook, true));
      }),
    );
  }

  dispose(): void {
    vscode.Disposable.from(...this.subscriptions).dispose();
  }

  private changed(event: vscode.TextDocumentChangeEvent): void {
    const { document } = event;
    if (!placeOf(document.uri)) {
      return;
    }
    this.edits.note(event);
    this.noteDirty(document);
  }

  private noteDirty(document: vscode.TextDocument | vscode.NotebookDocument): void {
    const key = document.uri.toString();
    if (!placeOf(document.uri) || (this.dirty.get(key) ?? false) === document.isDirty) {
      return;
    }
    this.tellDirty(document, document.isDirty);
  }

  private tellDirty(document: vscode.TextDocument | vscode.NotebookDocument, dirty: boolean): void {
    const uri = document.uri.toString();
    this.dirty.set(uri, dirty);
    this.engine?.tell("kova/editor/documentChanged", { uri, version: document.version, dirty });
  }

  private async save(uris: readonly string[]): Promise<SaveResult> {
    const saved: string[] = [];
    const failed: string[] = [];
    for (const document of openDocuments(uris)) {
      const isSaved = !document.isDirty || (await this.edits.during(document, () => document.save()));
      (isSaved && !document.isDirty ? saved : failed).push(document.uri.toString());
    }
    return { saved, failed };
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
      isTyping: this.edits.isTyping(document),
    };
  }
}

const NEVER = new vscode.CancellationTokenSource().token;

async function reload(uris: readonly string[]): Promise<ReloadResult> {
  const documents = openDocuments(uris);
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

async function isWritable(file: string): Promise<boolean> {
  try {
    await access(file, constants.W_OK);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "ENOENT";
  }
}
