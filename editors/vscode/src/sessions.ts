/**
 * The conversation on show and those that go on behind it.
 *
 * Invariant: the engine's events are the only source of a head; nothing is assumed from a click.
 */
import * as vscode from "vscode";
import type { Engine } from "./client";
import { advance, headOf } from "./head";
import type { Head } from "./head";
import type { Keep } from "./keep";
import type { Choices } from "./messages";
import { ErrorCodes } from "./protocol.gen";
import type { Event, SessionSnapshot, SessionSummary } from "./protocol.gen";

const CURRENT = "session";

export interface SessionEvent {
  readonly event: Event;
  readonly before: Head;
  readonly head: Head;
}

export class Sessions implements vscode.Disposable {
  private readonly heads = new Map<string, Head>();
  private currentId: string | undefined;
  private wished: Partial<Choices> = {};
  private defaultModel: string | undefined;
  private opening: Promise<unknown> = Promise.resolve();
  private readonly headChanged = new vscode.EventEmitter<Head | undefined>();
  private readonly happened = new vscode.EventEmitter<SessionEvent>();
  private readonly replaced = new vscode.EventEmitter<SessionSnapshot | undefined>();
  private readonly troubled = new vscode.EventEmitter<string>();
  /** Something that was not asked for just now failed; says what to do. */
  readonly onTrouble = this.troubled.event;
  /** The head on show is another or has changed. */
  readonly onDidChangeHead = this.headChanged.event;
  /** An event of any followed session. */
  readonly onEvent = this.happened.event;
  /** The page must show this from scratch; nothing = a conversation that has not begun. */
  readonly onReplace = this.replaced.event;

  constructor(
    private readonly engine: Engine,
    private readonly keep: Keep,
  ) {
    engine.hear("kova/event", (event) => this.take(event));
    engine.hear("kova/resyncRequired", ({ sessionId }) => void this.catchUp(sessionId));
    engine.onDidChange(({ state: now }) => {
      if (now === "ready") {
        void this.connected();
      }
    });
  }

  get current(): Head | undefined {
    return this.currentId ? this.heads.get(this.currentId) : undefined;
  }

  get all(): readonly Head[] {
    return [...this.heads.values()];
  }

  /** What holds for the conversation on show, or will hold once it begins. */
  get choices(): Choices {
    const head = this.current;
    if (head) {
      return { mode: head.mode, level: head.level, model: head.model };
    }
    return {
      mode: this.wished.mode ?? "agent",
      level: this.wished.level ?? (vscode.workspace.isTrusted ? "workspace-write" : "ask"),
      model: this.wished.model ?? this.defaultModel,
    };
  }

  setDefaultModel(name: string | undefined): void {
    this.defaultModel = name;
  }

  /** Show another conversation. What runs in the old one goes on and is still followed. */
  async open(sessionId: string): Promise<void> {
    await this.inOrder(async () => {
      await this.leave();
      await this.attach(sessionId);
    });
  }

  /** Show an empty page; the session is made with the first prompt. */
  async startNew(): Promise<void> {
    await this.inOrder(async () => {
      await this.leave();
      this.wished = {};
      this.show(undefined);
    });
  }

  /** The session on show, made if it has not begun. */
  async ensure(): Promise<Head> {
    return this.inOrder(async () => {
      const head = this.current;
      if (head) {
        return head;
      }
      const { mode, level, model } = this.choices;
      const snapshot = await this.engine.request("kova/session/create", {
        mode,
        level,
        ...(model && this.wished.model ? { model } : {}),
      });
      this.heads.set(snapshot.sessionId, headOf(snapshot));
      this.show(snapshot);
      return headOf(snapshot);
    });
  }

  async configure(wish: Partial<Choices>): Promise<void> {
    const head = this.current;
    if (head) {
      const { mode, level, model } = wish;
      await this.engine.request("kova/session/configure", {
        sessionId: head.sessionId,
        ...(mode ? { mode } : {}),
        ...(level ? { level } : {}),
        ...(model ? { model } : {}),
      });
    } else {
      this.wished = { ...this.wished, ...wish };
      this.headChanged.fire(undefined);
    }
  }

  async cycleLevel(): Promise<void> {
    const head = this.current;
    if (head) {
      await this.engine.request("kova/session/cycleLevel", { sessionId: head.sessionId });
    } else {
      const { levels } = this.engine.connection;
      const at = levels.indexOf(this.choices.level);
      const level = levels[(at + 1) % levels.length];
      await this.configure(level ? { level } : {});
    }
  }

