/** Activation: makes the parts and joins them; nothing else. */
import * as vscode from "vscode";
import { Chat } from "./chat";
import { Engine } from "./client";
import { registerCommands } from "./commands";
import { PromptContext } from "./context";
import { Diffs } from "./diffs";
import { Documents } from "./documents";
import { FixActions } from "./fix";
import { DraftKeep } from "./draft_keep";
import { Keep } from "./keep";
import { Panels } from "./panels";
import { Sessions } from "./sessions";
import { Status } from "./status";

let running: Engine | undefined;
let kept: Keep | undefined;

export function activate(extension: vscode.ExtensionContext): void {
  const documents = new Documents();
  const keep = new Keep(extension.storageUri?.fsPath);
  kept = keep;
  const drafts = new DraftKeep(keep, extension.storageUri && vscode.Uri.joinPath(extension.storageUri, "large").fsPath);
  const engine = new Engine(extension, keep, documents.middleware());
  running = engine;
  documents.serve(engine);
  const sessions = new Sessions(engine, keep);
  const context = new PromptContext(engine, () => sessions.current?.sessionId);
  const diffs = new Diffs(engine);
  const chat = new Chat(extension.extensionUri, drafts, engine, sessions, context, diffs);
  const panels = new Panels(extension.extensionUri, engine, sessions);
  const status = new Status(engine, sessions, async (sessionId) => {
    if (sessionId !== sessions.current?.sessionId) {
      await sessions.open(sessionId);
    }
    await chat.focus("card");
  });
  extension.subscriptions.push(
    documents,
    sessions,
    context,
    diffs,
    chat,
    panels,
    status,
    registerCommands({ engine, sessions, chat, context, panels }),
    vscode.languages.registerCodeActionsProvider({ scheme: "file" }, new FixActions(), {
      providedCodeActionKinds: FixActions.kinds,
    }),
    vscode.workspace.onDidGrantWorkspaceTrust(() => void engine.restart()),
    vscode.workspace.onDidChangeConfiguration((event) => {
      if (event.affectsConfiguration("kova.server")) {
        void engine.restart();
      }
    }),
    vscode.workspace.onDidChangeWorkspaceFolders(() => {
      if (engine.connection.state === "noFolder") {
        void engine.start();
      }
    }),
  );
  void engine.start();
}

export async function deactivate(): Promise<void> {
  await Promise.all([kept?.settled(), running?.dispose()]);
}
