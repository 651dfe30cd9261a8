--- Keeping and putting back what is meant: a hunk, a file, a turn, all.
--- Invariant: the engine decides and writes; nothing is kept or put back here.
local client = require("kova.client")
local hunks = require("kova.hunks")
local list = require("kova.review_list")
local review = require("kova.review")
local session = require("kova.session")
local text = require("kova.text")
local t = require("kova.l10n").t

local M = {}

---@param decision "keep"|"revert"
---@param params table
local function decide(decision, params)
  params.sessionId, params.decision = session.current.id, decision
  client.request("kova/changes/decide", params, function(problem, result)
    if problem then
      return text.say("Kova: " .. problem, vim.log.levels.ERROR)
    end
    review.refresh()
    local refused = result.refused or {}
    if #refused > 0 then
      local message = table.concat(refused, " ")
      text.say("Kova: " .. message, vim.log.levels.WARN)
      if vim.fn.strdisplaywidth(message) > vim.o.columns - 20 then
        hunks.float(t("Kova left this as it is"), table.concat(refused, "\n"))
      end
      return
    end
    local left = 0
    for _, change in ipairs(result.changes or {}) do
      left = left + math.max(#change.hunks, 1)
    end
    if left == 0 and list.is_current() then
      vim.cmd.cclose()
    end
    local rest = left == 0 and t("nothing more waits") or (left == 1 and t("%s waits") or t("%s wait")):format(list.some(left, "change"))
    text.say((decision == "keep" and t("Kova: kept; %s for review.") or t("Kova: reverted; %s for review.")):format(rest))
  end)
end

--- The change of the file that the person looks at.
---@return kova.Change?
local function change_here()
  local entry = list.listed(review.changes)
  if entry then
    return entry.change
  end
  local name = vim.api.nvim_buf_get_name(0)
  name = vim.uv.fs_realpath(name) or name
  for _, change in ipairs(review.changes) do
    if list.path_of(change) == name then
      return change
    end
  end
end

--- The hunks that are meant by the cursor, or by a range.
---@param first integer? one-based
---@param last integer?
---@return kova.DrawnHunk[]
function M.meant(first, last)
  local entry = list.listed(review.changes)
  if entry then
    return { entry }
  end
  local line = vim.fn.line(".")
  return hunks.on_lines(vim.api.nvim_get_current_buf(), (first or line) - 1, (last or line) - 1)
end

--- Say that nothing is meant, and where something is.
function M.none_here()
  if #review.changes == 0 then
    return review.nothing()
  end
  text.say(t("Kova: no change of the agent's here; :Kova changes lists %s."):format(list.words(review.changes)))
end

---@param callback fun(turn_id: string)
local function turn_meant(callback)
  local here = change_here()
  local last = (here or review.changes[#review.changes]).turnIds
  client.request("kova/loop/read", { sessionId = session.current.id }, function(problem, loop)
    for _, change in ipairs((problem or here) and {} or review.changes) do
      if vim.tbl_contains(change.turnIds, loop.turnId) then
        return callback(loop.turnId)
      end
    end
    callback(last[#last])
  end)
end

local scopes = {} ---@type table<string, fun(decision: "keep"|"revert", options: table)>

function scopes.hunk(decision, options)
  local ids, files = {}, {}
  for _, entry in ipairs(M.meant(options.first, options.last)) do
    table.insert(entry.hunk and ids or files, entry.hunk and entry.hunk.hunkId or entry.change.changeId)
  end
  if #ids + #files == 0 then
    return M.none_here()
  end
  decide(decision, { hunkIds = ids, changeIds = files })
end

function scopes.file(decision)
  local change = change_here()
  if not change then
    return M.none_here()
  end
  decide(decision, { changeIds = { change.changeId } })
end

function scopes.turn(decision)
  if #review.changes == 0 then
    return review.nothing()
  end
  turn_meant(function(turn_id)
    decide(decision, { turnId = turn_id })
  end)
end

function scopes.all(decision, options)
  local total, files = list.counts(review.changes)
  if total == 0 then
    return review.nothing()
  end
  if decision == "keep" or options.bang then
    return decide(decision, {})
  end
  local question = t("Revert %s in %s?"):format(list.some(total, "change"), list.some(files, "file"))
  vim.ui.select({ t("leave them"), t("revert all") }, { prompt = question }, function(_, index)
    if index == 2 then
      decide(decision, {})
    end
  end)
end

--- Keep or put back what is meant.
---@param decision "keep"|"revert"
---@param scope string hunk, file, turn or all
---@param options { first: integer?, last: integer?, bang: boolean? }?
function M.decide(decision, scope, options)
  local run = scopes[scope == "" and "hunk" or scope]
  if not run then
    return text.say(t(":Kova %s takes hunk, file, turn or all"):format(decision), vim.log.levels.ERROR)
  end
  if session.current and client.state == "ready" and not review.is_asking() then
    return run(decision, options or {})
  end
  review.with_changes(function()
    run(decision, options or {})
  end)
end

return M
