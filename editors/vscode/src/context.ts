/**
 * What goes along with a prompt: selections, problems and files, each shown as a chip.
 *
 * Invariant: nothing is added by itself for a file that the engine would not read without asking.
 */
import * as vscode from "vscode";
import type { Engine } from "./client";
import { fileOf, heldOf, problemsOf, selectionOf, unnamedOf } from "./held";
import type { Held } from "./held";
import type { Chip } from "./messages";
import { placeOf } from "./places";
import type { InputPart } from "./protocol.gen";

const QUIET_MS = 150;

export class PromptContext implements vscode.Disposable {
  private readonly byHand = new Map<string, Held>();
  private offered: readonly Held[] = [];
  /** Offers that the person removed, until the selection is another. */
  private readonly refused = new Set<string>();
  private readonly changed = new vscode.EventEmitter<readonly Chip[]>();
  private readonly subscriptions: vscode.Disposable[];
  private timer: NodeJS.Timeout | undefined;
  private generation = 0;
  readonly onDidChange = this.changed.event;

  constructor(
    private readonly engine: Engine,
    private readonly sessionId: () => string | undefined,
  ) {
    this.subscriptions = [
      vscode.window.onDidChangeActiveTextEditor(() => this.soon()),
      vscode.window.onDidChangeTextEditorSelection(() => this.soon()),
      vscode.languages.onDidChangeDiagnostics(() => this.soon()),
      vscode.workspace.onDidChangeConfiguration((event) => {
        if (event.affectsConfiguration("kova.context")) {
          this.soon();
        }
      }),
    ];
  }

  get chips(): readonly Chip[] {
    return [...this.byHand.values(), ...this.offered].map(({ id, kind, label, title, isAutomatic }) => ({
      id,
      kind,
      label,
      title,
      isAutomatic,
    }));
  }

  addSelection(editor: vscode.TextEditor): boolean {
    const isUnnamed = editor.document.uri.scheme === "untitled" && !placeOf(editor.document.uri);
    const held = isUnnamed ? unnamedOf(editor) : selectionOf(editor, false);
    if (held) {
      this.add(held);
    }
    return held !== undefined;
  }

  addFile(uri: vscode.Uri): void {
    this.add(fileOf({ type: "file", uri: (placeOf(uri) ?? uri).toString() }));
  }

  addProblems(document: vscode.TextDocument, only?: readonly vscode.Diagnostic[]): boolean {
    const held = problemsOf(document.uri, only ?? vscode.languages.getDiagnostics(document.uri), false);
    if (held) {
      this.add(held);
    }
    return held !== undefined;
  }

  /** Put on chips what came along with a prompt that was taken back. */
  giveBack(parts: readonly InputPart[]): void {
    for (const held of heldOf(parts)) {
      this.byHand.set(held.id, held);
    }
    this.changed.fire(this.chips);
  }

  remove(id: string): void {
    if (!this.byHand.delete(id)) {
      this.refused.add(id);
      this.offered = this.offered.filter((one) => one.id !== id);
    }
    this.changed.fire(this.chips);
  }

  /**
   * The parts of these chips, and what was left out and why. What was offered by itself is
   * judged once more: rules may have changed since it was shown.
   */
  async take(ids: readonly string[], sessionId: string): Promise<{ parts: InputPart[]; notices: string[] }> {
    const parts: InputPart[] = [];
    const notices: string[] = [];
    for (const held of [...this.byHand.values(), ...this.offered]) {
      if (!ids.includes(held.id)) {
        continue;
      }
      if (held.isAutomatic) {
        const objection = await this.objection(held.uri, sessionId);
        if (objection) {
          notices.push(vscode.l10n.t("{0} was not sent: {1}", held.label, objection));
          continue;
        }
      }
      parts.push(...held.parts);
    }
    this.byHand.clear();
    this.changed.fire(this.chips);
    return { parts, notices };
  }

  dispose(): void {
    clearTimeout(this.timer);
    vscode.Disposable.from(...this.subscriptions, this.changed).dispose();
  }

  private add(held: Held): void {
    this.byHand.set(held.id, held);
    this.changed.fire(this.chips);
  }

  private soon(): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => void this.offer(), QUIET_MS);
  }

  private async offer(): Promise<void> {
    const generation = ++this.generation;
    const settings = vscode.workspace.getConfiguration("kova.context");
    const editor = vscode.window.activeTextEditor;
    const candidates: Held[] = [];
    if (editor && placeOf(editor.document.uri)) {
      const selection = settings.get("selection", false) ? selectionOf(editor, true) : undefined;
      const problems = settings.get("diagnostics", false)
        ? problemsOf(editor.document.uri, vscode.languages.getDiagnostics(editor.document.uri), true)
        : undefined;
      candidates.push(...[selection, problems].filter((one) => one !== undefined));
    } else if (editor === undefined) {
      // The person is in the chat or a panel: what was offered stays.
      return;
    }
    const offers: Held[] = [];
    const sessionId = this.sessionId();
    for (const candidate of candidates) {
      const isWanted = !this.refused.has(candidate.id) && !this.byHand.has(candidate.id);
      if (isWanted && !(sessionId && (await this.objection(candidate.uri, sessionId)))) {
        offers.push(candidate);
      }
    }
    if (generation !== this.generation) {
      return;
    }
    const isSame = JSON.stringify(offers) === JSON.stringify(this.offered);
    this.offered = offers;
    if (!isSame) {
      this.changed.fire(this.chips);
    }
  }

  /** Why the engine would not read the file without asking; nothing when it would. */
  private async objection(uri: vscode.Uri, sessionId: string): Promise<string | undefined> {
    try {
      const verdict = await this.engine.request("kova/permission/explain", {
        sessionId,
        tool: "read",
        input: { path: uri.fsPath },
      });
      return verdict.decision === "allow"
        ? undefined
        : (verdict.reasons[0]?.text ?? vscode.l10n.t("reading it would ask first"));
    } catch (error) {
      return error instanceof Error ? error.message : String(error);
    }
  }
}
