/** The script of every page. */
import "./style.css";
import { startChanges } from "./changes";
import { startChat } from "./chat";
import { followClicks, h, host, listen, markdownElement } from "./dom";
import { startLoop } from "./loop";

function startMarkdown(): void {
  const main = h("main", { class: "document" });
  document.body.append(main);
  followClicks(main, () => undefined);
  listen((message) => {
    if (message.type === "markdown") {
      main.replaceChildren(markdownElement(message.markdown));
    }
  });
  host.postMessage({ type: "ready" });
}

const starts = { chat: startChat, loop: startLoop, changes: startChanges, markdown: startMarkdown };
const view = document.body.dataset["kovaView"] ?? "chat";
starts[view in starts ? (view as keyof typeof starts) : "chat"]();
