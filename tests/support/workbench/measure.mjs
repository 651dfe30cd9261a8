// Measure the chat page in a browser: a long transcript, scrolling, and a stream at full speed
// while someone types. Prints one JSON object.
//
//   node tests/support/workbench/measure.mjs PLAYWRIGHT_FOLDER CHROMIUM
import { readFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const [, , playwrightFolder, executablePath] = process.argv;
const { chromium } = await import(pathToFileURL(`${playwrightFolder}/index.mjs`).href);
const dist = new URL("../../../editors/vscode/dist/", import.meta.url);
const sources = new URL("../../../editors/vscode/src/texts.ts", import.meta.url);
const texts = Object.fromEntries(
  [...readFileSync(sources, "utf8").matchAll(/^ {2}(\w+):\s+("(?:[^"\\]|\\.)*"),$/gm)].map(([, key, text]) => [key, JSON.parse(text)]),
);

const browser = await chromium.launch({ executablePath, args: ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"] });
const page = await browser.newPage({ viewport: { width: 420, height: 900 } });
const session = await page.context().newCDPSession(page);
await session.send("Performance.enable");
await page.setContent("<!doctype html><html><head></head><body data-kova-view='chat'></body></html>");
await page.evaluate((data) => {
  document.body.dataset.kova = JSON.stringify(data);
  globalThis.acquireVsCodeApi = () => ({
    getState: () => undefined,
    setState: () => undefined,
    postMessage: ({ id }) => id && queueMicrotask(() => window.postMessage({ type: "answer", id, result: null })),
  });
}, { texts, isMac: false, options: { whenBusy: "queue", shiftTabCycles: true, maxPictureBytes: 1 } });
await page.addStyleTag({ content: readFileSync(new URL("webview.css", dist), "utf8") });
await page.addScriptTag({ content: readFileSync(new URL("webview.js", dist), "utf8") });

async function spent() {
  const { metrics } = await session.send("Performance.getMetrics");
  const of = (name) => metrics.find((one) => one.name === name).value;
  return { task: of("TaskDuration"), script: of("ScriptDuration"), layout: of("LayoutDuration") + of("RecalcStyleDuration"), heap: of("JSHeapUsedSize") };
}

/** Run in the page, and say what it cost the main thread and how long the frames were. */
async function measured(run, argument) {
  const before = await spent();
  const started = performance.now();
  const frames = await page.evaluate(
    async ([source, given]) => {
      const gaps = [];
      let last = performance.now();
      let isOn = true;
      const frame = () => {
        const now = performance.now();
        gaps.push(now - last);
        last = now;
        if (isOn) {
          requestAnimationFrame(frame);
        }
      };
      requestAnimationFrame(frame);
      const tasks = [];
      const observer = new PerformanceObserver((list) => tasks.push(...list.getEntries().map((one) => one.duration)));
      observer.observe({ type: "longtask" });
      const extra = await new Function("given", `return (${source})(given)`)(given);
      await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
      isOn = false;
      tasks.push(...observer.takeRecords().map((one) => one.duration));
      gaps.sort((a, b) => a - b);
      const at = (share) => Math.round(gaps[Math.min(gaps.length - 1, Math.floor(gaps.length * share))]);
      return {
        frames: gaps.length,
        medianMs: at(0.5),
        p95Ms: at(0.95),
        longestMs: at(1),
        over50Ms: gaps.filter((gap) => gap > 50).length,
        longTasks: tasks.length,
        longestTaskMs: Math.round(Math.max(0, ...tasks)),
        ...extra,
      };
    },
    [run.toString(), argument],
  );
  const after = await spent();
  const wall = (performance.now() - started) / 1000;
  const round = (value) => Math.round(value * 1000) / 1000;
  return {
    ...frames,
    wallS: round(wall),
    mainThreadS: round(after.task - before.task),
    scriptS: round(after.script - before.script),
    layoutS: round(after.layout - before.layout),
    heapMB: Math.round(after.heap / 1048576),
  };
}

const words = "The quick brown fox jumps over the lazy dog and comes back again.";
const items = Array.from({ length: 400 }, (_, at) =>
  at % 4 === 0
    ? { kind: "userMessage", itemId: `i${at}`, input: [{ type: "text", text: `Question ${at}: ${words}` }] }
    : at % 4 === 1
      ? { kind: "toolCall", itemId: `i${at}`, callId: `i${at}`, tool: "bash", args: {}, title: `$ run ${at}`, verdict: { decision: "allow" }, status: "ok", display: [] }
      : { kind: "reply", itemId: `i${at}`, status: "ok", text: Array.from({ length: 12 }, (__, line) => `Line ${line} of *answer* ${at}: ${words}\n\n- point \`${line}\`\n- ${words}\n\n`).join("") + "```ts\nconst a = 1;\nconst b = 2;\n```\n" },
);
const lines = items.reduce((sum, item) => sum + (item.text ?? "x").split("\n").length, 0);
const snapshot = {
  sessionId: "s", title: "t", mode: "agent", level: "ask", model: "demo", state: "running", turnId: "t",
  items, approvals: [], questions: [], usage: {}, watermark: { epoch: "e", seq: 1 },
};
await page.evaluate(() => window.postMessage({ type: "connection", connection: { state: "ready", modes: ["agent"], levels: ["ask"], isTrusted: true } }));

const opened = await measured(async (given) => {
  window.postMessage({ type: "session", snapshot: given, choices: { mode: "agent", level: "ask", model: "demo" } });
  await new Promise((resolve) => setTimeout(resolve, 0));
  return {};
}, snapshot);

const scrolled = await measured(async () => {
  const box = document.querySelector(".scroller");
  box.scrollTop = 0;
  for (let step = 0; step < 200; step += 1) {
    await new Promise((resolve) => requestAnimationFrame(resolve));
    box.scrollTop += box.scrollHeight / 200;
  }
  return {};
});

// Where the reply grows is what a person looks at.
await page.evaluate(async () => {
  document.querySelector(".away").click();
  await new Promise((resolve) => setTimeout(resolve, 500));
});

/** 4,000 deltas of about 60 characters in some 8 seconds, in messages as the extension sends them. */
const streamed = await measured(async () => {
  const text = Array.from({ length: 600 }, (_, at) => `Paragraph ${at} with **bold**, \`code\` and a [link](src/a.ts:${at}).\n\n${at % 10 === 0 ? "```py\n" + "x = 1\n".repeat(40) + "```\n\n" : "- one\n- two\n- three and a few more words to fill the line\n\n"}`).join("");
  const pieces = text.match(/[\s\S]{1,24}/g);
  let seq = 1;
  const event = (type, payload, volatile) => ({ sessionId: "s", epoch: "e", at: 0, itemId: "live", type, payload, ...(volatile ? { volatile } : { seq: ++seq }) });
  const post = (events) => window.postMessage({ type: "events", events });
  post([event("item.started", { item: { kind: "reply", itemId: "live", status: "running" } })]);
  const input = document.querySelector("textarea");
  input.focus();
  const lags = [];
  let offset = 0;
  let at = 0;
  const end = performance.now() + 8000;
  while (at < pieces.length && performance.now() < end) {
    const batch = pieces.slice(at, at + 10);
    at += 10;
    post(batch.map((piece) => {
      const made = event("item.delta", { kind: "reply", offset, text: piece }, true);
      offset += piece.length;
      return made;
    }));
    if (at % 50 === 0) {
      const pressed = performance.now();
      input.setRangeText("a", input.value.length, input.value.length, "end");
      input.dispatchEvent(new Event("input", { bubbles: true }));
      await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve, 0)));
      lags.push(performance.now() - pressed);
    } else {
      await new Promise((resolve) => setTimeout(resolve, 8));
    }
  }
  post([event("item.completed", { item: { kind: "reply", itemId: "live", status: "ok", text: pieces.slice(0, at).join("") } })]);
  await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve, 0)));
  lags.sort((a, b) => a - b);
  return {
    characters: offset,
    typedKeys: lags.length,
    keyToFrameMedianMs: Math.round(lags[Math.floor(lags.length / 2)]),
    keyToFrameP95Ms: Math.round(lags[Math.floor(lags.length * 0.95)]),
    keyToFrameMaxMs: Math.round(lags.at(-1)),
  };
});

/** A megabyte of lines comes from the clipboard, then someone goes on typing. */
const pasted = await measured(async () => {
  const input = document.querySelector("textarea");
  input.focus();
  input.select();
  const text = `${"a line of a log with some words in it, number 12345\n".repeat(20_000)}`;
  const data = new DataTransfer();
  data.setData("text/plain", text);
  const isTaken = !input.dispatchEvent(new ClipboardEvent("paste", { clipboardData: data, bubbles: true, cancelable: true }));
  if (!isTaken) {
    document.execCommand("insertText", false, text);
  }
  const lags = [];
  for (let key = 0; key < 20; key += 1) {
    const pressed = performance.now();
    document.execCommand("insertText", false, "a");
    await new Promise((resolve) => requestAnimationFrame(() => setTimeout(resolve, 0)));
    lags.push(performance.now() - pressed);
  }
  lags.sort((a, b) => a - b);
  return { characters: text.length, keyToFrameMedianMs: Math.round(lags[10]), keyToFrameMaxMs: Math.round(lags.at(-1)) };
});

console.log(JSON.stringify({ lines, items: items.length, opened, scrolled, streamed, pasted }, undefined, 1));
await browser.close();
