/** Every command of the palette. */
import { mkdir } from "node:fs/promises";
import { homedir } from "node:os";
import * as path from "node:path";
import * as vscode from "vscode";
import type { Chat } from "./chat";
import type { Engine } from "./client";
import type { PromptContext } from "./context";
import { problemPart } from "./diagnostics";
import { installServer, runDoctor } from "./install";
import { PICTURE_EXTENSIONS } from "./mentions";
import type { Panels } from "./panels";
import { showPermissions } from "./permissions";
import { pickLevel, pickMode, pickModel, pickSession } from "./pickers";
import { placeOf } from "./places";
import type { Sessions } from "./sessions";

export interface Parts {
  readonly engine: Engine;
  readonly sessions: Sessions;
  readonly chat: Chat;
  readonly context: PromptContext;
  readonly panels: Panels;
}

export function registerCommands(parts: Parts): vscode.Disposable {
  return vscode.Disposable.from(
    ...Object.entries(commands(parts)).map(([name, run]) =>
      vscode.commands.registerCommand(`kova.${name}`, (...args: unknown[]) => guarded(run, args)),
    ),
  );
}

type Command = (...args: never[]) => unknown;

/** A failing command says why; VS Code itself would show only its name. */
async function guarded(run: Command, args: unknown[]): Promise<void> {
  try {
    await (run as (...given: unknown[]) => unknown)(...args);
  } catch (error) {
    void vscode.window.showErrorMessage(`Kova: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function commands({ engine, sessions, chat, context, panels }: Parts): Record<string, Command> {
  const current = () => {
    const head = sessions.current;
    if (!head) {
      throw new Error(vscode.l10n.t("No conversation has begun yet."));
    }
    return head;
  };
  return {
    open: () => chat.focus("input"),
    newSession: async () => {
      await sessions.startNew();
      await chat.focus("input");
    },
    sessions: async () => {
      const picked = await pickSession(engine, sessions);
      if (picked) {
        await sessions.open(picked);
        await chat.focus("input");
      }
    },
    renameSession: async () => {
      const { sessionId, title: value } = current();
      const title = await vscode.window.showInputBox({ title: vscode.l10n.t("Title of this conversation"), value });
      if (title?.trim()) {
        await engine.request("kova/session/rename", { sessionId, title: title.trim() });
      }
    },
    archiveSession: async () => {
      const { sessionId } = current();
      await engine.request("kova/session/archive", { sessionId });
      await sessions.forget(sessionId);
    },
    deleteSession: async () => {
      const { sessionId, title } = current();
      const remove = vscode.l10n.t("Delete");
      const question = vscode.l10n.t("Delete {0} for good?", title);
      if ((await vscode.window.showWarningMessage(question, { modal: true }, remove)) === remove) {
        await engine.request("kova/session/delete", { sessionId });
        await sessions.forget(sessionId);
      }
    },
    stop: async () => {
      const said = await chat.stop("turn");
      chat.say(said);
      vscode.window.setStatusBarMessage(said, 5000);
    },
    pauseGoal: () => engine.request("kova/goal/pause", { sessionId: current().sessionId }),
    resumeGoal: () => engine.request("kova/goal/resume", { sessionId: current().sessionId }),
    cancelGoal: () => engine.request("kova/goal/cancel", { sessionId: current().sessionId }),
    goalBudget: async () => {
      const { sessionId, goal } = current();
      const said = await vscode.window.showInputBox({
        title: vscode.l10n.t("How many turns may begin by themselves, those so far included? Empty: no limit"),
        value: String(goal?.budget?.turns ?? ""),
        validateInput: (text) => (/^[1-9]\d*$|^$/.test(text.trim()) ? undefined : vscode.l10n.t("A whole number, or nothing.")),
      });
      if (said !== undefined) {
        await engine.request("kova/goal/setBudget", { sessionId, ...(said.trim() ? { turns: Number(said) } : {}) });
      }
    },
    showCard: async () => {
      const waits = sessions.all.find((head) => head.approvals.length + head.questions.length > 0);
      if (waits && waits.sessionId !== sessions.current?.sessionId) {
        await sessions.open(waits.sessionId);
      }
      await chat.focus("card");
    },
    deny: () => chat.decide("deny"),
    allowOnce: () => chat.decide("once"),
    remember: () => chat.decide("remember"),
    openDiff: () => chat.decide("openDiff"),
    showWhole: () => chat.decide("showWhole"),
    pickMode: () => pickMode(engine, sessions),
    pickLevel: () => pickLevel(engine, sessions),
    cycleLevel: async () => {
      await sessions.cycleLevel();
      vscode.window.setStatusBarMessage(vscode.l10n.t("Approval level: {0}", sessions.choices.level), 3000);
    },
    pickModel: () => pickModel(engine, sessions),
    addSelection: async () => {
      const editor = vscode.window.activeTextEditor;
      if (editor && !context.addSelection(editor) && placeOf(editor.document.uri)) {
        context.addFile(editor.document.uri);
      }
      await chat.focus("input");
    },
    addFile: async (uri?: vscode.Uri) => {
      const target = uri ?? vscode.window.activeTextEditor?.document.uri;
      if (target && placeOf(target)) {
        context.addFile(target);
      } else if (!uri && vscode.window.activeTextEditor) {
        context.addSelection(vscode.window.activeTextEditor);
      }
      await chat.focus("input");
    },
    addProblems: async () => {
      const document = vscode.window.activeTextEditor?.document;
      if (document && !context.addProblems(document)) {
        chat.say(vscode.l10n.t("This file has no problems."));
      }
      await chat.focus("input");
    },
    fixProblem: async (uri: vscode.Uri, diagnostics: readonly vscode.Diagnostic[]) => {
      await chat.focus("input");
      await chat.begin([
        { type: "text", text: vscode.l10n.t("Fix this.") },
        { type: "file", uri: uri.toString() },
        ...diagnostics.map((one) => problemPart(uri, one)),
      ]);
    },
    attachImage: async () => {
      const uris = await vscode.window.showOpenDialog({
        canSelectMany: true,
        filters: { [vscode.l10n.t("Pictures")]: [...PICTURE_EXTENSIONS] },
      });
      await chat.focus("input");
      await chat.attach(uris ?? []);
    },
    showLoop: () => panels.showLoop(),
    showChanges: () => panels.showChanges(),
    keepAll: async () => {
      const { sessionId } = current();
      await engine.request("kova/changes/decide", { sessionId, decision: "keep" });
      await panels.showChanges();
    },
    revertAll: async () => {
      const { sessionId } = current();
      const revert = vscode.l10n.t("Revert");
      const question = vscode.l10n.t("Revert every change of this conversation that is not reviewed?");
      if ((await vscode.window.showWarningMessage(question, { modal: true }, revert)) === revert) {
        const { refused } = await engine.request("kova/changes/decide", { sessionId, decision: "revert" });
        if (refused?.length) {
          void vscode.window.showWarningMessage(refused.join("\n"));
        }
        await panels.showChanges();
      }
    },
    permissions: () => showPermissions(engine, current().sessionId),
    installServer: (command?: unknown) => installServer(engine, typeof command === "string" ? command : undefined),
    doctor: () => runDoctor(engine),
    restart: () => engine.restart(),
    showLog: () => engine.log.show(true),
    openSettings: () => vscode.commands.executeCommand("workbench.action.openSettings", "@ext:kova-ls.kova-ls-vscode"),
    openFolder: () => vscode.commands.executeCommand("workbench.action.files.openFolder"),
    manageTrust: () => vscode.commands.executeCommand("workbench.trust.manage"),
    openConfiguration: () => openConfiguration(engine),
  };
}

/** config.toml of the engine's home, made when it is not there. */
async function openConfiguration(engine: Engine): Promise<void> {
  const { homePath } = engine.isReady ? await engine.request("kova/engine/status", {}) : {};
  const folder = homePath ?? process.env["KOVA_HOME"] ?? path.join(homedir(), ".kova");
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const file = path.join(folder, "config.toml");
  const uri = vscode.Uri.file(file);
  const edit = new vscode.WorkspaceEdit();
  edit.createFile(uri, { ignoreIfExists: true });
  await vscode.workspace.applyEdit(edit);
  await vscode.window.showTextDocument(uri);
}
