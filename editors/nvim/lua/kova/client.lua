--- The connection to the engine: one LSP client per Neovim, started on first use.
--- Invariant: never waits; every request gets its callback, also when the server ends.
--- Invariant: an end that nobody asked for is followed by a new start.
local config = require("kova.config")
local documents = require("kova.documents")
local text = require("kova.text")
local trust = require("kova.trust")
local t = require("kova.l10n").t

local M = {}

--- As this client calls itself to the engine.
M.NAME = "kova.nvim"
M.version = "0.1.0"

---@alias kova.ConnectionState "off"|"starting"|"ready"|"lost"|"failed"

---@type kova.ConnectionState
M.state = "off"
---@type string? why the last start failed
M.problem = nil
---@type table? `capabilities.experimental.kova` of the server
M.server = nil
---@type string?
M.root = nil
M.trusted = false

local client_id ---@type integer?
local generation = 0
local attempts = 0
local ready_at = 0
local waiting = {} ---@type (fun(problem: string?))[]
local in_flight = {} ---@type table<table, fun(problem: string?, result: any)>
local listeners = {} ---@type table<string, fun(payload: any)[]>

--- Hear of `event`, `resync`, `panel`, `document`, `ready`, `lost` or `state`.
---@param name string
---@param listener fun(payload: any)
function M.on(name, listener)
  listeners[name] = listeners[name] or {}
  table.insert(listeners[name], listener)
end

local function emit(name, payload)
  for _, listener in ipairs(listeners[name] or {}) do
    listener(payload)
  end
end

---@param state kova.ConnectionState
local function become(state)
  M.state = state
  emit("state", state)
end

--- The workspace: settings first, then the repository of the current folder, then that folder.
---@return string
function M.find_root()
  local root = config.get().root
  if type(root) == "function" then
    root = root()
  end
  if not root then
    local cwd = vim.fn.getcwd()
    root = vim.fs.root(cwd, ".git") or cwd
  end
  return (vim.fs.normalize(vim.fn.fnamemodify(root, ":p")):gsub("(.)/$", "%1"))
end

local function settle(problem)
  local callbacks = waiting
  waiting = {}
  for _, callback in ipairs(callbacks) do
    callback(problem)
  end
end

local function drop_requests(problem)
  local open = in_flight
  in_flight = {}
  for _, callback in pairs(open) do
    callback(problem, nil)
  end
end

local function fail(problem)
  M.problem = problem
  become("failed")
  drop_requests(problem)
  settle(problem)
end

local function retry()
  attempts = attempts + 1
  if attempts > config.get().reconnect_attempts then
    fail(t("The server ended and could not be started again; see :checkhealth kova."))
    return
  end
  become("lost")
  local mine = generation
  vim.defer_fn(function()
    if mine == generation and M.state == "lost" then
      M.start(function() end)
    end
  end, math.min(100 * 2 ^ attempts, 5000))
end

local function ended(of)
  if of ~= generation then
    return
  end
  client_id = nil
  local was = M.state
  drop_requests(t("The connection to the engine was lost; nothing that was announced is lost."))
  if vim.uv.now() - ready_at > 10000 then
    attempts = 0 -- it had been well: this is a new trouble
  end
  if was == "failed" then
    return
  end
  emit("lost")
  retry()
end

local function handlers()
  local function notification(name)
    return function(_, params)
      emit(name, params)
    end
  end
  local own = {
    ["kova/event"] = notification("event"),
    ["kova/resyncRequired"] = notification("resync"),
    ["kova/panel/open"] = notification("panel"),
    ["window/showMessage"] = function(_, params)
      local levels = { vim.log.levels.ERROR, vim.log.levels.WARN, vim.log.levels.INFO }
      text.say(tostring(params.message), levels[params.type] or vim.log.levels.INFO)
      return vim.NIL
    end,
    ["window/logMessage"] = function() end,
    ["window/showDocument"] = function(_, params)
      return { success = require("kova.panels").show_document(params) }
    end,
  }
  return vim.tbl_extend("error", own, config.get().documents and documents.handlers() or {})
end

--- The function that `vim.lsp.start` calls to open the connection. It hides the exit code, since
--- Neovim 0.11 reports a failed server in a prompt that blocks every other request.
local function connect(mine)
  local settings = config.get()
  return function(dispatchers)
    local own = {}
    for name, value in pairs(dispatchers) do
      own[name] = value
    end
    own.on_exit = function()
      dispatchers.on_exit(0, 0)
      vim.schedule(function()
        ended(mine)
      end)
    end
    local rpc
    if type(settings.cmd) == "function" then
      rpc = settings.cmd(own)
    else
      local env = next(settings.env) and settings.env or nil
      rpc = vim.lsp.rpc.start(settings.cmd, own, { cwd = M.root, env = env })
    end
    if not rpc then
      return nil
    end
    local request = rpc.request
    rpc.request = function(method, params, callback, ...)
      if method ~= "initialize" then
        return request(method, params, callback, ...)
      end
      return request(method, params, function(err, result)
        if err then
          vim.schedule(function()
            fail(tostring(err.message or err))
            rpc.terminate()
          end)
        else
          callback(err, result)
        end
      end, ...)
    end
    return rpc
  end
