--- What each event of a conversation means for what is known and shown of it.
--- Invariant: pure but for the view it is given, the session's sink and the cards.
local t = require("kova.l10n").t

local M = {}

local function cards()
  return require("kova.cards")
end

local function sink()
  return require("kova.session").sink
end

--- Take mode, level and model.
---@param s kova.SessionView
---@param settings table
function M.take_settings(s, settings)
  s.mode = settings.mode or s.mode
  s.level = settings.level or s.level
  s.model = settings.model or s.model
end

--- The whole takes the place of what was known: a cost that has become unknown goes.
local function take_usage(s, usage)
  if type(usage) == "table" then
    s.usage = usage
  end
end

local apply = {} ---@type table<string, fun(s: kova.SessionView, p: table, event: table)>
M.apply = apply

apply["session.configured"] = function(s, p)
  M.take_settings(s, p)
end
apply["session.renamed"] = function(s, p)
  s.title = p.title
end
apply["queue.updated"] = function(s, p)
  s.queue = p.queue or {}
end
apply["goal.updated"] = function(s, p)
  require("kova.goal").take(s, p.goal)
end
apply["turn.started"] = function(s, _, event)
  s.state, s.turn_id, s.step = "running", event.turnId, nil
end
apply["turn.suspended"] = function(s)
  s.state = "waiting"
end
apply["turn.resumed"] = function(s)
  s.state = "running"
end
apply["turn.completed"] = function(s, p)
  s.state, s.turn_id, s.step = "idle", nil, nil
  take_usage(s, p.usage)
  sink().turn_completed(p)
  local failed = p.error ~= nil
  if not failed and s.goal and s.goal.status == "active" then
    return -- the next turn begins by itself; the goal's own end is told
  end
  local words = failed and t("failed: ") .. (p.error.message or "") or ("%s: %s"):format(p.stopReason or "ended", s.title)
  require("kova.chat").call_back("Kova " .. words, failed and vim.log.levels.ERROR or vim.log.levels.INFO)
end
apply["step.started"] = function(s, p)
  s.step = p.number
end
apply["model.replied"] = function(s, p)
  take_usage(s, p.total)
end
apply["item.started"] = function(_, p, event)
  sink().item(p.item, event.at)
end
apply["item.completed"] = function(_, p, event)
  sink().item(p.item, event.at)
end
apply["item.updated"] = function(_, p, event)
  sink().status(event.itemId or p.itemId, p.status)
end
apply["item.delta"] = function(_, p, event)
  sink().delta(event.itemId, p)
end
apply["approval.requested"] = function(_, p)
  cards().add_approval(p.approval)
end
apply["approval.resolved"] = function(_, p)
  cards().resolved(p.approvalId, p.decision, p.resolvedBy)
end
apply["question.requested"] = function(_, p)
  cards().add_question(p.request)
end
apply["question.resolved"] = function(_, p)
  cards().resolved(p.questionId, p.outcome, p.resolvedBy)
end

apply["changes.updated"] = function()
  require("kova.review").refresh_soon()
end

return M
