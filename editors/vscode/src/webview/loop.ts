/** The loop view: every step of a turn with what it tried, what it cost, and every verdict. */
import type { LoopReadResult, LoopStep } from "../protocol.gen";
import { coded } from "./blocks";
import { count, duration, h, host, listen, t } from "./dom";
import { reasonElements, verdictWord } from "./items";

const STOP_WORDS = { done: "stopReasonDone", interrupted: "stopReasonInterrupted", limit: "stopReasonLimit", failed: "stopReasonFailed" } as const;

export function startLoop(): void {
  const main = h("main", { class: "loop", "aria-label": t("loop") });
  document.body.append(main);
  listen((message) => {
    if (message.type === "loop") {
      const opened = new Set([...main.querySelectorAll<HTMLDetailsElement>("details[open]")].map((one) => one.id));
      main.replaceChildren(...loopElements(message.loop, message.problem));
      for (const id of opened) {
        document.getElementById(id)?.setAttribute("open", "");
      }
    }
  });
  host.postMessage({ type: "ready" });
}

function loopElements(loop: LoopReadResult | undefined, problem: string | undefined): HTMLElement[] {
  if (problem || !loop) {
    return [h("p", { class: problem ? "problem" : "hint" }, problem ?? t("loopEmpty"))];
  }
  const { stopReason, stoppedBecause, error } = loop;
  return [
    h(
      "p",
      { class: "lead", role: "status" },
      h("strong", {}, stopReason && stopReason in STOP_WORDS ? t(STOP_WORDS[stopReason]) : t("statusRunning")),
      stoppedBecause ? ` · ${stoppedBecause}` : "",
    ),
    ...(error ? [h("p", { class: "problem" }, error.message)] : []),
    h("ol", { class: "steps" }, ...loop.steps.map(stepElement)),
  ];
}

function stepElement(step: LoopStep): HTMLElement {
  const { inputTokens = 0, outputTokens = 0 } = step.usage;
  const times = [
    step.firstTokenMs === undefined || step.durationMs === undefined ? "" : t("stepTimes", duration(step.firstTokenMs), duration(step.durationMs)),
    t("stepTokens", count(inputTokens), count(outputTokens)),
    step.model,
    step.finishReason ?? "",
  ].filter(Boolean);
  return h(
    "li",
    { class: "step" },
    h("h3", {}, `${t("modelCall", step.number)}: `, ...coded(step.intent.replace(/\*\*/g, ""))),
    h("p", { class: "hint" }, times.join(" · ")),
    step.error ? h("p", { class: "problem" }, step.error.message) : undefined,
    ...step.calls.map((call) =>
      h(
        "details",
        { class: "call", id: `call-${call.callId}`, "data-status": call.status },
        h(
          "summary",
          {},
          h("span", { class: "title" }, call.title || call.tool),
          h("span", { class: "verdict" }, `${verdictWord(call.verdict.decision)} · ${call.status}${call.durationMs === undefined ? "" : ` · ${duration(call.durationMs)}`}`),
        ),
        ...reasonElements(call.verdict.reasons ?? []),
      ),
    ),
  );
}
