/** What is seen without the chat: the status bar, the badge, and notifications. */
import * as vscode from "vscode";
import type { Engine } from "./client";
import { waitingCards } from "./head";
import type { Head } from "./head";
import { noticeOf } from "./notice";
import type { Notice } from "./notice";
import type { SessionEvent, Sessions } from "./sessions";

export class Status implements vscode.Disposable {
  private readonly item = vscode.window.createStatusBarItem("kova.status", vscode.StatusBarAlignment.Right, 90);
  private readonly subscriptions: { dispose(): unknown }[];

  constructor(
    private readonly engine: Engine,
    private readonly sessions: Sessions,
    private readonly showCard: (sessionId: string) => Promise<void>,
  ) {
    this.item.name = "Kova";
    this.subscriptions = [
      this.item,
      engine.onDidChange(() => this.draw()),
      sessions.onDidChangeHead(() => this.draw()),
      sessions.onEvent((happened) => this.tell(happened)),
    ];
    this.draw();
    this.item.show();
  }

  dispose(): void {
    vscode.Disposable.from(...this.subscriptions).dispose();
  }

  private draw(): void {
    const head = this.sessions.current;
    const { mode, level } = this.sessions.choices;
    const waiting = this.sessions.all.reduce((sum, one) => sum + waitingCards(one), 0);
    const { icon, words } = this.face(head, waiting);
    const settings = this.engine.isReady ? [mode, level] : [];
    this.item.text = `$(${icon}) Kova: ${[words, ...settings].join(" · ")}`;
    this.item.command = waiting > 0 ? "kova.showCard" : "kova.open";
    this.item.tooltip = this.tooltip(head, waiting);
    this.item.accessibilityInformation = { label: `Kova: ${[words, ...settings].join(", ")}` };
    this.item.backgroundColor =
      waiting > 0 ? new vscode.ThemeColor("statusBarItem.warningBackground") : undefined;
    void vscode.commands.executeCommand("setContext", "kova.waiting", waiting > 0);
    void vscode.commands.executeCommand("setContext", "kova.running", head ? head.state !== "idle" : false);
    void vscode.commands.executeCommand("setContext", "kova.hasSession", head !== undefined);
  }

  private face(head: Head | undefined, waiting: number): { icon: string; words: string } {
    switch (this.engine.connection.state) {
      case "starting":
        return { icon: "sync~spin", words: vscode.l10n.t("connecting") };
      case "missing":
        return { icon: "cloud-download", words: vscode.l10n.t("not installed") };
      case "failed":
        return { icon: "error", words: vscode.l10n.t("did not start") };
      case "lost":
        return { icon: "debug-disconnect", words: vscode.l10n.t("connection lost") };
      case "noFolder":
        return { icon: "folder", words: vscode.l10n.t("no folder") };
      case "ready":
        if (waiting > 0) {
          return { icon: "bell-dot", words: vscode.l10n.t("waits for you") };
        }
        return head?.state === "running"
          ? { icon: "loading~spin", words: vscode.l10n.t("working") }
          : { icon: "comment-discussion", words: vscode.l10n.t("idle") };
    }
  }

  private tooltip(head: Head | undefined, waiting: number): string {
    const lines = [head?.title ?? vscode.l10n.t("No conversation yet")];
    const card = head?.approvals[0]?.title ?? head?.questions[0]?.questions[0]?.question;
    if (card) {
      lines.push(vscode.l10n.t("Waits for you: {0}", card));
    } else if (waiting > 0) {
      lines.push(vscode.l10n.t("Another conversation waits for you"));
    }
    if (head?.model) {
      lines.push(vscode.l10n.t("Model: {0}", head.model));
    }
    return lines.join("\n");
  }

  private tell({ event, head }: SessionEvent): void {
    if (event.type === "turn.suspended" || event.type === "approval.requested" || event.type === "question.requested") {
      this.draw();
    }
    const isAway = !vscode.window.state.focused;
    const isWanted = vscode.workspace.getConfiguration("kova").get("notifications") !== "never";
    if (!isAway || !isWanted) {
      return;
    }
    const notice = noticeOf(event, head);
    if (notice) {
      void this.notify(wordsOf(notice), head.sessionId);
    }
  }

  private async notify(words: string, sessionId: string): Promise<void> {
    const show = vscode.l10n.t("Show");
    if ((await vscode.window.showInformationMessage(words, show)) === show) {
      await this.showCard(sessionId);
    }
  }
}

function wordsOf({ kind, subject }: Notice): string {
  switch (kind) {
    case "waits":
      return vscode.l10n.t("Kova waits for you: {0}", subject);
    case "failed":
      return vscode.l10n.t("Kova could not finish: {0}", subject);
    case "done":
      return vscode.l10n.t("Kova is done: {0}", subject);
  }
}
