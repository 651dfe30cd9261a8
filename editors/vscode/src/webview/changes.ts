/** The changes view: what is not reviewed yet, kept or reverted by hunk, file, or all of it. */
import type { Change, ChangesDecideParams, Hunk } from "../protocol.gen";
import { diffElement } from "./blocks";
import { act, button, engine, h, host, listen, messageOf, nameOf, pathOf, t } from "./dom";

type Decision = ChangesDecideParams["decision"];

export function startChanges(): void {
  const main = h("main", { class: "changes", "aria-label": t("changes") });
  const said = h("p", { class: "problem", role: "alert", hidden: true });
  document.body.append(said, main);
  let sessionId = "";

  const tell = (words: string) => {
    said.textContent = words;
    said.hidden = words === "";
  };
  const decide = (what: Partial<ChangesDecideParams>, decision: Decision) => {
    engine("kova/changes/decide", { sessionId, decision, ...what }).then(
      ({ changes, refused }) => {
        draw(changes);
        tell(refused?.length ? `${t("refused")}: ${refused.join(" ")}` : "");
      },
      (error: unknown) => tell(messageOf(error)),
    );
  };
  const pair = (what: Partial<ChangesDecideParams>, keep: string, revert: string, about: string, isHeld = false) =>
    h(
      "span",
      { class: "buttons" },
      button(revert, () => !isHeld && decide(what, "revert"), { class: "secondary", "aria-label": `${revert}: ${about}`, "aria-disabled": String(isHeld) }),
      button(keep, () => decide(what, "keep"), { class: "secondary", "aria-label": `${keep}: ${about}` }),
    );

  function draw(changes: readonly Change[]): void {
    main.replaceChildren(
      ...(changes.length === 0
        ? [h("p", { class: "hint" }, t("noChanges"))]
        : [
            h("p", { class: "lead" }, h("strong", {}, t("filesFound", changes.length)), pair({}, t("keepAll"), t("revertAll"), t("changes"))),
            ...changes.map(fileElement),
          ]),
    );
  }

  function fileElement(change: Change): HTMLElement {
    const name = nameOf(change.uri);
    return h(
      "section",
      { class: "file-change", "aria-label": name },
      h(
        "header",
        { class: "file-head", title: pathOf(change.uri) },
        h("strong", {}, name),
        " ",
        h("span", { class: "added", "aria-label": t("linesAdded", change.addedLines ?? 0) }, `+${change.addedLines ?? 0}`),
        " ",
        h("span", { class: "removed", "aria-label": t("linesRemoved", change.removedLines ?? 0) }, `−${change.removedLines ?? 0}`),
        pair({ changeIds: [change.changeId] }, t("keepFile"), t("revertFile"), name, change.conflict !== undefined),
      ),
      change.conflict ? h("p", { class: "problem" }, change.conflict) : undefined,
      ...change.hunks.map((hunk) => hunkElement(change, hunk)),
    );
  }

  function hunkElement(change: Change, hunk: Hunk): HTMLElement {
    const first = hunk.startLine + 1;
    const where = hunk.lineCount === 0 ? t("hunkDeletionAt", first) : t("hunkAt", first, hunk.startLine + hunk.lineCount);
    return h(
      "div",
      { class: "hunk" },
      h(
        "div",
        { class: "file-head" },
        button(where, () => void act("openHunk", { uri: change.uri, line: hunk.startLine }).catch((error: unknown) => tell(messageOf(error))), { class: "quiet" }),
        pair({ hunkIds: [hunk.hunkId] }, t("keep"), t("revert"), `${nameOf(change.uri)} ${where}`, change.conflict !== undefined),
      ),
      diffElement(hunk.diff),
    );
  }

  listen((message) => {
    if (message.type === "changes") {
      sessionId = message.sessionId;
      draw(message.changes);
      tell(message.refused.join(" "));
    }
  });
  host.postMessage({ type: "ready" });
}
