/** Small things that the chat asks of the editor: files, links, pictures, inserted code. */
import { stat } from "node:fs/promises";
import * as vscode from "vscode";
import { showBeside } from "./beside";
import type { PictureData } from "./messages";
import { placeOf } from "./places";
import { globOf, pictureType, ranked } from "./mentions";

const MOST_FOUND = 400;
const MOST_SHOWN = 12;

/** Files whose path fits what was typed after `@`, best first. */
export async function findFiles(query: string): Promise<readonly { path: string; uri: string }[]> {
  const source = new vscode.CancellationTokenSource();
  const timer = setTimeout(() => source.cancel(), 2000);
  try {
    const uris = await vscode.workspace.findFiles(globOf(query), undefined, MOST_FOUND, source.token);
    const open = vscode.workspace.textDocuments
      .map((document) => placeOf(document.uri))
      .filter((uri) => uri !== undefined)
      .filter((uri) => vscode.workspace.getWorkspaceFolder(uri));
    const byPath = new Map<string, vscode.Uri>();
    for (const uri of [...open, ...uris]) {
      byPath.set(vscode.workspace.asRelativePath(uri), uri);
    }
    return ranked([...byPath.keys()], query)
      .slice(0, MOST_SHOWN)
      .map((path) => ({ path, uri: byPath.get(path)?.toString() ?? "" }));
  } finally {
    clearTimeout(timer);
    source.dispose();
  }
}

/** How a file is mentioned; nothing when it is outside of every folder. */
export function mentionOf(uri: vscode.Uri): { path: string; uri: string } | undefined {
  return vscode.workspace.getWorkspaceFolder(uri)
    ? { path: vscode.workspace.asRelativePath(uri), uri: uri.toString() }
    : undefined;
}

/** Open what a reply points to: a page outside, or a file of the workspace beside. */
export async function openLink(href: string): Promise<void> {
  if (/^(https?|mailto):/i.test(href)) {
    await vscode.env.openExternal(vscode.Uri.parse(href, true));
    return;
  }
  const match = /^(?:file:\/\/)?([^#]*?)(?:[:#]L?(\d+)(?:[-:]L?\d+)?)?$/.exec(href);
  const path = match?.[1] ? decoded(match[1]) : "";
  const folder = vscode.workspace.workspaceFolders?.[0];
  if (!path || !folder) {
    return;
  }
  const uri = path.startsWith("/") ? vscode.Uri.file(path) : vscode.Uri.joinPath(folder.uri, path);
  const line = match?.[2] ? Number(match[2]) - 1 : undefined;
  const selection = line === undefined ? undefined : new vscode.Range(line, 0, line, 0);
  const isInside = vscode.workspace.getWorkspaceFolder(uri) !== undefined;
  if (!isInside || !(await showBeside(uri, selection, false))) {
    throw new Error(vscode.l10n.t("{0} is not a file of this workspace.", path));
  }
}

/** Put code where the cursor is in the person's editor, or into a new document. */
export async function insertAtCursor(text: string, language: string): Promise<void> {
  const editor = vscode.window.activeTextEditor ?? vscode.window.visibleTextEditors[0];
  if (!editor) {
    const known = (await vscode.languages.getLanguages()).includes(language);
    const document = await vscode.workspace.openTextDocument({
      content: text,
      ...(known ? { language } : {}),
    });
    await vscode.window.showTextDocument(document);
    return;
  }
  await editor.edit((builder) => {
    for (const selection of editor.selections) {
      builder.replace(selection, text);
    }
  });
}

/** Read pictures that the person chose; what cannot be attached is told. */
export async function chosenPictures(
  uris: readonly vscode.Uri[],
  maxBytes: number,
): Promise<{ pictures: PictureData[]; refused: string[] }> {
  const pictures: PictureData[] = [];
  const refused: string[] = [];
  for (const uri of uris) {
    const name = uri.path.split("/").at(-1) ?? uri.path;
    const mimeType = pictureType(name);
    const { size } = await stat(uri.fsPath);
    if (!mimeType) {
      refused.push(vscode.l10n.t("{0} is not a picture that can be attached (PNG, JPEG, GIF, WebP).", name));
    } else if (size > maxBytes) {
      refused.push(vscode.l10n.t("{0} is larger than {1} MB and was not attached.", name, Math.round(maxBytes / 1048576)));
    } else {
      const bytes = await vscode.workspace.fs.readFile(uri);
      pictures.push({ name, mimeType, data: Buffer.from(bytes).toString("base64") });
    }
  }
  return { pictures, refused };
}

function decoded(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}
