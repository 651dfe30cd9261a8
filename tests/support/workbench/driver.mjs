// Drive VS Code's workbench in a browser: one JSON request a line in, one answer a line out.
//
// A frame is named by the view that its page shows (`chat`, `loop`, …); without one, the workbench
// itself is meant. Selectors are those of playwright. Nothing sleeps: everything waits for what is
// seen.
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

const [, , playwrightFolder, executablePath] = process.argv;
const { chromium } = await import(pathToFileURL(`${playwrightFolder}/index.mjs`).href);
const PATIENCE_MS = 30_000;

const browser = await chromium.launch({
  executablePath,
  args: ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"],
});
let page;
let other;

async function within(view) {
  if (!view) {
    return page;
  }
  const end = Date.now() + PATIENCE_MS;
  for (;;) {
    for (const frame of page.frames()) {
      const shown = await frame.evaluate(() => document.body?.dataset.kovaView).catch(() => undefined);
      if (shown === view) {
        return frame;
      }
    }
    if (Date.now() > end) {
      throw new Error(`no page of the view ${view}`);
    }
    await page.waitForTimeout(50);
  }
}

/** The frame of a view is made anew when the window reloads: ask for it at every try. */
async function at({ view, selector, nth = 0 }) {
  return (await within(view)).locator(selector).nth(nth);
}

/** What the window and the pages of the extension show, to tell with a failure. */
async function shown() {
  const texts = [];
  const parts = await page
    ?.evaluate(() => {
      const of = (selector) => [...document.querySelectorAll(selector)];
      const keyboard = document.activeElement;
      return {
        tabs: of(".tab").map((tab) => `${tab.ariaLabel}${tab.matches(".active") ? " (active)" : ""}`),
        picks: of(".quick-input-widget .monaco-list-row").map(
          (row) => `${row.ariaLabel}${row.matches(".focused") ? " (focused)" : ""}`,
        ),
        toasts: of(".notification-toast").map((toast) => toast.innerText),
        keyboard: `${keyboard?.tagName} ${keyboard?.className} ${keyboard?.ariaLabel ?? ""}`,
      };
    })
    .catch(() => undefined);
  texts.push(JSON.stringify(parts));
  for (const frame of page?.frames() ?? []) {
    const text = await frame
      .evaluate(() => document.body?.dataset.kovaView && document.body.innerText)
      .catch(() => undefined);
    if (text) {
      texts.push(text);
    }
  }
  return texts.join("\n---\n");
}

/** Whether the keyboard is at an element of a frame: also that no other frame of the page has it. */
async function hasKeyboard(frame, locator) {
  if (!(await locator.evaluate((element) => element.matches(":focus")))) {
    return false;
  }
  for (let at = frame; at.parentFrame?.(); at = at.parentFrame()) {
    const holder = await at.frameElement();
    if (!(await holder.evaluate((element) => element.ownerDocument.activeElement === element))) {
      return false;
    }
  }
  return true;
}

// The list fills late after a start, and what takes the focus meanwhile closes it: try again. The list
// of before stays for a moment, and Enter takes what is focused in it.
async function chooseQuickly(key, text, title, hasWorked = async () => {}) {
  const box = page.locator(".quick-input-widget input");
  const row = page.locator(".quick-input-list .monaco-list-row").filter({ hasText: title }).first();
  const focused = page.locator(".quick-input-list .monaco-list-row.focused").filter({ hasText: title });
  for (let tries = 0; ; tries += 1) {
    try {
      await page.keyboard.press(key);
      await box.waitFor({ timeout: 3000 });
      await box.fill(text, { timeout: 3000 });
      await row.waitFor({ timeout: 3000 });
      const isFocused = await focused.waitFor({ timeout: 1000 }).then(() => true, () => false);
      await (isFocused ? page.keyboard.press("Enter") : row.click({ timeout: 3000 }));
      await hasWorked();
      return;
    } catch (error) {
      await page.keyboard.press("Escape");
      if (tries > 20) {
        throw error;
      }
    }
  }
}

async function cover(isCovered) {
  const emulation = await page.context().newCDPSession(page);
  await emulation.send("Emulation.setFocusEmulationEnabled", { enabled: !isCovered });
  if (isCovered) {
    other ??= await page.context().newPage();
    await other.bringToFront();
  } else {
    await other?.close();
    other = undefined;
    await page.bringToFront();
  }
  await emulation.detach();
}

