--- The goal of the conversation: in words for the bars, and what the person does to it.
--- Invariant: nothing here decides; the engine is asked and its events are shown.
local client = require("kova.client")
local t = require("kova.l10n").t
local text = require("kova.text")

local M = {}

local VERBS = { pause = "pause", resume = "resume", cancel = "cancel", budget = "setBudget" }
local HL = { active = "KovaRunning", paused = "KovaWaiting", blocked = "KovaWaiting", complete = "KovaOk" }

local STATUS = {
  active = t("active"),
  paused = t("paused"),
  blocked = t("blocked"),
  complete = t("complete"),
  cancelled = t("cancelled"),
}

--- A state in the person's words; one that we do not know, as it is.
---@param status string
local function said(status)
  return STATUS[status] or text.line(status, 12)
end

M.words = { "show", "pause", "resume", "cancel", "budget" }

--- A goal that has not ended, for the winbar and the statusline.
---@param goal table?
---@return string? words
---@return string? hl
function M.bar(goal)
  if not goal or goal.status == "complete" or goal.status == "cancelled" then
    return nil
  end
  local limit = goal.budget and goal.budget.turns
  local words = goal.status == "active" and tostring(goal.turns or 0) or said(goal.status)
  if limit and goal.status == "active" then
    words = ("%s/%d"):format(words, limit)
  end
  return t("goal ") .. words, HL[goal.status] or "KovaBar"
end

---@param goal table?
---@return string
local function line(goal)
  if not goal then
    return t("this conversation has no goal; ask for one in mode goal")
  end
  local words = t("goal %s: %s, turns begun: %d"):format(said(goal.status), text.line(goal.objective, 200), goal.turns or 0)
  return goal.reason and ("%s (%s)"):format(words, text.line(goal.reason, 200)) or words
end

--- Take the goal as it stands now; a change of its state is told to who looks elsewhere.
---@param s kova.SessionView
---@param goal table?
function M.take(s, goal)
  local before = s.goal
  s.goal = goal
  if goal and before and before.goalId == goal.goalId and before.status ~= goal.status then
    require("kova.chat").call_back("Kova: " .. line(goal), vim.log.levels.INFO)
  end
end

--- Run `:Kova goal …`.
---@param argument string
function M.run(argument)
  local word, number = argument:match("^(%S*)%s*(%S*)")
  local s = require("kova.session").current
  if not s then
    return text.say(t("Kova: no conversation has begun yet."))
  elseif word == "" or word == "show" then
    return text.say("Kova: " .. line(s.goal))
  elseif not VERBS[word] then
    return text.say(t(":Kova goal takes %s"):format(table.concat(M.words, ", ")), vim.log.levels.ERROR)
  end
  local params = { sessionId = s.id }
  if word == "budget" and number ~= "" then
    params.turns = tonumber(number)
    if not params.turns then
      return text.say(t(":Kova goal budget takes a number of turns, or none to lift it"), vim.log.levels.ERROR)
    end
  end
  client.request("kova/goal/" .. VERBS[word], params, function(problem, result)
    if problem then
      return text.say("Kova: " .. problem, vim.log.levels.ERROR)
    end
    text.say("Kova: " .. line(result.goal))
  end)
end

return M
