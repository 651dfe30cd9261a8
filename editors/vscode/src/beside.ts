/** Show things without covering what the person looks at. */
import * as vscode from "vscode";

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
