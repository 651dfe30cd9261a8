/** The side-bar chat: hands events to its page and does what the page asks. */
import * as vscode from "vscode";
import type { Engine } from "./client";
import type { PromptContext } from "./context";
import type { Diffs } from "./diffs";
import type { DraftKeep } from "./draft_keep";
import { retaken } from "./drafts";
import { waitingCards } from "./head";
import { chosenPictures, findFiles, insertAtCursor, mentionOf, openLink } from "./gestures";
import { PAGE_COMMANDS } from "./messages";
import type { CardDeed, FromPage, PageOptions, ToPage } from "./messages";
import { dress, serve } from "./page";
import type { ActionHandlers } from "./page";
import type { Event, InputPart } from "./protocol.gen";
import type { Sessions } from "./sessions";

/** Events that come together go to the page as one message: one frame of the screen. */
const FRAME_MS = 16;

export class Chat implements vscode.WebviewViewProvider, vscode.Disposable {
  private view: vscode.WebviewView | undefined;
  private isPageReady = false;
  private readonly waiting: ToPage[] = [];
  private batch: Event[] = [];
  private timer: NodeJS.Timeout | undefined;
  private readonly subscriptions: vscode.Disposable[];

  constructor(
    private readonly extensionUri: vscode.Uri,
    private readonly drafts: DraftKeep,
    private readonly engine: Engine,
    private readonly sessions: Sessions,
    private readonly context: PromptContext,
    private readonly diffs: Diffs,
  ) {
    this.subscriptions = [
      vscode.window.registerWebviewViewProvider("kova.chat", this, {
        webviewOptions: { retainContextWhenHidden: true },
      }),
      engine.onDidChange((connection) => {
        this.post({ type: "connection", connection });
        if (connection.state === "ready") {
          void this.refresh();
        }
      }),
      sessions.onReplace((snapshot) => {
        this.batch = [];
        this.post({ type: "session", choices: sessions.choices, ...(snapshot ? { snapshot } : {}) });
        if (!snapshot) {
          void this.refresh();
        }
      }),
      sessions.onDidChangeHead(() => {
        this.post({ type: "choices", choices: sessions.choices });
        this.drawBadge();
      }),
      sessions.onEvent(({ event, head }) => {
        if (head.sessionId === sessions.current?.sessionId) {
          this.queue(event);
        }
        this.drawBadge();
      }),
      sessions.onTrouble((words) => this.say(words, true)),
      context.onDidChange((chips) => this.post({ type: "chips", chips })),
      vscode.workspace.onDidChangeConfiguration((event) => {
        if (event.affectsConfiguration("kova")) {
          this.post({ type: "options", options: pageOptions() });
        }
      }),
    ];
  }

  resolveWebviewView(view: vscode.WebviewView): void {
    this.view = view;
    this.isPageReady = false;
    view.onDidDispose(() => {
      this.view = undefined;
      this.isPageReady = false;
    });
    view.webview.onDidReceiveMessage((message: FromPage) => {
      if (message.type === "ready") {
        this.pageReady();
      } else {
        void serve(view.webview, this.engine, this.actions, message);
      }
    });
    dress(view.webview, this.extensionUri, "chat", "Kova", pageOptions());
    this.drawBadge();
  }

  /** Show the chat and put the keyboard there. */
  async focus(target: "input" | "card"): Promise<void> {
    await vscode.commands.executeCommand("kova.chat.focus");
    this.post({ type: "focus", target });
  }

  /** Answer the card on show, by the same conditions as its buttons. */
  async decide(decision: CardDeed): Promise<void> {
    await vscode.commands.executeCommand("kova.chat.focus");
    this.post({ type: "decide", decision });
  }

  async attach(uris: readonly vscode.Uri[]): Promise<void> {
    const { pictures, refused } = await chosenPictures(uris, pageOptions().maxPictureBytes);
    this.post({ type: "pictures", pictures });
    for (const words of refused) {
      this.say(words, true);
    }
  }

  say(text: string, isProblem = false): void {
    this.post({ type: "say", text, isProblem });
  }

  /** Begin a turn with these parts. */
  async begin(input: readonly InputPart[], whenBusy: "queue" | "steer" = "queue") {
    const { sessionId } = await this.sessions.ensure();
    return this.engine.request("kova/turn/start", { sessionId, input: [...input], whenBusy });
  }

  async stop(scope: "turn" | "turnAndTasks"): Promise<string> {
    const head = this.sessions.current;
    if (!head || (head.state === "idle" && head.goal?.status !== "active")) {
      return vscode.l10n.t("Nothing was running.");
    }
    const { stopped, stillRunning } = await this.engine.request("kova/turn/interrupt", {
      sessionId: head.sessionId,
      scope,
      ...(head.turnId ? { expectedTurnId: head.turnId } : {}),
    });
    const said = stopped.length > 0 ? vscode.l10n.t("Stopped: {0}", stopped.join(", ")) : vscode.l10n.t("Nothing was running.");
    return stillRunning?.length
      ? `${said} ${vscode.l10n.t("Still running: {0}", stillRunning.join(", "))}`
      : said;
  }

  dispose(): void {
    clearTimeout(this.timer);
    vscode.Disposable.from(...this.subscriptions).dispose();
  }

