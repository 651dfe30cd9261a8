/** Rules and writable folders as a list: what is in force, where it comes from, what is proposed. */
import * as vscode from "vscode";
import type { Engine } from "./client";
import type { PermissionChangeResult, PermissionListResult } from "./protocol.gen";

type Layer = "user" | "local";

interface Entry extends vscode.QuickPickItem {
  readonly run?: () => Promise<PermissionChangeResult>;
  readonly question?: string;
}

/** Let the person look, take a rule out, or accept what is proposed; each after a question. */
export async function showPermissions(engine: Engine, sessionId: string): Promise<void> {
  const listed = await engine.request("kova/permission/list", { sessionId });
  const picked = await vscode.window.showQuickPick(entries(engine, sessionId, listed), {
    title: vscode.l10n.t("Rules and writable folders"),
    placeHolder: vscode.l10n.t("Choose an entry to remove it or to accept it"),
    matchOnDescription: true,
    matchOnDetail: true,
  });
  if (!picked?.run || !picked.question) {
    return;
  }
  const yes = vscode.l10n.t("Yes");
  const answer = await vscode.window.showWarningMessage(picked.question, { modal: true, ...(picked.detail ? { detail: picked.detail } : {}) }, yes);
  if (answer === yes) {
    const { changed, notices } = await picked.run();
    const said = [...changed, ...(notices ?? [])].join(" ");
    void vscode.window.showInformationMessage(said || vscode.l10n.t("Nothing changed."));
  }
}

function entries(engine: Engine, sessionId: string, listed: PermissionListResult): Entry[] {
  const found: Entry[] = [];
  for (const problem of listed.problems ?? []) {
    found.push({ label: `$(warning) ${problem}` });
  }
  const proposed = listed.proposed ?? [];
  if (proposed.length > 0) {
    found.push(heading(vscode.l10n.t("Proposed, not in force")));
  }
  for (const one of proposed) {
    found.push({
      label: `$(question) ${one.value}`,
      description: one.source,
      detail: one.refusal ?? one.sentence,
      ...(one.refusal
        ? {}
        : {
            question: vscode.l10n.t("Accept {0}?", one.value),
            run: () => engine.request("kova/permission/accept", { sessionId, proposalId: one.proposalId }),
          }),
    });
  }
  for (const kind of ["deny", "allow"] as const) {
    if (listed[kind].length > 0) {
      found.push(heading(kind === "deny" ? vscode.l10n.t("Denied") : vscode.l10n.t("Allowed without asking")));
    }
    for (const rule of listed[kind]) {
      found.push({
        label: `$(${kind === "deny" ? "circle-slash" : "check"}) ${rule.rule}`,
        description: rule.source,
        detail: vscode.Uri.parse(rule.path).fsPath,
        ...removal(rule.source, rule.rule, (layer) =>
          engine.request("kova/permission/removeRule", { sessionId, layer, rule: rule.rule, kind }),
        ),
      });
    }
  }
  if (listed.roots.length > 0) {
    found.push(heading(vscode.l10n.t("Writable folders outside the workspace")));
  }
  for (const root of listed.roots) {
    const path = vscode.Uri.parse(root.uri).fsPath;
    found.push({
      label: `$(folder) ${path}`,
      description: root.source,
      ...removal(root.source, path, (layer) =>
        engine.request("kova/permission/removeRoot", { sessionId, layer, root: path }),
      ),
    });
  }
  return found.length > 0 ? found : [{ label: vscode.l10n.t("No rules and no further folders.") }];
}

function removal(
  source: string,
  name: string,
  run: (layer: Layer) => Promise<PermissionChangeResult>,
): Pick<Entry, "run" | "question"> {
  return source === "user" || source === "local"
    ? { question: vscode.l10n.t("Remove {0}?", name), run: () => run(source) }
    : {};
}

function heading(label: string): Entry {
  return { label, kind: vscode.QuickPickItemKind.Separator };
}
