--- The conversation this Neovim follows: its settings, its events in order, what is asked of it.
--- Invariant: events are applied in the order of `seq`, each once; a gap means attach again.
--- Invariant: cards go when the engine says so, never when a key is pressed.
local client = require("kova.client")
local events = require("kova.session_events")
local text = require("kova.text")
local t = require("kova.l10n").t

local M = {}

---@class kova.SessionView
---@field id string
---@field epoch string
---@field seq integer
---@field title string
---@field mode string
---@field level string
---@field model string
---@field state "idle"|"running"|"waiting"
---@field turn_id string?
---@field queue table[]
---@field usage table
---@field goal table?
---@field step integer?
---@field held table[]? events that came while an attach was under way
---@field items_before integer?

---@type kova.SessionView?
M.current = nil
---@class kova.Draft what the next conversation will be created with
---@field mode string
---@field level string?
---@field model string?
M.draft = { mode = "agent" }
---@type boolean
M.opening = false

local early = {} ---@type table<string, table[]> events that came before their session was known
local listeners = {} ---@type (fun())[]
---@class kova.SessionView.Sink
---@field reset fun(snapshot: table)
---@field item fun(item: table, at: number?)
---@field status fun(item_id: string, status: string)
---@field delta fun(item_id: string, payload: table)
---@field turn_completed fun(payload: table)
M.sink = nil

--- Hear of every change of settings or state.
---@param listener fun()
function M.on_change(listener)
  table.insert(listeners, listener)
end

local function changed()
  for _, listener in ipairs(listeners) do
    listener()
  end
end
M.changed = changed

local function cards()
  return require("kova.cards")
end

local SILENT = { ["item.delta"] = true, ["item.updated"] = true }

--- Apply one event, in order and once.
---@param s kova.SessionView
---@param event table
local function take(s, event)
  if event.seq then
    if event.epoch ~= s.epoch or event.seq > s.seq + 1 then
      return M.resync()
    end
    if event.seq <= s.seq then
      return
    end
    s.seq = event.seq
  end
  local handle = events.apply[event.type]
  if handle then
    handle(s, event.payload or {}, event)
    if not SILENT[event.type] then
      changed()
    end
  end
end

local function on_event(event)
  local s = M.current
  if s and event.sessionId == s.id then
    if s.held then
      table.insert(s.held, event)
    else
      take(s, event)
    end
  elseif M.opening then
    early[event.sessionId] = early[event.sessionId] or {}
    table.insert(early[event.sessionId], event)
  end
end

---@param snapshot table
---@return kova.SessionView
local function view_of(snapshot)
  return {
    id = snapshot.sessionId,
    epoch = snapshot.watermark.epoch,
    seq = snapshot.watermark.seq,
    title = snapshot.title or "",
    mode = snapshot.mode,
    level = snapshot.level,
    model = snapshot.model,
    state = snapshot.state,
    turn_id = snapshot.turnId,
    queue = snapshot.queue or {},
    usage = snapshot.usage or {},
    goal = snapshot.goal,
    items_before = snapshot.itemsBefore,
  }
end

---@param snapshot table
local function adopt(snapshot)
  local s = view_of(snapshot)
  M.current = s
  M.opening = false
  M.sink.reset(snapshot)
  cards().reconcile(snapshot.approvals or {}, snapshot.questions or {})
  if snapshot.ended then
    M.sink.turn_completed(snapshot.ended)
  end
  for _, notice in ipairs(snapshot.notices or {}) do
    M.sink.item({ kind = "notice", itemId = "notice:" .. notice, level = "warning", text = notice })
  end
  local held = early[s.id] or {}
  early = {}
  for _, event in ipairs(held) do
    take(s, event)
  end
  changed()
  return s
end

local function release(s)
  local held = s.held or {}
  s.held = nil
  for _, event in ipairs(held) do
    if s.held then
      table.insert(s.held, event) -- one of them asked for another attach
    elseif M.current == s then
      take(s, event)
    end
  end
end

--- Follow the current conversation again from the last event seen.
function M.resync()
  local s = M.current
  if not s or s.held then
    return
  end
  s.held = {}
  local cursor = { epoch = s.epoch, seq = s.seq }
  client.request("kova/session/attach", { sessionId = s.id, cursor = cursor }, function(problem, result)
    if M.current ~= s then
      return
    end
    if problem then
      s.held = nil
      if client.state == "ready" then
        text.say("Kova: " .. problem, vim.log.levels.ERROR)
      end
      return changed()
    end
    local snapshot = result.snapshot
    if result.reset or snapshot.watermark.epoch ~= s.epoch then
      local held = s.held
      local fresh = adopt(snapshot)
      fresh.held = held
      return release(fresh)
    end
    local held = s.held
    s.held = nil
    for _, event in ipairs(result.events or {}) do
      take(s, event)
    end
    if s.held then
      return -- the answer itself had a gap: another attach is under way
    end
    s.held = held
    if result.more then
      s.held = nil
      return M.resync()
    end
    events.take_settings(s, snapshot)
    s.title, s.queue, s.usage = snapshot.title, snapshot.queue or {}, snapshot.usage or s.usage
    s.goal = snapshot.goal
    s.state, s.turn_id = snapshot.state, snapshot.turnId
    if result.watermark then
      s.seq = math.max(s.seq, result.watermark.seq)
    end
    cards().reconcile(snapshot.approvals or {}, snapshot.questions or {})
    release(s)
    changed()
  end)
