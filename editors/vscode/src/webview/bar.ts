/** Pickers for mode, level and model, and the meter of the context window. */
import type { Choices, Connection } from "../messages";
import type { ApprovalLevel, Mode, ModelListResult, Usage } from "../protocol.gen";
import { act, count, h, t } from "./dom";

const MODES = { agent: "modeAgent", plan: "modePlan", ask: "modeAsk", goal: "modeGoal" } as const;
const MODE_TITLES = { agent: "modeAgentTitle", plan: "modePlanTitle", ask: "modeAskTitle", goal: "modeGoalTitle" } as const;
const LEVELS = {
  ask: "levelAsk",
  "workspace-write": "levelWorkspaceWrite",
  "auto-edit": "levelAutoEdit",
  auto: "levelAuto",
} as const;
const LEVEL_TITLES = {
  ask: "levelAskTitle",
  "workspace-write": "levelWorkspaceWriteTitle",
  "auto-edit": "levelAutoEditTitle",
  auto: "levelAutoTitle",
} as const;

export class Bar {
  readonly element: HTMLElement;
  readonly meter = h("span", { class: "meter", role: "meter", tabindex: 0, "aria-valuemin": 0, "aria-valuemax": 100, hidden: true });
  private readonly mode: HTMLSelectElement;
  private readonly level: HTMLSelectElement;
  private readonly model: HTMLSelectElement;
  private choices: Choices | undefined;
  private models: ModelListResult = { models: [] };

  constructor(private readonly complain: (error: unknown) => void) {
    const change = (wish: Partial<Choices>) => {
      act("configure", wish).catch((error: unknown) => {
        this.draw();
        this.complain(error);
      });
    };
    this.mode = h("select", { "aria-label": t("mode"), class: "mode", onchange: () => change({ mode: this.mode.value as Mode }) });
    this.level = h("select", {
      "aria-label": t("level"),
      class: "level",
      onchange: () => change({ level: this.level.value as ApprovalLevel }),
    });
    this.model = h("select", { "aria-label": t("model"), class: "model", onchange: () => change({ model: this.model.value }) });
    this.element = h("div", { class: "bar" }, this.mode, this.level, this.model);
  }

  setConnection({ modes, levels }: Connection): void {
    this.mode.replaceChildren(
      ...modes.map((word) => option(word, word in MODES ? t(MODES[word]) : word, word in MODE_TITLES ? t(MODE_TITLES[word]) : "")),
    );
    this.level.replaceChildren(
      ...levels.map((word) => option(word, word in LEVELS ? t(LEVELS[word]) : word, word in LEVEL_TITLES ? t(LEVEL_TITLES[word]) : "")),
    );
    this.draw();
  }

  setModels(models: ModelListResult): void {
    this.models = models;
    this.draw();
  }

  setChoices(choices: Choices): void {
    this.choices = choices;
    this.draw();
  }

  setUsage(usage: Usage | undefined): void {
    const { contextTokens = 0, contextWindow = 0, cost } = usage ?? {};
    this.meter.hidden = contextTokens === 0;
    const share = contextWindow > 0 ? Math.min(100, Math.round((contextTokens / contextWindow) * 100)) : 0;
    const words = contextWindow > 0 ? t("contextUsed", count(contextTokens), count(contextWindow)) : t("contextUsedUnknown", count(contextTokens));
    const price = cost === undefined ? "" : t("cost", cost.toFixed(cost < 1 ? 3 : 2));
    this.meter.replaceChildren(
      h("span", { class: "gauge" }, h("span", {})),
      contextWindow > 0 ? `${share < 1 ? "<1" : share}%` : count(contextTokens),
      cost === undefined ? "" : ` · $${cost.toFixed(cost < 1 ? 3 : 2)}`,
    );
    this.meter.querySelector<HTMLElement>(".gauge > span")?.style.setProperty("width", `${share}%`);
    this.meter.dataset["full"] = String(share >= 80);
    this.meter.title = price ? `${words}, ${price}` : words;
    this.meter.setAttribute("aria-label", this.meter.title);
    this.meter.setAttribute("aria-valuenow", String(share));
  }

  private draw(): void {
    const { choices } = this;
    if (!choices) {
      return;
    }
    select(this.mode, choices.mode);
    select(this.level, choices.level);
    this.level.dataset["level"] = choices.level;
    const names = this.models.models;
    this.model.replaceChildren(
      ...names.map((one) => {
        const made = option(one.name, one.ready ? one.name : `${one.name} (${t("notReady")})`, one.problem ?? one.model);
        made.disabled = !one.ready && one.name !== choices.model;
        return made;
      }),
    );
    if (choices.model && !names.some((one) => one.name === choices.model)) {
      this.model.append(option(choices.model, choices.model, ""));
    }
    this.model.hidden = this.model.options.length === 0;
    if (choices.model) {
      this.model.value = choices.model;
    }
    for (const picker of [this.mode, this.level, this.model]) {
      picker.title = `${picker.getAttribute("aria-label") ?? ""}: ${picker.selectedOptions[0]?.title || picker.value}`;
    }
  }
}

function option(value: string, label: string, title: string): HTMLOptionElement {
  return h("option", { value, title }, label);
}

/** A word of a newer engine is shown as it is. */
function select(picker: HTMLSelectElement, value: string): void {
  if (![...picker.options].some((one) => one.value === value)) {
    picker.append(option(value, value, ""));
  }
  picker.value = value;
}
