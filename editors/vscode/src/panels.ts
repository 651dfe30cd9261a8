/** Panels beside the editor: the loop view, the changes view, and what the engine asks to show. */
import * as vscode from "vscode";
import type { Engine } from "./client";
import { besideColumn, showBeside } from "./beside";
import { insertAtCursor, openLink } from "./gestures";
import type { FromPage, ToPage } from "./messages";
import { dress, serve } from "./page";
import type { ActionHandlers } from "./page";
import type { PanelOpen } from "./protocol.gen";
import type { Sessions } from "./sessions";

type View = "loop" | "changes" | "markdown";

interface Shown {
  readonly panel: vscode.WebviewPanel;
  content: ToPage | undefined;
  isPageReady: boolean;
}

export class Panels implements vscode.Disposable {
  private readonly shown = new Map<string, Shown>();
  private readonly subscriptions: vscode.Disposable[];
  private timer: NodeJS.Timeout | undefined;

  constructor(
    private readonly extensionUri: vscode.Uri,
    private readonly engine: Engine,
    private readonly sessions: Sessions,
  ) {
    engine.hear("kova/panel/open", (asked) => void this.openAsked(asked));
    this.subscriptions = [
      sessions.onEvent(({ event, head }) => {
        const concerns = head.sessionId === sessions.current?.sessionId;
        if (concerns && /^(step|turn|changes)\.|^item\.completed$/.test(event.type)) {
          this.refreshSoon();
        }
      }),
      sessions.onReplace(() => this.refreshSoon()),
    ];
  }

  async showLoop(): Promise<void> {
    this.show("loop", "loop", vscode.l10n.t("Kova: loop view"), false);
    await this.refreshLoop();
  }

  async showChanges(): Promise<void> {
    this.show("changes", "changes", vscode.l10n.t("Kova: changes"), false);
    await this.refreshChanges();
  }

  dispose(): void {
    clearTimeout(this.timer);
    vscode.Disposable.from(...this.subscriptions, ...[...this.shown.values()].map((one) => one.panel)).dispose();
  }

  /** What the agent wants seen: beside, and the keyboard stays where it is. */
  private async openAsked(asked: PanelOpen): Promise<void> {
    const keepsFocus = asked.preserveFocus !== false;
    switch (asked.kind) {
      case "file": {
        const line = asked.line ?? 0;
        if (asked.uri) {
          const range = asked.line === undefined ? undefined : new vscode.Range(line, 0, line, 0);
          await showBeside(vscode.Uri.parse(asked.uri), range, !keepsFocus);
        }
        return;
      }
      case "loop":
        this.show("loop", "loop", asked.title, keepsFocus);
        await this.refreshLoop();
        return;
      case "markdown":
      case "plan":
      case "diff": {
        const key = `asked:${asked.panelId}`;
        this.show(key, "markdown", asked.title, keepsFocus);
        this.fill(key, { type: "markdown", title: asked.title, markdown: markdownOf(asked) });
        return;
      }
      default:
        this.engine.log.warn(`a panel of kind ${JSON.stringify(asked.kind)} cannot be shown`);
    }
  }

  private show(key: string, view: View, title: string, keepsFocus: boolean): void {
    const known = this.shown.get(key);
    if (known) {
      known.panel.title = title;
      known.panel.reveal(undefined, keepsFocus);
      return;
    }
    const panel = vscode.window.createWebviewPanel(
      `kova.${view}`,
      title,
      { viewColumn: besideColumn(), preserveFocus: keepsFocus },
      { retainContextWhenHidden: true, enableFindWidget: true },
    );
    panel.iconPath = {
      light: vscode.Uri.joinPath(this.extensionUri, "media", "kova.svg"),
      dark: vscode.Uri.joinPath(this.extensionUri, "media", "kova-dark.svg"),
    };
    const shown: Shown = { panel, content: undefined, isPageReady: false };
    this.shown.set(key, shown);
    panel.onDidDispose(() => this.shown.delete(key));
    panel.webview.onDidReceiveMessage((message: FromPage) => {
      if (message.type === "ready") {
        shown.isPageReady = true;
        if (shown.content) {
          void panel.webview.postMessage(shown.content);
        }
      } else {
        void serve(panel.webview, this.engine, ACTIONS, message).then(() => this.refreshSoon());
      }
    });
    dress(panel.webview, this.extensionUri, view, title);
  }

  private fill(key: string, content: ToPage): void {
    const shown = this.shown.get(key);
    if (shown) {
      shown.content = content;
      if (shown.isPageReady) {
        void shown.panel.webview.postMessage(content);
      }
    }
  }

  private refreshSoon(): void {
    this.timer ??= setTimeout(() => {
      this.timer = undefined;
      void this.refreshLoop();
      void this.refreshChanges();
    }, 200);
  }

  private async refreshLoop(): Promise<void> {
    const head = this.sessions.current;
    if (!this.shown.has("loop")) {
      return;
    }
    try {
      const loop = head ? await this.engine.request("kova/loop/read", { sessionId: head.sessionId }) : undefined;
      this.fill("loop", { type: "loop", ...(loop ? { loop } : {}) });
    } catch (error) {
      this.fill("loop", { type: "loop", problem: error instanceof Error ? error.message : String(error) });
    }
  }

  private async refreshChanges(): Promise<void> {
    const head = this.sessions.current;
    if (!this.shown.has("changes")) {
      return;
    }
    try {
      const changes = head
        ? (await this.engine.request("kova/changes/list", { sessionId: head.sessionId })).changes
        : [];
      this.fill("changes", { type: "changes", sessionId: head?.sessionId ?? "", changes, refused: [] });
    } catch (error) {
      const problem = error instanceof Error ? error.message : String(error);
      this.fill("changes", { type: "changes", sessionId: head?.sessionId ?? "", changes: [], refused: [problem] });
    }
  }
}

const ACTIONS: ActionHandlers = {
  openHunk: async ({ uri, line }) => {
    await showBeside(vscode.Uri.parse(uri), new vscode.Range(line, 0, line, 0), false);
    return null;
  },
  openLink: async ({ href }) => {
    await openLink(href);
    return null;
  },
  copy: async ({ text }) => {
    await vscode.env.clipboard.writeText(text);
    return null;
  },
  insert: async ({ text, language }) => {
    await insertAtCursor(text, language);
    return null;
  },
};

function markdownOf(asked: PanelOpen): string {
  if (asked.markdown !== undefined) {
    return asked.markdown;
  }
  const { data } = asked;
  const diff = typeof data === "object" && data !== null && "diff" in data ? data.diff : data;
  const isText = typeof diff === "string";
  const body = isText ? diff : JSON.stringify(data, undefined, 2);
  const fence = "`".repeat(Math.max(3, ...[...body.matchAll(/`+/g)].map((run) => run[0].length + 1)));
  return `${fence}${isText ? "diff" : "json"}\n${body}\n${fence}`;
}