  private readonly actions: ActionHandlers = {
    send: async ({ text, mentions, attachments: refs, chips, whenBusy }) => {
      const attachments = this.drafts.resolve(refs);
      const { sessionId } = await this.sessions.ensure();
      const { parts, notices } = await this.context.take(chips, sessionId);
      const input: InputPart[] = [
        ...(text.trim() ? [{ type: "text", text } as const] : []),
        ...attachments.pasted.map((pasted) => ({ type: "text", text: pasted.text }) as const),
        ...mentions.map(({ uri }) => ({ type: "file", uri }) as const),
        ...parts,
        ...attachments.pictures.map(({ data, mimeType }) => ({ type: "image", data, mimeType }) as const),
      ];
      const { status } = await this.begin(input, whenBusy);
      await this.drafts.sent(text, refs);
      return { status, notices };
    },
    sendAgain: async ({ input }) => {
      const { status } = await this.begin(input);
      return { status };
    },
    configure: async (wish) => {
      await this.sessions.configure(wish);
      return null;
    },
    cycleLevel: async () => {
      await this.sessions.cycleLevel();
      return null;
    },
    interrupt: async ({ scope }) => ({ said: await this.stop(scope) }),
    saveDraft: async (draft) => {
      await this.drafts.save(draft);
      return null;
    },
    keepPiece: async (piece) => {
      await this.drafts.take(piece);
      return null;
    },
    saveAttachments: async (refs) => {
      await this.drafts.refer(refs);
      return null;
    },
    takeBack: ({ promptId }) => this.takeBack(promptId),
    findFiles: ({ query }) => findFiles(query),
    mentionOf: ({ uri }) => Promise.resolve(mentionOf(vscode.Uri.parse(uri)) ?? null),
    removeChip: ({ id }) => {
      this.context.remove(id);
      return Promise.resolve(null);
    },
    pickPictures: async () => {
      await vscode.commands.executeCommand("kova.attachImage");
      return null;
    },
    openSession: async ({ sessionId }) => {
      await this.sessions.open(sessionId);
      return null;
    },
    openDiff: async ({ approvalId, uri }) => {
      const approval = this.sessions.current?.approvals.find((one) => one.approvalId === approvalId);
      const file =
        approval?.subject.type === "edit" ? approval.subject.files.find((one) => one.uri === uri) : undefined;
      if (!approval || !file) {
        throw new Error(vscode.l10n.t("This card is no longer open."));
      }
      await this.diffs.open(approval, file);
      return null;
    },
    openLink: async ({ href }) => {
      await openLink(href);
      return null;
    },
    openOutput: async ({ outputRef, title }) => {
      await this.diffs.openOutput(outputRef, title);
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
    runCommand: async ({ command }) => {
      if (!(PAGE_COMMANDS as readonly string[]).includes(command)) {
        throw new Error(`a page may not run ${JSON.stringify(command)}`);
      }
      await vscode.commands.executeCommand(command);
      return null;
    },
    install: async ({ command }) => {
      await vscode.commands.executeCommand("kova.installServer", command);
      return null;
    },
    refresh: async () => {
      await this.refresh();
      return null;
    },
  };

  /** A prompt that waits becomes a part of the draft again, to be changed or dropped. */
  private async takeBack(promptId: string) {
    const sessionId = this.sessions.current?.sessionId ?? "";
    const { input } = await this.engine.request("kova/turn/withdraw", { sessionId, promptId });
    const taken = retaken(input, (uri) => mentionOf(vscode.Uri.parse(uri))?.path);
    this.context.giveBack(taken.others);
    return { draft: taken.draft, attachments: await this.drafts.add(taken.draft, taken.pictures, taken.pasted) };
  }

  /** Models and conversations, for the pickers and the empty page. */
  private async refresh(): Promise<void> {
    if (!this.engine.isReady) {
      return;
    }
    try {
      const sessionId = this.sessions.current?.sessionId;
      const models = await this.engine.request("kova/model/list", sessionId ? { sessionId } : {});
      this.sessions.setDefaultModel(models.default);
      this.post({ type: "models", models });
      this.post({ type: "choices", choices: this.sessions.choices });
      this.post({ type: "sessions", sessions: await this.sessions.list() });
    } catch (error) {
      this.engine.log.warn(`models and conversations cannot be listed: ${String(error)}`);
    }
  }

  private pageReady(): void {
    this.isPageReady = true;
    this.post({ type: "connection", connection: this.engine.connection });
    this.post({
      type: "draft",
      draft: this.drafts.draft,
      attachments: this.drafts.attachments,
    });
    this.post({ type: "chips", chips: this.context.chips });
    void this.refresh();
    void this.sessions.showAgain().then(() => {
      this.waiting.splice(0).forEach((message) => this.post(message));
    });
  }

  private queue(event: Event): void {
    this.batch.push(event);
    this.timer ??= setTimeout(() => {
      this.timer = undefined;
      this.flush();
    }, FRAME_MS);
  }

  private flush(): void {
    if (this.batch.length > 0) {
      const events = this.batch;
      this.batch = [];
      this.deliver({ type: "events", events });
    }
  }

  private post(message: ToPage): void {
    this.flush();
    this.deliver(message);
  }

  private deliver(message: ToPage): void {
    if (this.view && this.isPageReady) {
      void this.view.webview.postMessage(message);
    } else if (message.type === "focus" || message.type === "decide" || message.type === "pictures") {
      // The view is only being made: what was asked of it happens once its page is there.
      this.waiting.push(message);
    }
  }

  private drawBadge(): void {
    const value = this.sessions.all.reduce((sum, head) => sum + waitingCards(head), 0);
    if (this.view) {
      this.view.badge = value > 0 ? { value, tooltip: vscode.l10n.t("Kova waits for you") } : undefined;
      this.view.description = this.sessions.current?.title ?? "";
    }
  }
}

export function pageOptions(): PageOptions {
  const settings = vscode.workspace.getConfiguration("kova");
  return {
    whenBusy: settings.get<"queue" | "steer">("chat.whenBusy", "queue"),
    shiftTabCycles: settings.get("chat.shiftTab", true),
    maxPictureBytes: settings.get("attachments.maxMegabytes", 5) * 1024 * 1024,
  };
}