  async list(): Promise<readonly SessionSummary[]> {
    const workspace = vscode.workspace.workspaceFolders?.[0]?.uri.toString();
    const { sessions } = await this.engine.request("kova/session/list", {
      ...(workspace ? { workspace } : {}),
      limit: 50,
    });
    return sessions;
  }

  /** Forget a session that was archived or deleted. */
  async forget(sessionId: string): Promise<void> {
    this.heads.delete(sessionId);
    if (this.currentId === sessionId) {
      await this.startNew();
    }
  }

  /** A whole snapshot of what is on show, for a page that lost its own. */
  async showAgain(): Promise<void> {
    await this.inOrder(async () => {
      if (this.currentId && this.engine.isReady) {
        await this.attach(this.currentId);
      } else if (!this.currentId) {
        this.replaced.fire(undefined);
      }
    });
  }

  dispose(): void {
    this.headChanged.dispose();
    this.happened.dispose();
    this.replaced.dispose();
    this.troubled.dispose();
  }

  private async connected(): Promise<void> {
    await this.inOrder(async () => {
      const kept = this.keep.get(CURRENT);
      const known = this.currentId ?? (typeof kept === "string" ? kept : undefined);
      const others = this.all.filter((head) => head.sessionId !== known && head.state !== "idle");
      this.heads.clear();
      if (known) {
        try {
          await this.attach(known);
        } catch (error) {
          this.cannotShow(known, error);
        }
      } else {
        this.show(undefined);
      }
      for (const { sessionId } of others) {
        await this.follow(sessionId).catch(() => undefined);
      }
    });
  }

  /** A conversation that is gone is forgotten; one that cannot be had now is there next time. */
  private cannotShow(sessionId: string, error: unknown): void {
    const words = error instanceof Error ? error.message : String(error);
    this.engine.log.warn(`the conversation ${sessionId} cannot be shown: ${words}`);
    const { code } = error as { code?: unknown };
    if (code === ErrorCodes.sessionNotFound) {
      this.show(undefined);
    } else {
      this.currentId = undefined;
      this.replaced.fire(undefined);
      this.headChanged.fire(undefined);
      this.troubled.fire(words);
    }
  }

  private async attach(sessionId: string): Promise<void> {
    const { snapshot } = await this.engine.request("kova/session/attach", { sessionId });
    this.heads.set(sessionId, headOf(snapshot));
    this.show(snapshot);
  }

  private async follow(sessionId: string): Promise<void> {
    const { snapshot } = await this.engine.request("kova/session/attach", {
      sessionId,
      detail: "turns",
    });
    this.heads.set(sessionId, headOf(snapshot));
  }

  /** After lost deltas: the events since the cursor, in pages. */
  private async catchUp(sessionId: string): Promise<void> {
    for (let hasMore = true; hasMore; ) {
      const head = this.heads.get(sessionId);
      if (!head) {
        return;
      }
      const result = await this.engine.request("kova/session/attach", {
        sessionId,
        cursor: head.cursor,
      });
      if (result.reset) {
        this.heads.set(sessionId, headOf(result.snapshot));
        if (sessionId === this.currentId) {
          this.show(result.snapshot);
        }
        return;
      }
      result.events.forEach((event) => this.take(event));
      hasMore = result.more === true && result.events.length > 0;
    }
  }

  /** Leave the one on show: follow it from afar while it runs, else no longer. */
  private async leave(): Promise<void> {
    const head = this.current;
    this.currentId = undefined;
    if (!head || !this.engine.isReady) {
      return;
    }
    if (head.state === "idle") {
      this.heads.delete(head.sessionId);
      await this.engine.request("kova/session/detach", { sessionId: head.sessionId });
    } else {
      await this.follow(head.sessionId);
    }
  }

  private show(snapshot: SessionSnapshot | undefined): void {
    this.currentId = snapshot?.sessionId;
    void this.keep.set(CURRENT, this.currentId);
    this.replaced.fire(snapshot);
    this.headChanged.fire(this.current);
  }

  private take(event: Event): void {
    const before = this.heads.get(event.sessionId);
    if (!before) {
      return;
    }
    const isOld =
      event.seq !== undefined &&
      event.epoch === before.cursor.epoch &&
      event.seq <= before.cursor.seq;
    if (isOld) {
      return;
    }
    const head = advance(before, event);
    if (head !== before) {
      this.heads.set(event.sessionId, head);
    }
    this.happened.fire({ event, before, head });
    if (head !== before && event.sessionId === this.currentId) {
      this.headChanged.fire(head);
    }
  }

  private inOrder<T>(work: () => Promise<T>): Promise<T> {
    const result = this.opening.then(work, work);
    this.opening = result.catch(() => undefined);
    return result;
  }
}
