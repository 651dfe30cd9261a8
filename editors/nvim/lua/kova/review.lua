--- Review: what the agent changed and nobody decided on; listed, shown, kept, put back.
--- Invariant: the engine decides and writes; nothing is kept or put back here.
--- Invariant: no hunk is drawn from an answer about another text than the buffer holds.
local client = require("kova.client")
local hunks = require("kova.hunks")
local session = require("kova.session")
local text = require("kova.text")

local M = {}

local TYPING_MS, EVENT_MS = 200, 30
local MAX_SEARCHED = 20 -- conversations looked through for one that waits for review

---@type kova.Change[] what waits for review in the current conversation
M.changes = {}

local shown_for ---@type kova.SessionView? the conversation that `changes` is of
local is_asking, is_stale = false, false
local waiting = {} ---@type (fun())[] what waits for the next answer
local watched = {} ---@type table<integer, true> buffers whose changes are heard
local list_id ---@type integer? of the quickfix list
local timer = assert(vim.uv.new_timer())

local function warn(message)
  text.say("Kova: " .. message, vim.log.levels.WARN)
end

--- Ask anew in a moment: several reasons make one request.
---@param ms integer?
function M.refresh_soon(ms)
  timer:start(ms or EVENT_MS, 0, vim.schedule_wrap(function()
    M.refresh()
  end))
end

--- Loaded buffers by the path of their file.
---@return table<string, integer>
local function buffers()
  local found = {}
  for _, buf in ipairs(vim.api.nvim_list_bufs()) do
    local name = vim.api.nvim_buf_get_name(buf)
    if vim.api.nvim_buf_is_loaded(buf) and vim.bo[buf].buftype == "" and name ~= "" then
      found[vim.uv.fs_realpath(name) or name] = buf
      found[name] = buf
    end
  end
  return found
end

---@param change kova.Change
local function path_of(change)
  local ok, path = pcall(vim.uri_to_fname, change.uri)
  return ok and path or change.uri
end

