/** Quick picks for mode, level, model and conversation. */
import * as vscode from "vscode";
import type { Engine } from "./client";
import type { Sessions } from "./sessions";
import { ENGLISH } from "./texts";
import type { ApprovalLevel, Mode, SessionSummary } from "./protocol.gen";

export async function pickMode(engine: Engine, sessions: Sessions): Promise<void> {
  const titles: Record<Mode, string> = {
    agent: vscode.l10n.t(ENGLISH.modeAgentTitle),
    plan: vscode.l10n.t(ENGLISH.modePlanTitle),
    ask: vscode.l10n.t(ENGLISH.modeAskTitle),
    goal: vscode.l10n.t(ENGLISH.modeGoalTitle),
  };
  const mode = await pickWord(vscode.l10n.t("Mode: may it change things?"), engine.connection.modes, titles, sessions.choices.mode);
  if (mode) {
    await sessions.configure({ mode });
  }
}

export async function pickLevel(engine: Engine, sessions: Sessions): Promise<void> {
  const titles: Record<ApprovalLevel, string> = {
    ask: vscode.l10n.t(ENGLISH.levelAskTitle),
    "workspace-write": vscode.l10n.t(ENGLISH.levelWorkspaceWriteTitle),
    "auto-edit": vscode.l10n.t(ENGLISH.levelAutoEditTitle),
    auto: vscode.l10n.t(ENGLISH.levelAutoTitle),
  };
  const level = await pickWord(vscode.l10n.t("Approval level: must it ask?"), engine.connection.levels, titles, sessions.choices.level);
  if (level) {
    await sessions.configure({ level });
  }
}

export async function pickModel(engine: Engine, sessions: Sessions): Promise<void> {
  const { models } = await engine.request("kova/model/list", {});
  const picked = await vscode.window.showQuickPick(
    models.map((one) => ({
      label: `${one.ready ? "" : "$(warning) "}${one.name}`,
      description: `${one.api} · ${one.model}`,
      ...(one.problem ? { detail: one.problem } : {}),
      name: one.name,
    })),
    {
      title: vscode.l10n.t("Model"),
      placeHolder: models.length > 0 ? (sessions.choices.model ?? "") : vscode.l10n.t("No model is configured. Run \"Kova: Check the Set-up\"."),
    },
  );
  if (picked) {
    await sessions.configure({ model: picked.name });
  }
}

/** The id of the chosen conversation. */
export async function pickSession(engine: Engine, sessions: Sessions): Promise<string | undefined> {
  const open: vscode.QuickInputButton = {
    iconPath: new vscode.ThemeIcon("archive"),
    tooltip: vscode.l10n.t("Archive"),
  };
  const pick = vscode.window.createQuickPick<vscode.QuickPickItem & { sessionId: string }>();
  pick.title = vscode.l10n.t("Conversations");
  pick.placeholder = vscode.l10n.t("Search by title");
  pick.busy = true;
  const fill = async () => {
    pick.items = (await sessions.list()).map((one) => ({
      label: `${stateIcon(one)}${one.title || vscode.l10n.t("Untitled")}`,
      description: [one.sessionId === sessions.current?.sessionId ? vscode.l10n.t("on show") : "", one.mode, one.level, when(one.updatedAt)]
        .filter(Boolean)
        .join(" · "),
      buttons: [open],
      sessionId: one.sessionId,
    }));
    pick.busy = false;
  };
  return new Promise((resolve, reject) => {
    pick.onDidTriggerItemButton(async ({ item }) => {
      await engine.request("kova/session/archive", { sessionId: item.sessionId });
      await sessions.forget(item.sessionId);
      await fill();
    });
    pick.onDidAccept(() => {
      resolve(pick.selectedItems[0]?.sessionId);
      pick.hide();
    });
    pick.onDidHide(() => {
      resolve(undefined);
      pick.dispose();
    });
    pick.show();
    fill().catch((error: unknown) => {
      pick.hide();
      reject(error instanceof Error ? error : new Error(String(error)));
    });
  });
}

function stateIcon(session: SessionSummary): string {
  const icons = { idle: "", running: "$(loading~spin) ", waiting: "$(bell-dot) " };
  return icons[session.state] ?? "";
}

function when(seconds: number): string {
  return new Date(seconds * 1000).toLocaleString(vscode.env.language, { dateStyle: "short", timeStyle: "short" });
}

async function pickWord<T extends string>(
  title: string,
  words: readonly T[],
  titles: Readonly<Partial<Record<T, string>>>,
  now: T,
): Promise<T | undefined> {
  const picked = await vscode.window.showQuickPick(
    words.map((word) => ({
      label: word,
      description: word === now ? vscode.l10n.t("now") : "",
      detail: titles[word] ?? "",
      word,
    })),
    { title },
  );
  return picked?.word;
}
