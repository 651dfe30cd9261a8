/**
 * The connection to the engine: finds the relay, starts it, speaks LSP and kova/* through it.
 *
 * Invariant: owns the only LanguageClient; every other module asks through `Engine.request`.
 */
import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { accessSync, constants, statSync } from "node:fs";
import { homedir } from "node:os";
import * as path from "node:path";
import { createInterface } from "node:readline";
import { setTimeout } from "node:timers/promises";
import * as vscode from "vscode";
import { CloseAction, ErrorAction, LanguageClient, RevealOutputChannelOn } from "vscode-languageclient/node";
import type { Middleware } from "vscode-languageclient/node";
import type { Keep } from "./keep";
import { OWN_NAME } from "./messages";
import type { Connection } from "./messages";
import type {
  ApprovalLevel,
  InitializationOptions,
  Mode,
  Notifications,
  Requests,
  ServerIdentity,
} from "./protocol.gen";
import { PROTOCOL_VERSION } from "./protocol.gen";
import { SYNCED } from "./places";
import { findInstallers, findServer } from "./server";
import type { Surroundings } from "./server";

const MODES: readonly Mode[] = ["agent", "plan", "ask", "goal"];
const LEVELS: readonly ApprovalLevel[] = ["ask", "workspace-write", "auto-edit", "auto"];
const PANEL_KINDS = ["loop", "plan", "markdown", "diff", "file"];
/** Deltas of this time arrive together: two frames of the screen. */
const MAX_LATENCY_MS = 32;
const MOST_LOSSES = 4;
const LOSSES_MS = 180_000;
/** The relay itself gives up sooner, and says why. */
const PATIENCE_MS = 45_000;
/** Lines of what a program that does not start had to say. */
const MOST_LAST_WORDS = 8;
const LAST_WORDS_MS = 1000;
const SOURCES = { setting: "kova.server.path", path: "PATH", home: "~/.local/bin" } as const;

type Handler<M extends keyof Requests> = (
  params: Requests[M]["params"],
) => Promise<Requests[M]["result"]>;
type Listener<M extends keyof Notifications> = (params: Notifications[M]) => void;

export class Engine implements vscode.Disposable {
  readonly log = vscode.window.createOutputChannel("Kova", { log: true });
  private client: LanguageClient | undefined;
  private identity: ServerIdentity | undefined;
  private starting: Promise<void> = Promise.resolve();
  private generation = 0;
  private restarts = 0;
  /** Ends the waiting for a program that may never answer. */
  private impatience = new AbortController();
  /** When the connection was lost in the last minutes. */
  private losses: number[] = [];
  private readonly changed = new vscode.EventEmitter<Connection>();
  private readonly handlers: ((client: LanguageClient) => void)[] = [];
  readonly onDidChange = this.changed.event;
  connection: Connection;

  constructor(
    private readonly context: vscode.ExtensionContext,
    private readonly keep: Keep,
    private readonly middleware: Middleware,
  ) {
    this.connection = this.stateOf("starting");
  }

  get isReady(): boolean {
    return this.connection.state === "ready";
  }

  /** Answer a request of the engine; before `start`. */
  answer<M extends keyof Requests>(method: M, handler: Handler<M>): void {
    this.handlers.push((client) => client.onRequest(method, handler));
  }

  /** Hear a notification of the engine; before `start`. */
  hear<M extends keyof Notifications>(method: M, listener: Listener<M>): void {
    this.handlers.push((client) => client.onNotification(method, listener));
  }

  /** Ask the engine. Rejects with the engine's own message, which says what to do. */
  async request<M extends keyof Requests>(
    method: M,
    params: Requests[M]["params"],
  ): Promise<Requests[M]["result"]> {
    if (!this.client || !this.isReady) {
      throw new Error(vscode.l10n.t("Kova is not connected. Wait a moment, or run \"Kova: Restart the Connection\"."));
    }
    return this.client.sendRequest<Requests[M]["result"]>(method, params);
  }

  tell<M extends keyof Notifications>(method: M, params: Notifications[M]): void {
    if (this.client && this.isReady) {
      void this.client.sendNotification(method, params);
    }
  }

  /** The language client's own conversion of edits. */
  get converter(): LanguageClient["protocol2CodeConverter"] | undefined {
    return this.client?.protocol2CodeConverter;
  }

  /** What there is to look for the server and to install it. */
  surroundings(): Surroundings {
    return {
      configured: vscode.workspace.getConfiguration("kova").get("server.path", ""),
      env: process.env,
      home: homedir(),
      platform: process.platform,
      carried: path.join(this.context.extensionPath, "dist", "server"),
      isProgram,
    };
  }

  start(): Promise<void> {
    this.starting = this.starting.then(() => this.startNow());
    return this.starting;
  }

  restart(): Promise<void> {
    const restart = ++this.restarts;
    this.generation += 1;
    this.impatience.abort();
    this.starting = this.starting.then(async () => {
      await this.stopNow();
      if (restart === this.restarts) {
        await this.startNow();
      }
    });
    return this.starting;
  }

  async dispose(): Promise<void> {
    await this.stopNow();
    this.changed.dispose();
    this.log.dispose();
  }