end

--- Leave the current conversation; its turn, if one runs, goes on.
local function leave()
  local s = M.current
  M.current = nil
  cards().reconcile({}, {})
  if s and client.state == "ready" then
    client.request("kova/session/detach", { sessionId = s.id }, function() end)
  end
end

--- Follow a conversation.
---@param id string
---@param callback fun(problem: string?)?
function M.attach(id, callback)
  callback = callback or function() end
  client.start(function(problem)
    if problem then
      return callback(problem)
    end
    if M.current and M.current.id == id then
      return callback(nil)
    end
    M.opening = true
    client.request("kova/session/attach", { sessionId = id }, function(failure, result)
      if failure then
        M.opening = false
        return callback(failure)
      end
      if M.current and M.current.id ~= id then
        leave()
      end
      local s = adopt(result.snapshot)
      for _, event in ipairs(result.events or {}) do
        take(s, event)
      end
      callback(nil)
    end)
  end)
end

--- Begin with an empty transcript; the conversation is created with its first prompt.
function M.new()
  leave()
  M.draft = { mode = "agent" }
  M.sink.reset({ items = {} })
  changed()
end

local creating ---@type (fun(problem: string?))[]?

--- Have a conversation: the current one, or a new one.
---@param callback fun(problem: string?, session: kova.SessionView?)
function M.ensure(callback)
  client.start(function(problem)
    if problem then
      return callback(problem)
    end
    if M.current then
      return callback(nil, M.current)
    end
    if creating then
      return table.insert(creating, callback)
    end
    creating = { callback }
    M.opening = true
    local draft = M.draft
    local params = { mode = draft.mode, level = draft.level, model = draft.model }
    client.request("kova/session/create", params, function(failure, snapshot)
      local callbacks = creating or {}
      creating = nil
      if failure then
        M.opening = false
      else
        adopt(snapshot)
      end
      for _, waits in ipairs(callbacks) do
        waits(failure, M.current)
      end
    end)
  end)
end

--- The level a new conversation will have.
function M.draft_level()
  return M.draft.level or (client.trusted and "workspace-write" or "ask")
end

--- Change mode, level or model, now or for the next conversation.
---@param settings { mode: string?, level: string?, model: string? }
function M.configure(settings)
  local s = M.current
  if not s then
    M.draft = vim.tbl_extend("force", M.draft, settings)
    return changed()
  end
  local params = vim.tbl_extend("force", { sessionId = s.id }, settings)
  client.request("kova/session/configure", params, function(problem, result)
    if problem then
      return text.say("Kova: " .. problem, vim.log.levels.ERROR)
    end
    events.take_settings(s, result)
    changed()
  end)
end

--- Go to the next approval level.
function M.cycle_level()
  local s = M.current
  if not s then
    local levels = (client.server or {}).levels or { "ask", "workspace-write", "auto-edit", "auto" }
    local now = M.draft_level()
    for i, level in ipairs(levels) do
      if level == now then
        return M.configure({ level = levels[i % #levels + 1] })
      end
    end
    return
  end
  client.request("kova/session/cycleLevel", { sessionId = s.id }, function(problem, result)
    if problem then
      return text.say("Kova: " .. problem, vim.log.levels.ERROR)
    end
    events.take_settings(s, result)
    changed()
  end)
end

--- Give a prompt. The same `prompt_id` again is the same turn.
---@param parts table[]
---@param prompt_id string
---@param how "queue"|"steer"
---@param callback fun(problem: string?, status: string?)
function M.send(parts, prompt_id, how, callback)
  M.ensure(function(problem, s)
    if problem or not s then
      return callback(problem or t("There is no conversation."))
    end
    client.request("kova/turn/start", {
      sessionId = s.id,
      input = parts,
      promptId = prompt_id,
      whenBusy = how,
    }, function(failure, result)
      callback(failure, result and result.status)
    end)
  end)
end

--- Take back a prompt that waits.
---@param prompt_id string
---@param callback fun(problem: string?, input: kova.InputPart[])
function M.withdraw(prompt_id, callback)
  local params = { sessionId = M.current.id, promptId = prompt_id }
  client.request("kova/turn/withdraw", params, function(problem, result)
    callback(problem, result and result.input or {})
  end)
end

--- Stop the running turn and say what was stopped.
function M.interrupt()
  local s = M.current
  if not s or (s.state == "idle" and not (s.goal and s.goal.status == "active")) then
    return text.say(t("Kova: nothing is running."))
  end
  client.request("kova/turn/interrupt", { sessionId = s.id }, function(problem, result)
    if problem then
      return text.say("Kova: " .. problem, vim.log.levels.ERROR)
    end
    local stopped = result.stopped or {}
    local message = #stopped > 0 and t("stopped %s"):format(table.concat(stopped, ", ")) or t("stopped")
    local running = result.stillRunning or {}
    if #running > 0 then
      message = message .. t("; still running: ") .. table.concat(running, ", ")
    end
    text.say("Kova: " .. message)
  end)
end

client.on("event", on_event)
client.on("resync", function(params)
  if M.current and params.sessionId == M.current.id then
    M.resync()
  end
end)
client.on("ready", function()
  if M.current then
    M.current.held = nil
    M.resync()
  end
  changed()
end)
client.on("lost", changed)
client.on("state", changed)

return M