---@return integer hunks
---@return integer files
local function counts()
  local total = 0
  for _, change in ipairs(M.changes) do
    total = total + math.max(#change.hunks, 1)
  end
  return total, #M.changes
end

---@param n integer
---@param word string
local function some(n, word)
  return ("%d %s%s"):format(n, word, n == 1 and "" or "s")
end

-- the quickfix list -------------------------------------------------------------------------------

local function entries()
  local items = {}
  for _, change in ipairs(M.changes) do
    local path = path_of(change)
    for _, hunk in ipairs(change.hunks) do
      local lines = hunks.lines(hunk, hunk.lineCount > 0 and "+" or "-")
      local words = change.change == "create" and "new file" or vim.trim(text.line(lines[1] or "", 80))
      table.insert(items, {
        filename = path,
        lnum = hunk.startLine + 1,
        end_lnum = hunk.startLine + math.max(hunk.lineCount, 1),
        text = ("%s  %s"):format(hunks.counts(hunk), words),
        user_data = { changeId = change.changeId, hunkId = hunk.hunkId },
      })
    end
    if #change.hunks == 0 then
      table.insert(items, {
        filename = path,
        text = text.line(change.conflict or change.change, 200),
        type = "W",
        user_data = { changeId = change.changeId },
      })
    end
  end
  return items
end

local function fill_list()
  local total, files = counts()
  local title = total == 0 and "Kova: nothing waits for review"
    or ("Kova: %s in %s"):format(some(total, "change"), some(files, "file"))
  local old = list_id and vim.fn.getqflist({ id = list_id, idx = 0, title = 1 }) or { id = 0 }
  local items = entries()
  if old.id ~= 0 then
    vim.fn.setqflist({}, "r", { id = list_id, items = items, title = title })
    if #items > 0 then
      vim.fn.setqflist({}, "a", { id = list_id, idx = math.min(math.max(old.idx, 1), #items) })
    end
  else
    vim.fn.setqflist({}, " ", { items = items, title = title })
    list_id = vim.fn.getqflist({ id = 0 }).id
  end
end

local function update_list()
  if list_id and vim.fn.getqflist({ id = list_id }).id ~= 0 then
    fill_list()
  else
    list_id = nil
  end
end

--- The change that a line of our quickfix list stands for.
---@return kova.DrawnHunk?
local function listed()
  local info = vim.fn.getqflist({ id = 0, items = 0 })
  if vim.bo.buftype ~= "quickfix" or vim.fn.getloclist(0, { filewinid = 0 }).filewinid ~= 0 or info.id ~= list_id then
    return nil
  end
  local meant = (info.items[vim.fn.line(".")] or {}).user_data
  for _, change in ipairs(type(meant) == "table" and M.changes or {}) do
    if change.changeId == meant.changeId then
      for _, hunk in ipairs(change.hunks) do
        if hunk.hunkId == meant.hunkId then
          return { change = change, hunk = hunk }
        end
      end
      return not meant.hunkId and { change = change } or nil
    end
  end
end

-- what is shown -----------------------------------------------------------------------------------

---@param buf integer
local function watch(buf)
  if watched[buf] then
    return
  end
  watched[buf] = vim.api.nvim_buf_attach(buf, false, {
    on_lines = function()
      M.refresh_soon(TYPING_MS)
    end,
    on_reload = function()
      M.refresh_soon(TYPING_MS)
    end,
    on_detach = function()
      watched[buf] = nil
    end,
  }) or nil
end

local function ticks()
  local now = {}
  for _, buf in pairs(buffers()) do
    now[buf] = vim.api.nvim_buf_get_changedtick(buf)
  end
  return now
end

---@param changes kova.Change[]
---@param of table<integer, integer> the buffers' ticks when it was asked for
local function take(changes, of)
  M.changes = changes
  local open, meant = buffers(), {}
  for _, change in ipairs(changes) do
    local buf = open[path_of(change)]
    if buf then
      meant[buf] = true
      watch(buf)
      if of[buf] == vim.api.nvim_buf_get_changedtick(buf) then
        hunks.draw(buf, change)
      else
        M.refresh_soon(TYPING_MS)
      end
    end
  end
  for _, buf in ipairs(hunks.buffers()) do
    if not meant[buf] then
      hunks.clear(buf)
    end
  end
  update_list()
end

local function settle()
  local callbacks = waiting
  waiting = {}
  for _, callback in ipairs(callbacks) do
    callback()
  end
end

--- Ask what waits for review, and show it.
function M.refresh()
  local s = session.current
  if not s or client.state ~= "ready" then
    return
  end
  if is_asking then
    is_stale = true
    return
  end
  is_asking, is_stale = true, false
  local of = ticks()
  client.request("kova/changes/list", { sessionId = s.id }, function(problem, result)
    is_asking = false
    if not session.current or session.current.id ~= s.id then
      return M.refresh_soon(0)
    end
    if problem then
      if #waiting > 0 then
        text.say("Kova: " .. problem, vim.log.levels.ERROR)
        waiting = {}
      end
      return
    end
    take(result.changes or {}, of)
    if is_stale then
      return M.refresh()
    end
    settle()
  end)
end

local function session_changed()
  if session.current ~= shown_for then
    shown_for = session.current
    take({}, {})
    M.refresh()
  end
end

local begun = false

--- Follow the current conversation's changes from now on.
function M.begin()
  if begun then
    return
  end
  begun = true
  require("kova.highlights").setup()
  session.on_change(session_changed)
  client.on("ready", function()
    M.refresh_soon()
  end)
  vim.api.nvim_create_autocmd({ "BufReadPost", "BufFilePost" }, {
    group = vim.api.nvim_create_augroup("kova.review", {}),
    callback = function(args)
      local name = vim.api.nvim_buf_get_name(args.buf)
      for _, change in ipairs(M.changes) do
        if path_of(change) == (vim.uv.fs_realpath(name) or name) then
          return M.refresh_soon()
        end
      end
    end,
  })
  session_changed()
end

--- Follow the latest conversation of this folder in which something waits for review.
local function search()
  local params = { limit = MAX_SEARCHED, workspace = vim.uri_from_fname(client.root) }
  client.request("kova/session/list", params, function(problem, result)
    local function look(at)
      local entry = (result.sessions or {})[at]
      if session.current or session.opening then
        return -- the answer about that one comes by itself
      elseif not entry then
        waiting = {}
        return text.say("Kova: nothing waits for review in this folder.")
      end
      client.request("kova/changes/list", { sessionId = entry.sessionId }, function(failure, answer)
        if failure or #(answer.changes or {}) == 0 then
          return look(at + 1)
        end
        session.attach(entry.sessionId, function(refusal)
          if refusal then
            warn(refusal)
          end
        end)
      end)
    end
    if problem then
      waiting = {}
      return text.say("Kova: " .. problem, vim.log.levels.ERROR)
    end
    look(1)
  end)
end

--- Run once the changes of a conversation are known, connecting first where need be.
---@param callback fun()
local function with_changes(callback)
  M.begin()
  table.insert(waiting, callback)
  if session.current and client.state == "ready" then
    return M.refresh()
  end
  require("kova.chat").connect()
  client.start(function(problem)
    if problem then
      waiting = {}
    elseif not session.current then
      search()
    end
  end)
end

local function nothing()
  text.say("Kova: nothing waits for review in this conversation.")
end

--- List what waits for review in the quickfix list, one entry per hunk.
function M.list()
  with_changes(function()
    fill_list()
    local total = counts()
    if total == 0 then
      return nothing()
    end
    local nr = vim.fn.getqflist({ id = list_id, nr = 0 }).nr
    vim.cmd(("silent %dchistory"):format(nr))
    vim.cmd.stopinsert()
    vim.cmd(("botright copen %d"):format(math.min(math.max(total, 3), 10)))
  end)
end

-- deciding ----------------------------------------------------------------------------------------

---@param decision "keep"|"revert"
---@param params table
local function decide(decision, params)
  params.sessionId, params.decision = session.current.id, decision
  client.request("kova/changes/decide", params, function(problem, result)
    if problem then
      return text.say("Kova: " .. problem, vim.log.levels.ERROR)
    end
    M.refresh()
    local refused = result.refused or {}
    if #refused > 0 then
      local message = table.concat(refused, " ")
      warn(message)
      if vim.fn.strdisplaywidth(message) > vim.o.columns - 20 then
        hunks.float("Kova left this as it is", table.concat(refused, "\n"))
      end
      return
    end
    local left = 0
    for _, change in ipairs(result.changes or {}) do
      left = left + math.max(#change.hunks, 1)
    end
    if left == 0 and list_id and vim.fn.getqflist({ id = 0 }).id == list_id then
      vim.cmd.cclose()
    end
    local rest = left == 0 and "nothing more waits" or some(left, "change") .. (left == 1 and " waits" or " wait")
    text.say(("Kova: %s; %s for review."):format(decision == "keep" and "kept" or "reverted", rest))
  end)
end

--- The change of the file that the person looks at.
---@return kova.Change?
local function change_here()
  local entry = listed()
  if entry then
    return entry.change
  end
  local name = vim.api.nvim_buf_get_name(0)
  name = vim.uv.fs_realpath(name) or name
  for _, change in ipairs(M.changes) do
    if path_of(change) == name then
      return change
    end
  end
end

--- The hunks that are meant by the cursor, or by a range.
---@param first integer? one-based
---@param last integer?
---@return kova.DrawnHunk[]
local function meant(first, last)
  local entry = listed()
  if entry then
    return { entry }
  end
  local line = vim.fn.line(".")
  return hunks.on_lines(vim.api.nvim_get_current_buf(), (first or line) - 1, (last or line) - 1)
end

local function none_here()
  local total, files = counts()
  if total == 0 then
    return nothing()
  end
  local where = ("%s in %s"):format(some(total, "change"), some(files, "file"))
  text.say(("Kova: no change of the agent's here; :Kova changes lists %s."):format(where))
end

---@param callback fun(turn_id: string)
local function turn_meant(callback)
  local here = change_here()
  local last = (here or M.changes[#M.changes]).turnIds
  client.request("kova/loop/read", { sessionId = session.current.id }, function(problem, loop)
    for _, change in ipairs((problem or here) and {} or M.changes) do
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
  for _, entry in ipairs(meant(options.first, options.last)) do
    table.insert(entry.hunk and ids or files, entry.hunk and entry.hunk.hunkId or entry.change.changeId)
  end
  if #ids + #files == 0 then
    return none_here()
  end
  decide(decision, { hunkIds = ids, changeIds = files })
end

function scopes.file(decision)
  local change = change_here()
  if not change then
    return none_here()
  end
  decide(decision, { changeIds = { change.changeId } })
end

function scopes.turn(decision)
  if #M.changes == 0 then
    return nothing()
  end
  turn_meant(function(turn_id)
    decide(decision, { turnId = turn_id })
  end)
end

function scopes.all(decision, options)
  local total, files = counts()
  if total == 0 then
    return nothing()
  end
  if decision == "keep" or options.bang then
    return decide(decision, {})
  end
  local question = ("Revert %s in %s?"):format(some(total, "change"), some(files, "file"))
  vim.ui.select({ "leave them", "revert all" }, { prompt = question }, function(_, index)
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
    return text.say((":Kova %s takes hunk, file, turn or all"):format(decision), vim.log.levels.ERROR)
  end
  if session.current and client.state == "ready" and not is_asking then
    return run(decision, options or {})
  end
  with_changes(function()
    run(decision, options or {})
  end)
end

-- looking -----------------------------------------------------------------------------------------

--- Show the hunk under the cursor.
function M.preview()
  if not session.current then
    return with_changes(M.preview)
  end
  local entry = meant()[1]
  if not entry then
    return none_here()
  end
  local diff = entry.hunk and entry.hunk.diff or entry.change.conflict or entry.change.change
  local path = text.path(entry.change.uri, client.root)
  hunks.float(entry.hunk and ("%s  %s"):format(path, hunks.counts(entry.hunk)) or path, diff)
end

---@param step integer
local function go(step)
  local placed = hunks.placed(vim.api.nvim_get_current_buf())
  if #placed == 0 then
    return none_here()
  end
  local line = vim.fn.line(".") - 1
  local above, reached = 0, 0 -- how many begin before this line, and how many on it too
  for _, place in ipairs(placed) do
    above = above + (place.first < line and 1 or 0)
    reached = reached + (place.first <= line and 1 or 0)
  end
  local to = step > 0 and reached + step or above + 1 + step
  if vim.o.wrapscan then
    to = (to - 1) % #placed + 1
  elseif step > 0 and reached == #placed or step < 0 and above == 0 then
    return text.say(("Kova: there is no %s change in this buffer."):format(step > 0 and "later" or "earlier"))
  end
  vim.cmd("normal! m'")
  vim.api.nvim_win_set_cursor(0, { placed[math.max(1, math.min(to, #placed))].first + 1, 0 })
  vim.cmd("normal! ^zv")
end

--- Go to a later or an earlier hunk of this buffer.
---@param direction 1|-1
function M.jump(direction)
  local step = direction * vim.v.count1
  if session.current then
    return go(step)
  end
  with_changes(function()
    go(step)
  end)
end

return M
