/** What every page of the extension shares: its HTML, and answering what it asks. */
import { randomBytes } from "node:crypto";
import * as vscode from "vscode";
import type { Engine } from "./client";
import { pageHtml } from "./html";
import type { Page } from "./html";
import { PAGE_METHODS } from "./messages";
import type { Actions, FromPage, PageData, PageOptions, ToPage } from "./messages";
import { ENGLISH } from "./texts";
import type { Texts } from "./texts";

export type ActionHandlers = {
  readonly [A in keyof Actions]?: (args: Actions[A]["args"]) => Promise<Actions[A]["result"]>;
};

/** Give a webview its page. */
export function dress(
  webview: vscode.Webview,
  extensionUri: vscode.Uri,
  view: Page["view"],
  title: string,
  options?: PageOptions,
): void {
  const dist = vscode.Uri.joinPath(extensionUri, "dist");
  webview.options = { enableScripts: true, localResourceRoots: [dist], enableCommandUris: false };
  const data: PageData = {
    texts: localized(),
    isMac: process.platform === "darwin",
    ...(options ? { options } : {}),
  };
  webview.html = pageHtml({
    view,
    title,
    nonce: randomBytes(16).toString("hex"),
    cspSource: webview.cspSource,
    scriptUri: webview.asWebviewUri(vscode.Uri.joinPath(dist, "webview.js")).toString(),
    styleUri: webview.asWebviewUri(vscode.Uri.joinPath(dist, "webview.css")).toString(),
    language: vscode.env.language,
    data,
  });
}

/** Answer what a page asks; the answer or the problem goes back to it. */
export async function serve(
  webview: vscode.Webview,
  engine: Engine,
  actions: ActionHandlers,
  message: Exclude<FromPage, { type: "ready" }>,
): Promise<void> {
  const post = (answer: ToPage) => webview.postMessage(answer);
  try {
    const result =
      message.type === "call" ? await call(engine, message) : await act(actions, message);
    await post({ type: "answer", id: message.id, result });
  } catch (error) {
    const words = error instanceof Error ? error.message : String(error);
    await post({ type: "answer", id: message.id, error: words });
  }
}

function call(engine: Engine, message: Extract<FromPage, { type: "call" }>): Promise<unknown> {
  if (!PAGE_METHODS.includes(message.method)) {
    throw new Error(`a page may not call ${JSON.stringify(message.method)}`);
  }
  return engine.request(message.method, message.params);
}

function act(actions: ActionHandlers, message: Extract<FromPage, { type: "do" }>): Promise<unknown> {
  const handler = Object.hasOwn(actions, message.action) ? actions[message.action] : undefined;
  if (!handler) {
    throw new Error(`a page may not do ${JSON.stringify(message.action)}`);
  }
  return (handler as (args: unknown) => Promise<unknown>)(message.args);
}

function localized(): Texts {
  return Object.fromEntries(
    Object.entries(ENGLISH).map(([key, text]) => [key, vscode.l10n.t(text)]),
  ) as Texts;
}
