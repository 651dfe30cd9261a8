--- `:Kova …`: one function per word.
local text = require("kova.text")

local M = {}

---@class kova.Command
---@field run fun(argument: string, command: table)
---@field choices (string[]|fun(): string[])? for completion
---@field help string

local function kova(name)
  return function()
    require("kova")[name]()
  end
end

---@param decision "keep"|"revert"
---@param help string
---@return kova.Command
local function decide(decision, help)
  return {
    help = help,
    choices = { "hunk", "file", "turn", "all" },
    run = function(argument, command)
      local ranged = command.range > 0
      require("kova.review_decide").decide(decision, argument, {
        first = ranged and command.line1 or nil,
        last = ranged and command.line2 or nil,
        bang = command.bang,
      })
    end,
  }
end

local OF_LINES = { keep = true, revert = true, fix = true }

---@type table<string, kova.Command>
M.commands = {
  open = { help = "open the conversation", run = kova("open") },
  close = { help = "close its windows; what runs goes on", run = kova("close") },
  toggle = { help = "open or close it", run = kova("toggle") },
  ask = {
    help = "ask something at once",
    run = function(argument)
      if argument == "" then
        return require("kova").open()
      end
      require("kova").ask(argument)
    end,
  },
  send = { help = "send the prompt", run = kova("send") },
  steer = {
    help = "send the prompt, or the given text, into the running turn",
    run = function(argument)
      if argument ~= "" then
        return require("kova.prompt").send("steer", { text = argument, parts = {} })
      end
      require("kova").steer()
    end,
  },
  stop = { help = "stop what runs", run = kova("stop") },
  card = { help = "go to the card that waits", run = kova("card") },
  mode = {
    help = "agent, plan, ask or goal",
    choices = { "agent", "plan", "ask", "goal" },
    run = function(argument)
      if argument == "" then
        return vim.ui.select({ "agent", "plan", "ask", "goal" }, { prompt = "Mode" }, function(mode)
          if mode then
            require("kova.session").configure({ mode = mode })
          end
        end)
      end
      require("kova.session").configure({ mode = argument })
    end,
  },
  level = {
    help = "ask, workspace-write, auto-edit or auto; without a word the next one",
    choices = { "ask", "workspace-write", "auto-edit", "auto" },
    run = function(argument)
      if argument == "" then
        return require("kova").cycle_level()
      end
      require("kova.session").configure({ level = argument })
    end,
  },
  model = {
    help = "choose the model",
    run = function(argument)
      require("kova.sessions").model(argument)
    end,
  },
  sessions = {
    help = "choose a conversation; with ! of all folders",
    run = function(_, command)
      require("kova.sessions").pick(command.bang)
    end,
  },
  resume = {
    help = "go on with the latest conversation of this folder",
    run = function()
      require("kova").open()
      require("kova.sessions").resume("last")
    end,
  },
  new = {
    help = "begin a new conversation",
    run = function()
      require("kova").new()
      require("kova").open()
    end,
  },
  rename = {
    help = "give the conversation a title",
    run = function(argument)
      require("kova.sessions").rename(argument)
    end,
  },
  delete = {
    help = "delete the conversation for good",
    run = function()
      require("kova.sessions").delete()
    end,
  },
  loop = { help = "look inside the last turn", run = kova("loop") },
  changes = { help = "list what waits for review", run = kova("changes") },
  keep = decide("keep", "keep the change under the cursor, or of the file, the turn, or all"),
  revert = decide("revert", "put back what was before that change, or of the file, the turn, or all"),
  hunk = { help = "show the change under the cursor", run = kova("hunk") },
  fix = {
    help = "fix the diagnostics on this line",
    run = function(argument, command)
      require("kova.diagnostics").fix(argument, command.range > 0 and command.line1 or nil, command.line2)
    end,
  },
  permissions = { help = "list the permissions", run = kova("permissions") },
  detach = { help = "remove what is attached to the prompt", run = kova("drop_attachments") },
  trust = { help = "trust this folder", run = kova("trust") },
  untrust = { help = "trust this folder no longer", run = kova("untrust") },
  reconnect = { help = "connect to the engine anew", run = kova("reconnect") },
}

--- Run `:Kova`.
---@param command table as nvim_create_user_command() gives it
function M.run(command)
  require("kova.chat") -- joins the session to the transcript
  if command.range > 0 and not OF_LINES[command.args] then
    local part = require("kova.mentions").selection(0, command.line1, command.line2)
    if command.args ~= "" then
      return require("kova").ask(command.args, { part })
    end
    require("kova").open()
    return require("kova.prompt").attach(part)
  end
  local word, argument = command.args:match("^(%S+)%s*(.*)$")
  if not word then
    return require("kova").toggle()
  end
  local found = M.commands[word]
  if not found then
    return text.say((":Kova %s is not known; :Kova ask %s … asks it, <Tab> lists the words"):format(word, word), vim.log.levels.ERROR)
  end
  found.run(argument, command)
end

--- Complete `:Kova …`.
---@param lead string
---@param line string
---@return string[]
function M.complete(lead, line)
  local word = line:match("Kova!?%s+(%S+)%s+%S*$")
  local choices
  if word then
    choices = (M.commands[word] or {}).choices or {}
    if type(choices) == "function" then
      choices = choices()
    end
  else
    choices = vim.tbl_keys(M.commands)
  end
  choices = vim.tbl_filter(function(choice)
    return vim.startswith(choice, lead)
  end, choices)
  table.sort(choices)
  return choices
end

return M
