--- Kova in Neovim: `setup()` is optional; every function here may be mapped.

local function t(english) -- late: nothing is loaded before the first use
  return require("kova.l10n").t(english)
end

local M = {}

--- Take settings; see |kova-settings|.
---@param settings table?
function M.setup(settings)
  require("kova.config").set(settings)
end

local function forward(module, name, ...)
  local fixed = { ... }
  return function(...)
    local arguments = #fixed > 0 and fixed or { ... }
    return require(module)[name](unpack(arguments))
  end
end

M.toggle = forward("kova.chat", "toggle")
M.open = forward("kova.chat", "open")
M.close = forward("kova.chat", "close")
M.focus = forward("kova.chat", "focus")
M.send = forward("kova.prompt", "send", "queue")
M.steer = forward("kova.prompt", "send", "steer")
M.unqueue = forward("kova.prompt", "unqueue")
M.drop_attachments = forward("kova.prompt", "drop_attachments")
M.stop = forward("kova.session", "interrupt")
M.cycle_level = forward("kova.session", "cycle_level")
M.new = forward("kova.session", "new")
M.card = forward("kova.cards", "focus")
M.pick_model = forward("kova.sessions", "model")
M.pick_session = forward("kova.sessions", "pick")
M.loop = forward("kova.panels", "loop", true)
M.changes = forward("kova.review", "list")
M.keep = forward("kova.review_decide", "decide", "keep", "hunk")
M.revert = forward("kova.review_decide", "decide", "revert", "hunk")
M.hunk = forward("kova.review", "preview")
M.next_hunk = forward("kova.review", "jump", 1)
M.prev_hunk = forward("kova.review", "jump", -1)
M.fix = forward("kova.diagnostics", "fix")
M.attach_diagnostics = forward("kova.diagnostics", "attach")
M.yank_code = forward("kova.code", "yank")
M.insert_code = forward("kova.code", "insert")
M.permissions = forward("kova.permissions", "open")

--- A line for a statusline; empty until Kova is used.
---@return string
function M.statusline()
  if not package.loaded["kova.chat"] then
    return ""
  end
  return require("kova.status").statusline()
end

--- Ask something at once, with parts beside the text.
---@param prompt string
---@param parts table[]? input parts
function M.ask(prompt, parts)
  local chat = require("kova.chat")
  chat.open()
  vim.cmd.stopinsert()
  require("kova.prompt").send("queue", { text = prompt, parts = parts or {} })
end

--- Store what the person said of the folder, and connect anew so that it counts.
local function decide(trusted)
  local client = require("kova.client")
  local root = client.root or client.find_root()
  local problem = require("kova.trust").set(root, trusted)
  local text = require("kova.text")
  if problem then
    return text.say(t("Kova: the answer could not be stored: ") .. problem, vim.log.levels.ERROR)
  end
  require("kova.chat")
  require("kova.cards").resolved(root)
  text.say((trusted and t("Kova: %s is trusted.") or t("Kova: %s is not trusted.")):format(vim.fn.fnamemodify(root, ":~")))
  if client.state ~= "off" and client.trusted ~= trusted then
    M.reconnect()
  end
end

--- Trust the workspace.
function M.trust()
  decide(true)
end

--- Trust the workspace no longer.
function M.untrust()
  decide(false)
end

--- End the connection and open it again; the conversation goes on where it was.
function M.reconnect()
  require("kova.client").stop(function()
    require("kova.chat").connect()
  end)
end

return M