  private async startNow(): Promise<void> {
    const generation = ++this.generation;
    if (!vscode.workspace.workspaceFolders?.length) {
      this.become("noFolder");
      return;
    }
    const surroundings = this.surroundings();
    const found = findServer(surroundings);
    if (!found) {
      this.log.warn("kova-ls was not found");
      if (surroundings.configured) {
        this.become("failed", vscode.l10n.t("The setting kova.server.path names {0}, which is no program. Correct it, or empty it so that the program is looked for.", surroundings.configured));
      } else {
        this.become("missing", undefined, findInstallers(surroundings));
      }
      return;
    }
    this.log.info(`starting ${found.command} (found by ${found.source})`);
    this.become("starting");
    const extra = vscode.workspace.getConfiguration("kova").get<string[]>("server.arguments", []);
    const isPresent = () => generation === this.generation;
    this.impatience = new AbortController();
    const lastWords: string[] = [];
    let hasSpoken: Promise<unknown> = Promise.resolve();
    const client = new QuietClient(
      "kova",
      "Kova",
      { command: found.command, args: extra, options: { cwd: homedir() } },
      {
        documentSelector: SYNCED,
        outputChannel: this.log,
        revealOutputChannelOn: RevealOutputChannelOn.Never,
        initializationOptions: () => ({ kova: this.introduction() }),
        initializationFailedHandler: () => false,
        stdioOptions: {
          stdout: () => undefined,
          stderr: (input) => {
            const lines = createInterface({ input }).on("line", (line) => {
              this.log.error(line);
              lastWords.splice(0, lastWords.length + 1 - MOST_LAST_WORDS);
              lastWords.push(line);
            });
            hasSpoken = once(lines, "close");
          },
        },
        errorHandler: {
          error: () => ({ action: ErrorAction.Continue, handled: true }),
          closed: () => {
            if (isPresent() && this.isReady) {
              this.lose();
            }
            return { action: CloseAction.DoNotRestart, handled: true };
          },
        },
        markdown: { isTrusted: false },
        middleware: this.middleware,
      },
    );
    for (const register of this.handlers) {
      register(client);
    }
    this.client = client;
    try {
      await withinTime(client.start(), this.impatience.signal);
      if (isPresent()) {
        this.identity = identityOf(client);
        this.become("ready");
      }
    } catch (error) {
      if (!isPresent()) {
        return;
      }
      this.log.error(error instanceof Error ? error : String(error));
      // A broken pipe is seen before the words that explain it.
      await Promise.race([hasSpoken, setTimeout(LAST_WORDS_MS)]);
      const said = lastWords.join("\n") || (error instanceof Error ? error.message : String(error));
      if (isPresent()) {
        this.become("failed", `${found.command} (${SOURCES[found.source]}):\n${said}`);
      }
    }
  }

  /** The connection ended by itself: connect again, unless that happens over and over. */
  private lose(): void {
    const now = Date.now();
    this.losses = [...this.losses.filter((at) => now - at < LOSSES_MS), now];
    if (this.losses.length > MOST_LOSSES) {
      this.losses = [];
      this.become("failed", vscode.l10n.t("The connection ended again and again. The log says more."));
    } else {
      this.become("lost");
      void this.restart();
    }
  }

  private async stopNow(): Promise<void> {
    this.generation += 1;
    const client = this.client;
    this.client = undefined;
    if (client) {
      try {
        await client.dispose(2000);
      } catch (error) {
        this.log.warn(`the connection did not end well: ${String(error)}`);
      }
    }
  }

  private become(
    state: Connection["state"],
    problem?: string,
    installers: Connection["installers"] = [],
  ): void {
    this.connection = { ...this.stateOf(state), ...(problem ? { problem } : {}), installers };
    void vscode.commands.executeCommand("setContext", "kova.ready", state === "ready");
    this.changed.fire(this.connection);
  }

  private stateOf(state: Connection["state"]): Connection {
    return {
      state,
      modes: this.identity?.modes ?? MODES,
      levels: this.identity?.levels ?? LEVELS,
      isTrusted: vscode.workspace.isTrusted,
    };
  }

  private introduction(): InitializationOptions {
    const { version } = this.context.extension.packageJSON as { version: string };
    return {
      versions: [PROTOCOL_VERSION],
      client: { id: windowId(this.keep), name: OWN_NAME, version },
      trusted: vscode.workspace.isTrusted,
      capabilities: {
        events: { maxLatencyMs: MAX_LATENCY_MS },
        approvals: {},
        questions: {},
        panels: { kinds: PANEL_KINDS },
        documents: {},
        diagnostics: {},
      },
    };
  }
}

/** The page and the status bar say what is wrong; a notification on top would say less. */
class QuietClient extends LanguageClient {
  override error(message: string, data?: unknown): void {
    super.error(message, data, false);
  }
}

async function withinTime(start: Promise<void>, impatience: AbortSignal): Promise<void> {
  const patience = new AbortController();
  const signal = AbortSignal.any([patience.signal, impatience]);
  const silence = setTimeout(PATIENCE_MS, undefined, { signal }).then(() => {
    throw new Error(vscode.l10n.t("The program does not answer."));
  });
  try {
    await Promise.race([start, silence]);
  } finally {
    patience.abort();
    silence.catch(() => undefined);
  }
}

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return statSync(file).isFile();
  } catch {
    return false;
  }
}

/** The same after a reload of the window, another in every window. */
function windowId(keep: Keep): string {
  const known = keep.get("windowId");
  if (typeof known === "string") {
    return known;
  }
  const made = randomUUID();
  void keep.set("windowId", made);
  return made;
}

function identityOf(client: LanguageClient): ServerIdentity | undefined {
  const experimental = client.initializeResult?.capabilities.experimental as
    | { kova?: ServerIdentity }
    | undefined;
  return experimental?.kova;
}
