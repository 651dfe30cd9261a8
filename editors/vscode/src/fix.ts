/** Code actions: fix a problem, or ask about what is selected. */
import * as vscode from "vscode";

export class FixActions implements vscode.CodeActionProvider {
  static readonly kinds = [vscode.CodeActionKind.QuickFix, vscode.CodeActionKind.Refactor];

  provideCodeActions(
    document: vscode.TextDocument,
    range: vscode.Range | vscode.Selection,
    context: vscode.CodeActionContext,
  ): vscode.CodeAction[] {
    const actions: vscode.CodeAction[] = [];
    if (context.diagnostics.length > 0) {
      const title = vscode.l10n.t("Fix with Kova");
      const fix = new vscode.CodeAction(title, vscode.CodeActionKind.QuickFix);
      fix.diagnostics = [...context.diagnostics];
      fix.command = { command: "kova.fixProblem", title, arguments: [document.uri, context.diagnostics] };
      actions.push(fix);
    }
    if (!range.isEmpty) {
      const title = vscode.l10n.t("Ask Kova about this");
      const ask = new vscode.CodeAction(title, vscode.CodeActionKind.Refactor);
      ask.command = { command: "kova.addSelection", title };
      actions.push(ask);
    }
    return actions;
  }
}
