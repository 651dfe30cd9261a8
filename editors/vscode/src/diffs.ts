/** Show what an edit would do in VS Code's own diff editor. */
import { readFile } from "node:fs/promises";
import * as vscode from "vscode";
import type { Engine } from "./client";
import type { Approval, FileChange } from "./protocol.gen";
import { applyDiff, sidesOf } from "./unified";

const SCHEME = "kova-diff";
const OUTPUT_SCHEME = "kova-output";
const PAGE_BYTES = 200_000;
const MOST_BYTES = 20_000_000;
const MOST_SIDES = 50;

export class Diffs implements vscode.TextDocumentContentProvider, vscode.Disposable {
  private readonly texts = new Map<string, string>();
  private readonly registrations: vscode.Disposable;

  constructor(private readonly engine: Engine) {
    this.registrations = vscode.Disposable.from(
      vscode.workspace.registerTextDocumentContentProvider(SCHEME, this),
      vscode.workspace.registerTextDocumentContentProvider(OUTPUT_SCHEME, this),
    );
  }

  provideTextDocumentContent(uri: vscode.Uri): string {
    return this.texts.get(uri.toString()) ?? "";
  }

  /** Open one file of an edit card. The chat keeps the keyboard. */
  async open(approval: Approval, change: FileChange): Promise<void> {
    const target = vscode.Uri.parse(change.uri);
    const diff = change.outputRef ? await this.whole(change.outputRef) : change.diff;
    const before = change.change === "create" ? "" : await textOf(target);
    const after = change.change === "delete" ? "" : applyDiff(before, diff);
    const sides = after === undefined ? sidesOf(diff) : { before, after };
    const left = this.hold(target, approval.approvalId, "before", sides.before);
    const right = this.hold(target, approval.approvalId, "after", sides.after);
    const name = vscode.workspace.asRelativePath(target);
    const title =
      after === undefined
        ? vscode.l10n.t("{0} (the parts that Kova would change)", name)
        : vscode.l10n.t("{0} (what Kova would change)", name);
    await vscode.commands.executeCommand("vscode.diff", left, right, title, {
      preview: true,
      preserveFocus: true,
      viewColumn: vscode.ViewColumn.Active,
    });
  }

  /** Show a large output as a document of its own. */
  async openOutput(outputRef: string, title: string): Promise<void> {
    const name = title.replace(/[^\p{L}\p{N}._-]+/gu, "-").slice(0, 60) || "output";
    const uri = vscode.Uri.from({ scheme: OUTPUT_SCHEME, path: `/${name}.txt`, query: outputRef });
    this.keep(uri, await this.whole(outputRef));
    const document = await vscode.workspace.openTextDocument(uri);
    await vscode.window.showTextDocument(document, { preview: true, preserveFocus: true });
  }

  dispose(): void {
    this.registrations.dispose();
  }

  private async whole(outputRef: string): Promise<string> {
    const pieces: string[] = [];
    for (let offset = 0; offset < MOST_BYTES; ) {
      const page = await this.engine.request("kova/output/read", {
        outputRef,
        offset,
        limit: PAGE_BYTES,
      });
      pieces.push(page.text);
      if (page.nextOffset <= offset || page.nextOffset >= page.totalBytes) {
        break;
      }
      offset = page.nextOffset;
    }
    return pieces.join("");
  }

  private hold(target: vscode.Uri, id: string, side: string, text: string): vscode.Uri {
    const uri = vscode.Uri.from({ scheme: SCHEME, path: target.path, query: `${side}&${id}` });
    this.keep(uri, text);
    return uri;
  }

  private keep(uri: vscode.Uri, text: string): void {
    this.texts.set(uri.toString(), text);
    for (const oldest of this.texts.keys()) {
      if (this.texts.size <= MOST_SIDES) {
        break;
      }
      this.texts.delete(oldest);
    }
  }
}

/** A file as the editor has it, else as the disk has it. */
async function textOf(uri: vscode.Uri): Promise<string> {
  const key = uri.toString();
  const document = vscode.workspace.textDocuments.find((one) => one.uri.toString() === key);
  if (document) {
    return document.getText();
  }
  try {
    return await readFile(uri.fsPath, "utf8");
  } catch {
    return "";
  }
}
