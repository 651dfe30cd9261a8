--- Review: what the agent changed and nobody decided on; known, shown, gone to.
--- Invariant: no hunk is drawn from an answer about another text than the buffer holds.
local client = require("kova.client")
local hunks = require("kova.hunks")
local list = require("kova.review_list")
local session = require("kova.session")
local text = require("kova.text")
local t = require("kova.l10n").t

local M = {}

local TYPING_MS, EVENT_MS = 200, 30
local MAX_SEARCHED = 20 -- conversations looked through for one that waits for review

---@type kova.Change[] what waits for review in the current conversation
M.changes = {}

local shown_for ---@type kova.SessionView? the conversation that `changes` is of
local is_asking, is_stale = false, false
local waiting = {} ---@type (fun())[] what waits for the next answer
local watched = {} ---@type table<integer, true> buffers whose changes are heard
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
    local buf = open[list.path_of(change)]
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
  list.update(M.changes)
end

--- Is an answer about what waits on its way?
function M.is_asking()
  return is_asking
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
    M.left = nil
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
        if list.path_of(change) == (vim.uv.fs_realpath(name) or name) then
          return M.refresh_soon()
        end
      end
    end,
  })
  session_changed()
end

--- Look, latest first, for a conversation in which something waits for review.
---@param entries table[] as `kova/session/list` gives them
---@param callback fun(entry: table?, changes: kova.Change[]?) not called once one is followed
local function find(entries, callback)
  local function look(at)
    local entry = at <= MAX_SEARCHED and entries[at] or nil
    if session.current or session.opening then
      return -- the answer about that one comes by itself
    elseif not entry then
      return callback(nil)
    end
    client.request("kova/changes/list", { sessionId = entry.sessionId }, function(failure, answer)
      if failure or #(answer.changes or {}) == 0 then
        return look(at + 1)
      end
      callback(entry, answer.changes)
    end)
  end
  look(1)
end

--- Follow the latest conversation of this folder in which something waits for review.
local function search()
  local params = { limit = MAX_SEARCHED, workspace = vim.uri_from_fname(client.root) }
  client.request("kova/session/list", params, function(problem, result)
    if problem then
      waiting = {}
      return text.say("Kova: " .. problem, vim.log.levels.ERROR)
    end
    find(result.sessions or {}, function(entry)
      if not entry then
        waiting = {}
        return text.say(t("Kova: nothing waits for review in this folder."))
      end
      session.attach(entry.sessionId, function(refusal)
        if refusal then
          warn(refusal)
        end
      end)
    end)
  end)
end

---@type string? how much an earlier conversation left for review, while none is followed
M.left = nil

--- Say what was left for review before Neovim was started.
---@param entries table[] the folder's conversations
function M.remind(entries)
  if session.current then
    return M.with_changes(function()
      if #M.changes > 0 then
        local words = list.words(M.changes)
        text.say(t("Kova: %s not reviewed yet; :Kova changes lists them."):format(words))
      end
    end)
  end
  find(entries, function(_, changes)
    M.left = changes and list.words(changes) or nil
    require("kova.transcript").refresh_empty()
  end)
end

--- Run once the changes of a conversation are known, connecting first where need be.
---@param callback fun()
function M.with_changes(callback)
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

--- Say that there is nothing.
function M.nothing()
  text.say(t("Kova: nothing waits for review in this conversation."))
end

--- List what waits for review in the quickfix list, one entry per hunk.
function M.list()
  M.with_changes(function()
    list.fill(M.changes)
    local total = list.counts(M.changes)
    if total == 0 then
      return M.nothing()
    end
    list.open(total)
  end)
end

-- looking -----------------------------------------------------------------------------------------

local function decide()
  return require("kova.review_decide")
end

--- Show the hunk under the cursor.
function M.preview()
  if not session.current then
    return M.with_changes(M.preview)
  end
  local entry = decide().meant()[1]
  if not entry then
    return decide().none_here()
  end
  local diff = entry.hunk and entry.hunk.diff or entry.change.conflict or entry.change.change
  local path = text.path(entry.change.uri, client.root)
  hunks.float(entry.hunk and ("%s  %s"):format(path, hunks.counts(entry.hunk)) or path, diff)
end

---@param step integer
local function go(step)
  local placed = hunks.placed(vim.api.nvim_get_current_buf())
  if #placed == 0 then
    return decide().none_here()
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
    return text.say(step > 0 and t("Kova: there is no later change in this buffer.") or t("Kova: there is no earlier change in this buffer."))
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
  M.with_changes(function()
    go(step)
  end)
end

return M