end

--- A name for this window of the person, the same for as long as Neovim runs.
local window_id = ("nvim-%d-%d"):format(vim.fn.getpid(), vim.uv.hrtime() % 1e9)

local function lsp_config(mine)
  local sees_documents = config.get().documents
  local capabilities = vim.lsp.protocol.make_client_capabilities()
  capabilities.workspace.applyEdit = sees_documents
  return {
    capabilities = capabilities,
    flags = { debounce_text_changes = 0 }, -- the server's text is never behind when it edits
    name = "kova",
    cmd = connect(mine),
    root_dir = M.root,
    workspace_folders = { { uri = vim.uri_from_fname(M.root), name = vim.fs.basename(M.root) } },
    handlers = handlers(),
    before_init = function(params)
      params.locale = config.get().locale or vim.v.lang
    end,
    init_options = {
      kova = {
        versions = { 1 },
        client = { id = window_id, name = M.NAME, version = M.version },
        trusted = M.trusted,
        capabilities = {
          events = { maxLatencyMs = 40 },
          approvals = vim.empty_dict(),
          questions = vim.empty_dict(),
          panels = { kinds = { "loop", "plan", "markdown", "diff", "file" } },
          documents = sees_documents and vim.empty_dict() or nil,
          diagnostics = sees_documents and vim.empty_dict() or nil,
        },
      },
    },
    on_error = function(_, err)
      require("vim.lsp.log").error("kova", err)
    end,
    on_init = function(client, result)
      if mine ~= generation then
        return
      end
      local offered = (result or {}).capabilities or {}
      local server = (offered.experimental or {}).kova
      if not server then
        fail(t("The server does not speak the Kova protocol; check `cmd` with :checkhealth kova."))
        client:stop()
        return
      end
      client_id = client.id
      M.server = server
      M.problem = nil
      ready_at = vim.uv.now()
      become("ready")
      documents.follow(client.id, M.root)
      emit("ready")
      settle(nil)
    end,
  }
end

--- Connect when not connected.
---@param callback fun(problem: string?)
function M.start(callback)
  if M.state == "ready" then
    return callback(nil)
  end
  table.insert(waiting, callback)
  if M.state == "starting" then
    return
  end
  local cmd = config.get().cmd
  M.root = M.find_root()
  M.trusted = trust.get(M.root) == true
  if type(cmd) == "table" and vim.fn.executable(cmd[1]) == 0 then
    fail(t("%s was not found; install it, or set `cmd` (see :help kova-settings)."):format(cmd[1]))
    return
  end
  generation = generation + 1
  become("starting")
  local ok, problem
  if vim.fn.has("nvim-0.11") == 1 then
    ok, problem = pcall(vim.lsp.start, lsp_config(generation), {
      attach = false,
      reuse_client = function()
        return false
      end,
    })
  else
    ok, problem = pcall(vim.lsp.start_client, lsp_config(generation))
  end
  if not ok or not problem then
    fail(t("The server could not be started: ") .. tostring(problem))
  end
end

--- End the connection; the engine and its turns go on.
---@param callback fun()? when it has ended
function M.stop(callback)
  local client = client_id and vim.lsp.get_client_by_id(client_id)
  generation = generation + 1
  attempts = 0
  client_id = nil
  drop_requests(t("The connection was closed."))
  settle(t("The connection was closed."))
  become("off")
  if client then
    if vim.fn.has("nvim-0.11") == 1 then
      client:stop()
    else
      client.stop()
    end
  end
  if callback then
    vim.schedule(callback)
  end
end

--- Ask the engine.
---@param method string
---@param params table
---@param callback fun(problem: string?, result: any, code: string?) called exactly once
function M.request(method, params, callback)
  local client = client_id and vim.lsp.get_client_by_id(client_id)
  if M.state ~= "ready" or not client then
    return callback(M.problem or t("Not connected to the engine; it is being started."), nil)
  end
  local token = {}
  in_flight[token] = callback
  local function answered(err, result)
    local waits = in_flight[token]
    in_flight[token] = nil
    if not waits then
      return
    end
    if err then
      local code = type(err.data) == "table" and err.data.code or nil
      waits(tostring(err.message or err), nil, code)
    else
      waits(nil, result)
    end
  end
  local body = next(params) == nil and vim.empty_dict() or params
  local sent
  if vim.fn.has("nvim-0.11") == 1 then
    sent = client:request(method, body, answered)
  else
    sent = client.request(method, body, answered)
  end
  if not sent and in_flight[token] then
    in_flight[token] = nil
    callback(t("The engine could not be reached."), nil)
  end
end

return M
