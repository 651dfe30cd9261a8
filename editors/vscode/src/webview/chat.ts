/** The chat page: transcript, cards and prompt, and how they hang together. */
import { advance, headOf } from "../head";
import { shownLine, shownProse } from "../shown";
import type { Head } from "../head";
import { OWN_NAME } from "../messages";
import type { Choices, Connection, ToPage } from "../messages";
import type {
  ApprovalResolvedPayload,
  Event,
  Item,
  ModelListResult,
  QuestionResolvedPayload,
  SessionSummary,
  TurnCompletedPayload,
  TurnStartedPayload,
} from "../protocol.gen";
import { Announcer } from "./announcer";
import { answerWord } from "./approval";
import { Bar } from "./bar";
import { Cards } from "./cards";
import { Composer } from "./composer";
import { act, button, followClicks, h, host, listen, messageOf, pageData, t } from "./dom";
import { emptyElements } from "./empty";
import { GoalLine, goalWord } from "./goal";
import { wordsOf } from "./question";
import { Roving } from "./roving";
import { Transcript } from "./transcript";

const SAID_MS = 6000;
const MOST_SPOKEN_CHARS = 240;

export function startChat(): void {
  let head: Head | undefined;
  let choices: Choices | undefined;
  let connection: Connection = { state: "starting", modes: [], levels: [], isTrusted: false };
  let models: ModelListResult | undefined;
  let sessions: readonly SessionSummary[] = [];
  let saidTimer = 0;
  let isOfCard = false;
  let origin = "";

  const announcer = new Announcer();
  const said = h("div", { class: "said-line", hidden: true });
  const state = h("span", { class: "state" });
  const empty = h("div", { class: "empty" });
  const banner = h("div", { class: "banner", role: "status", hidden: true });
  const away = button(t("goOn"), () => transcript.toEnd(), { class: "secondary away", hidden: true });

  const announce = (text: string) => announcer.say(text);
  const say = (text: string, isProblem: boolean) => {
    clearTimeout(saidTimer);
    isOfCard = false;
    announcer.say(text, isProblem);
    said.textContent = shownProse(text);
    said.hidden = text === "";
    said.classList.toggle("problem", isProblem);
    saidTimer = window.setTimeout(() => (said.hidden = true), isProblem ? SAID_MS * 2 : SAID_MS);
  };
  const complain = (error: unknown) => say(messageOf(error), true);

  const scroller = h("main", { class: "scroller", role: "log", "aria-live": "off", "aria-label": t("transcript"), tabindex: 0 });
  const transcript = new Transcript(
    scroller,
    (isAway) => (away.hidden = !isAway || transcript.isEmpty),
    (input) => void act("sendAgain", { input }).catch(complain),
    complain,
  );
  const roving = new Roving(scroller, transcript.element);
  const sayOfCard = (text: string, isProblem: boolean) => {
    say(text, isProblem);
    isOfCard = !isProblem;
  };
  const keepWords = (words: string) => {
    composer.addWords(words);
    say([said.hidden ? "" : said.textContent, t("wordsKept")].join(" ").trim(), false);
  };
  const cards = new Cards(announce, sayOfCard, keepWords, () => composer.focus());
  const bar = new Bar(complain);
  const goal = new GoalLine(complain);
  const stop = () => void act("interrupt", { scope: "turn" }).then(({ said: words }) => say(words, false), complain);
  const cycle = () => void act("cycleLevel", null).catch(complain);
  const composer = new Composer(pageData.options ?? { whenBusy: "queue", shiftTabCycles: true, maxPictureBytes: 5 << 20 }, bar.element, say, stop, cycle);

  scroller.append(empty, transcript.element);
  const foot = h("footer", { class: "foot" }, state, h("span", { class: "push" }), bar.meter);
  document.body.append(banner, scroller, away, said, cards.element, goal.element, composer.element, foot, announcer.element);
  followClicks(document.body, say);
  document.addEventListener("keydown", keys);

  function keys(event: KeyboardEvent): void {
    if (event.altKey && !event.ctrlKey && !event.metaKey) {
      const decision = { KeyD: "deny", KeyO: "once", KeyR: "remember", KeyW: "showWhole" }[event.code];
      if (decision && cards.first?.decide(decision)) {
        event.preventDefault();
        event.stopPropagation();
      } else if (event.key === "ArrowUp") {
        event.preventDefault();
        (cards.first ?? { focus: () => scroller.focus() }).focus();
      } else if (event.key === "ArrowDown") {
        event.preventDefault();
        composer.focus();
      }
    } else if (event.key === "Escape" && cards.element.contains(document.activeElement)) {
      composer.focus();
    } else if (event.key === "Escape" && roving.isOutside) {
      if (head && head.state !== "idle") {
        stop();
      } else {
        composer.focus();
      }
    }
  }

  function draw(): void {
    const isReady = connection.state === "ready";
    const isBlank = transcript.isEmpty && (head === undefined || head.state === "idle");
    empty.hidden = !isBlank;
    if (isBlank) {
      empty.replaceChildren(...emptyElements(connection, models, sessions, complain));
    }
    banner.hidden = isBlank || isReady;
    if (!banner.hidden) {
      banner.replaceChildren(...emptyElements(connection, models, sessions, complain));
    }
    composer.setReady(isReady);
    composer.setHead(head);
    bar.setUsage(head?.usage);
    goal.show(head?.sessionId, head?.goal);
    if (cards.show(head?.approvals ?? [], head?.questions ?? []) && isOfCard) {
      // Under another card it would be read as that one's.
      say("", false);
    }
    const now = head?.state ?? "idle";
    const word = t(now === "waiting" ? "statusWaiting" : now === "running" ? "statusRunning" : "ready");
    state.textContent = !isReady ? "" : origin && now !== "idle" ? `${word} · ${t("askedFrom", shownLine(origin))}` : word;
    state.dataset["state"] = isReady ? now : "off";
  }

  /** A card that goes because it was answered elsewhere says by whom; one answered here has spoken. */
  function tellWhoAnswered(event: Event): void {
    if (event.type === "approval.resolved") {
      const { approvalId, decision, resolvedBy } = event.payload as unknown as ApprovalResolvedPayload;
      const word = answerWord(decision);
      const card = cards.open(approvalId);
      if (word && card) {
        say(`${card.title} · ${t("answeredBy", word, resolvedBy)}`, false);
      }
    } else if (event.type === "question.resolved") {
      const { questionId, outcome, resolvedBy } = event.payload as unknown as QuestionResolvedPayload;
      const words = wordsOf(outcome, resolvedBy);
      if (words && cards.open(questionId)) {
        say(words, false);
      }
    }
  }

  /** What a screen reader is told of an event; the stream itself would be too much. */
  function speak(event: Event): void {
    switch (event.type) {
      case "turn.started": {
        const { client } = event.payload as unknown as TurnStartedPayload;
        origin = client && client !== OWN_NAME ? client : "";
        announce(t("announceStarted"));
        break;
      }
      case "item.completed": {
        const { item } = event.payload as { item: Item };
        if (item.kind === "reply" && item.text) {
          announce(t("announceReply", item.text.slice(0, MOST_SPOKEN_CHARS)));
        }
        break;
      }
      case "turn.completed": {
        const { stopReason, error } = event.payload as unknown as TurnCompletedPayload;
        announce(stopReason === "failed" ? t("announceFailed", error?.message ?? "") : stopReason === "interrupted" ? t("announceStopped") : t("announceDone"));
        break;
      }
    }
  }

  listen((message: ToPage) => {
    switch (message.type) {
      case "connection":
        connection = message.connection;
        bar.setConnection(connection);
        draw();
        break;
      case "session":
        head = message.snapshot ? headOf(message.snapshot) : undefined;
        origin = "";
        choices = message.choices;
        bar.setChoices(choices);
        transcript.reset(message.snapshot);
        draw();
        break;
      case "choices":
        choices = message.choices;
        bar.setChoices(choices);
        break;
      case "events": {
        let hasChanged = false;
        for (const event of message.events) {
          const before = head;
          head = head && advance(head, event);
          hasChanged ||= head !== before && event.type !== "item.delta";
          speak(event);
          if (head?.goal && head.goal.status !== before?.goal?.status) {
            announce(t("announceGoal", goalWord(head.goal), head.goal.reason ?? ""));
          }
          tellWhoAnswered(event);
        }
        transcript.take(message.events);
        if (hasChanged) {
          requestAnimationFrame(draw);
        }
        break;
      }
      case "models":
        models = message.models;
        bar.setModels(models);
        draw();
        break;
      case "sessions":
        sessions = message.sessions;
        draw();
        break;
      case "chips":
        composer.setChips(message.chips);
        break;
      case "pictures":
        composer.addPictures(message.pictures);
        break;
      case "mention":
        composer.addMention(message.path, message.uri);
        break;
      case "draft":
        composer.setDraft(message.draft, message.attachments);
        break;
      case "options":
        composer.setOptions(message.options);
        break;
      case "focus":
        if (message.target === "card" && cards.first) {
          cards.first.focus();
        } else {
          composer.focus();
        }
        break;
      case "decide":
        cards.first?.decide(message.decision);
        break;
      case "say":
        say(message.text, message.isProblem);
        break;
    }
  });
  draw();
  host.postMessage({ type: "ready" });
}
