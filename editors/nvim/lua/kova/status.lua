--- The state in words: winbar, statusline, welcome.
local client = require("kova.client")
local config = require("kova.config")
local text = require("kova.text")
local t = require("kova.l10n").t

local M = {}

local LEVEL_HL = {
  ask = "KovaLevelAsk",
  ["workspace-write"] = "KovaLevelEdit",
  ["auto-edit"] = "KovaLevelEdit",
  auto = "KovaLevelAuto",
}

---@return string word
---@return string hl
---@return string icon
local function state()
  local icons = config.get().icons
  local s = require("kova.session").current
  if client.state == "starting" then
    return t("connecting"), "KovaWaiting", icons.waiting
  elseif client.state == "lost" then
    return t("reconnecting"), "KovaWaiting", icons.warning
  elseif client.state == "failed" then
    return t("not connected"), "KovaError", icons.error
  elseif client.state == "off" then
    return t("off"), "KovaBarDim", "○"
  elseif require("kova.cards").count() > 0 then
    return t("waits for you"), "KovaWaiting", icons.waiting
  elseif not s then
    return t("new"), "KovaOk", "○"
  elseif s.state == "running" then
    return s.step and s.step > 1 and t("running, step %d"):format(s.step) or t("running"), "KovaRunning", icons.running
  elseif s.state == "waiting" then
    return t("waiting"), "KovaWaiting", icons.waiting
  end
  return t("idle"), "KovaOk", icons.ok
end

--- Share of the context window that is used, in words; nil when unknown.
---@return string?
local function context()
  local s = require("kova.session").current
  local usage = s and s.usage or {}
  local used, window = usage.contextTokens or 0, usage.contextWindow or 0
  if used == 0 then
    return nil
  end
  if window > 0 then
    local share = math.floor(used * 100 / window + 0.5)
    return t("%s%% of %s"):format(share > 0 and share or "<1", text.count(window))
  end
  return t("%s tokens"):format(text.count(used))
end

---@class kova.StatusSegment
---@field text string
---@field hl string
---@field rank integer dropped first when high

---@return kova.StatusSegment[]
local function segments()
  local session = require("kova.session")
  local s = session.current
  local word, hl, icon = state()
  local mode = s and s.mode or session.draft.mode
  local level = s and s.level or session.draft_level()
  local model = s and s.model or session.draft.model
  local out = {
    { text = icon .. " " .. word, hl = hl, rank = 0 },
    { text = text.line(mode, 20), hl = "KovaMode", rank = mode == "agent" and 1 or 0 },
    { text = text.line(level, 20), hl = LEVEL_HL[level] or "KovaLevelAuto", rank = 0 },
  }
  local goal, goal_hl = require("kova.goal").bar(s and s.goal)
  if goal then
    table.insert(out, { text = goal, hl = goal_hl, rank = 0 })
  end
  local used = context()
  if used then
    table.insert(out, { text = used, hl = "KovaBar", rank = 3 })
  end
  local cost = s and s.usage and s.usage.cost
  if type(cost) == "number" then
    table.insert(out, { text = ("$%%.%df"):format(cost < 1 and 3 or 2):format(cost), hl = "KovaBar", rank = 4 })
  end
  if s and #s.queue > 0 then
    table.insert(out, { text = t("%d queued"):format(#s.queue), hl = "KovaBar", rank = 4 })
  end
  local cards = require("kova.cards").count()
  if cards > 1 then
    table.insert(out, { text = t("%d cards"):format(cards), hl = "KovaWaiting", rank = 2 })
  end
  if model and model ~= "" then
    table.insert(out, { text = text.line(model, 30), hl = "KovaBarDim", rank = 5 })
  end
  return out
end

---@param width integer
---@return kova.StatusSegment[]
local function fitting(width)
  local all = segments()
  local function total()
    local cells = -2 -- a space before, and no dot after the last
    for _, segment in ipairs(all) do
      cells = cells + vim.fn.strdisplaywidth(segment.text) + 3
    end
    return cells
  end
  for rank = 5, 1, -1 do
    if total() <= width then
      break
    end
    all = vim.tbl_filter(function(segment)
      return segment.rank < rank
    end, all)
  end
  local over = total() - width
  if over > 0 then -- cut by the window it would lose its beginning, the state
    local last = all[#all]
    last.text = text.line(last.text, math.max(vim.fn.strdisplaywidth(last.text) - over, 4))
  end
  return all
end

local function escape(value)
  return (value:gsub("%%", "%%%%"))
end

--- The winbar of the conversation.
---@param width integer
---@return string
function M.winbar(width)
  local out = {}
  for _, segment in ipairs(fitting(width)) do
    table.insert(out, ("%%#%s#%s"):format(segment.hl, escape(segment.text)))
  end
  return " " .. table.concat(out, "%#KovaBarDim# · ") .. "%#KovaBar#"
end

--- For a statusline: empty until Kova is used.
---@return string
function M.statusline()
  if client.state == "off" and not require("kova.session").current then
    return ""
  end
  local out = {}
  for _, segment in ipairs(segments()) do
    table.insert(out, escape(segment.text))
  end
  return "Kova " .. table.concat(out, " · ")
end

--- What an empty conversation says.
---@return string[]
function M.welcome()
  local keys = config.get().keys
  local function first(name)
    return keys[name][1] or t("(no key)")
  end
  local lines
  if client.state == "failed" then
    lines = { t("Kova is not connected"), "" }
    vim.list_extend(lines, text.lines(client.problem or t("The server could not be started.")))
    vim.list_extend(lines, { "", t(":Kova reconnect  tries again"), t(":checkhealth kova  says what is wrong") })
    return lines
  end
  local recent = require("kova.sessions").recent
  lines = {
    t("A new conversation"),
    "",
    t("%s (normal) or %s (insert)  sends the prompt"):format(first("send"), first("send_insert")),
    t("@  mentions a file"),
    t("%s  goes to the next approval level"):format(first("cycle_level")),
    t("%s  stops what runs"):format(first("stop")),
    t("%s  goes to a card that waits for you"):format(first("card")),
    t("%s  shows all keys"):format(first("help")),
  }
  if recent and recent > 0 then
    table.insert(lines, "")
    local what = recent == 1 and t("one earlier conversation") or t("%d earlier conversations"):format(recent)
    table.insert(lines, t(":Kova sessions  %s in this folder"):format(what))
  end
  local left = require("kova.review").left
  if left then
    table.insert(lines, t(":Kova changes  %s not reviewed yet"):format(left))
  end
  if client.root and client.state == "ready" then
    table.insert(lines, "")
    local trust = client.trusted and t("trusted") or t("not trusted, so every change asks; :Kova trust")
    table.insert(lines, ("%s  (%s)"):format(text.line(vim.fn.fnamemodify(client.root, ":~")), trust))
  end
  return lines
end

return M
