/** What stands where the transcript would be: every state with the next step on it. */
import type { Connection } from "../messages";
import type { ModelListResult, SessionSummary } from "../protocol.gen";
import { act, button, h, t } from "./dom";

const MOST_RECENT = 6;

type Complain = (error: unknown) => void;

/** The empty page of a connection that is not ready, or of a conversation that has not begun. */
export function emptyElements(
  connection: Connection,
  models: ModelListResult | undefined,
  sessions: readonly SessionSummary[],
  complain: Complain,
): HTMLElement[] {
  const run = (command: string) => () => void act("runCommand", { command }).catch(complain);
  switch (connection.state) {
    case "starting":
      return [h("p", { class: "lead busy" }, t("startingTitle"))];
    case "noFolder":
      return [
        h("h2", {}, t("noFolderTitle")),
        h("p", {}, t("noFolderText")),
        h("p", { class: "buttons" }, button(t("openFolder"), run("kova.openFolder"), { class: "primary" })),
      ];
    case "missing":
      return missing(connection, run, complain);
    case "failed":
      return [
        h("h2", {}, t("failedTitle")),
        h("pre", { class: "problem", tabindex: 0 }, connection.problem ?? ""),
        h(
          "p",
          { class: "buttons" },
          button(t("restart"), run("kova.restart"), { class: "primary" }),
          button(t("settings"), run("kova.openSettings"), { class: "secondary" }),
          button(t("doctor"), run("kova.doctor"), { class: "secondary" }),
          button(t("log"), run("kova.showLog"), { class: "secondary" }),
        ),
      ];
    case "lost":
      return [h("p", { class: "lead busy" }, t("lostTitle")), h("p", { class: "buttons" }, button(t("restart"), run("kova.restart"), { class: "secondary" }))];
    case "ready":
      return models && !models.models.some((one) => one.ready)
        ? noModel(models, run, complain)
        : ready(connection, sessions, run, complain);
  }
}

function missing(connection: Connection, run: (command: string) => () => void, complain: Complain): HTMLElement[] {
  const installers = connection.installers ?? [];
  return [
    h("h2", {}, t("missingTitle")),
    h("p", {}, t("missingText")),
    ...(installers.length === 0 ? [h("p", {}, t("missingNoInstaller"))] : []),
    ...installers.map((one) => h("pre", { tabindex: 0 }, one.command)),
    h(
      "p",
      { class: "buttons" },
      ...installers.map((one, at) =>
        button(t("installWith", one.program), () => void act("install", { command: one.command }).catch(complain), {
          class: at === 0 ? "primary" : "secondary",
        }),
      ),
      button(t("checkAgain"), run("kova.restart"), { class: "secondary" }),
      button(t("settings"), run("kova.openSettings"), { class: "secondary" }),
    ),
  ];
}

function noModel(models: ModelListResult, run: (command: string) => () => void, complain: Complain): HTMLElement[] {
  return [
    h("h2", {}, t("noModelTitle")),
    h("p", {}, t("noModelText")),
    h("ul", {}, ...models.models.map((one) => h("li", {}, h("strong", {}, one.name), ` ${one.problem ?? t("notReady")}`))),
    h(
      "p",
      { class: "buttons" },
      button(t("openConfiguration"), run("kova.openConfiguration"), { class: "primary" }),
      button(t("doctor"), run("kova.doctor"), { class: "secondary" }),
      button(t("checkAgain"), () => void act("refresh", null).catch(complain), { class: "secondary" }),
    ),
  ];
}

function ready(
  connection: Connection,
  sessions: readonly SessionSummary[],
  run: (command: string) => () => void,
  complain: Complain,
): HTMLElement[] {
  const recent = sessions.slice(0, MOST_RECENT);
  return [
    h("h2", {}, t("emptyTitle")),
    ...(connection.isTrusted
      ? []
      : [
          h("p", { class: "notice" }, t("untrusted")),
          h("p", { class: "buttons" }, button(t("manageTrust"), run("kova.manageTrust"), { class: "secondary" })),
        ]),
    h("ul", { class: "hints" }, h("li", {}, t("emptyHint1")), h("li", {}, t("emptyHint2")), h("li", {}, t("emptyHint3"))),
    ...(recent.length === 0
      ? []
      : [
          h("h3", {}, t("recent")),
          h(
            "ul",
            { class: "recent" },
            ...recent.map((one) =>
              h(
                "li",
                {},
                button(one.title || "…", () => void act("openSession", { sessionId: one.sessionId }).catch(complain), {
                  class: "quiet",
                  "data-state": one.state,
                }),
                one.state === "idle" ? undefined : h("span", { class: "hint" }, t(one.state === "waiting" ? "statusWaiting" : "statusRunning")),
              ),
            ),
          ),
        ]),
  ];
}
