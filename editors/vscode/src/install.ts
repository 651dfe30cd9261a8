/** Install the server in a terminal that the person sees, and check what it finds. */
import * as vscode from "vscode";
import type { Engine } from "./client";
import { findInstallers, findServer, quoted } from "./server";

const RETRY_MS = 3000;
const MOST_RETRIES = 100;

/** Run the installer, and connect once the program is there. */
export async function installServer(engine: Engine, command: string | undefined): Promise<void> {
  const before = engine.surroundings();
  const installers = findInstallers(before);
  const chosen = installers.find((one) => one.command === command) ?? (await choose(installers));
  if (!chosen) {
    return;
  }
  runInTerminal(chosen.command);
  if (findServer(before)) {
    // It is there already and is being replaced: only the terminal says when that is done.
    return;
  }
  for (let tries = 0; tries < MOST_RETRIES; tries += 1) {
    await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
    const found = findServer(engine.surroundings());
    if (found) {
      void vscode.window.showInformationMessage(vscode.l10n.t("The server is installed: {0}", found.command));
      await engine.restart();
      return;
    }
  }
}

export function runDoctor(engine: Engine): void {
  const found = findServer(engine.surroundings());
  if (found) {
    runInTerminal(`${quoted(found.command, process.platform)} doctor`);
  } else {
    void vscode.commands.executeCommand("kova.open");
  }
}

async function choose(installers: ReturnType<typeof findInstallers>) {
  if (installers.length === 0) {
    const settings = vscode.l10n.t("Settings");
    const answer = await vscode.window.showWarningMessage(
      vscode.l10n.t("Neither uv nor pipx nor python3 was found. Install one of them, or name the program in the settings."),
      settings,
    );
    if (answer === settings) {
      await vscode.commands.executeCommand("workbench.action.openSettings", "kova.server.path");
    }
    return undefined;
  }
  const picked = await vscode.window.showQuickPick(
    installers.map((one) => ({ label: one.command, one })),
    { title: vscode.l10n.t("Install the server in a terminal") },
  );
  return picked?.one;
}

function runInTerminal(command: string): void {
  const terminal = vscode.window.createTerminal("Kova");
  terminal.show(true);
  terminal.sendText(command);
}