const operations = {
  async open({ url, width = 1280, height = 800, scale = 1 }) {
    await page?.context().close();
    other = undefined;
    const context = await browser.newContext({ viewport: { width, height }, deviceScaleFactor: scale });
    page = await context.newPage();
    page.setDefaultTimeout(PATIENCE_MS);
    await page.goto(url);
    await page.locator(".monaco-workbench").waitFor();
  },
  /** Let the window be the one that the person works in, or have another one cover it. */
  async setWindowFocus({ isFocused }) {
    const told = page.locator(`.part.titlebar${isFocused ? ":not(.inactive)" : ".inactive"}`);
    for (const end = Date.now() + PATIENCE_MS; ; ) {
      await cover(!isFocused);
      try {
        await told.waitFor({ state: "attached", timeout: 1000 });
        return;
      } catch (error) {
        if (Date.now() > end) {
          throw error;
        }
      }
      // The workbench misses a blur that comes while a frame of it has the keyboard.
      await cover(isFocused);
    }
  },
  async resize({ width, height }) {
    await page.setViewportSize({ width, height });
  },
  /** Run a command of the palette; a contributed one appears some seconds after the workbench. */
  async command({ title }) {
    await chooseQuickly("F1", `>${title}`, title);
  },
  async openFile({ name }) {
    const tab = page.locator(`.tab.active[aria-label^='${name}']`);
    await chooseQuickly("Control+p", name, name, () => tab.waitFor({ timeout: 5000 }));
  },
  async press({ keys }) {
    for (const key of keys) {
      await page.keyboard.press(key);
    }
  },
  async type({ text, delay = 0 }) {
    await page.keyboard.type(text, { delay });
  },
  async wait({ state = "visible", ...where }) {
    await (await at(where)).waitFor({ state });
  },
  /** Wait until an expression over the first match is true. */
  async until({ test, ...where }) {
    const end = Date.now() + PATIENCE_MS;
    for (;;) {
      try {
        const locator = await at(where);
        // eslint-disable-next-line no-new-func -- the test is the caller's own
        if (await locator.evaluate(new Function("element", `return ${test}`), undefined, { timeout: 500 })) {
          return;
        }
      } catch (error) {
        if (Date.now() > end) {
          throw error;
        }
      }
      if (Date.now() > end) {
        throw new Error(`never true: ${test}`);
      }
      await page.waitForTimeout(50);
    }
  },
  async click(where) {
    await (await at(where)).click();
  },
  /** Wait until an element has the keyboard, given or (`isGiven` false) taken by the product itself. */
  async focus({ isGiven = true, ...where }) {
    const end = Date.now() + PATIENCE_MS;
    for (;;) {
      try {
        const frame = await within(where.view);
        const locator = frame.locator(where.selector).nth(where.nth ?? 0);
        if (isGiven) {
          await locator.focus();
        }
        if (await hasKeyboard(frame, locator)) {
          return;
        }
      } catch (error) {
        if (Date.now() > end) {
          throw error;
        }
      }
      if (Date.now() > end) {
        throw new Error(`the keyboard never went to ${where.selector}`);
      }
      await page.waitForTimeout(50);
    }
  },
  async fill({ text, ...where }) {
    await (await at(where)).fill(text);
  },
  async pressIn({ key, ...where }) {
    await (await at(where)).press(key);
  },
  async text(where) {
    return (await at(where)).innerText();
  },
  async count({ view, selector }) {
    return (await within(view)).locator(selector).count();
  },
  async evaluate({ view, expression }) {
    return (await within(view)).evaluate(expression);
  },
  async screenshot({ path, clip }) {
    await page.screenshot({ path, ...(clip ? { clip } : {}) });
  },
  async reload() {
    await page.reload();
    await page.locator(".monaco-workbench").waitFor();
  },
};

console.log(JSON.stringify({ ready: true }));
for await (const line of createInterface({ input: process.stdin })) {
  const { operation, ...args } = JSON.parse(line);
  try {
    console.log(JSON.stringify({ result: (await operations[operation](args)) ?? null }));
  } catch (error) {
    console.log(JSON.stringify({ error: `${error?.message ?? error}\n${await shown()}` }));
  }
}
await browser.close();
