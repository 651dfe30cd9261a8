--- `:Kova …`: one function per word.
local text = require("kova.text")
local t = require("kova.l10n").t

local M = {}

---@class kova.Command
---@field run fun(argument: string, command: table)
---@field choices (string[]|fun(lead: string): string[])? for completion
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

local OF_LINES = { keep = true, revert = true, fix = true, diagnostics = true }
local MODES = { "agent", "plan", "ask", "goal" }
local LEVELS = { "ask", "workspace-write", "auto-edit", "auto" }

---@param prompt string
---@param words string[]
---@param setting "mode"|"level"
local function choose(prompt, words, setting)
  vim.ui.select(words, { prompt = prompt }, function(word)
    if word then
      require("kova.session").configure({ [setting] = word })
    end
  end)
end

---@type table<string, kova.Command>
M.commands = {
  open = { help = t("open the conversation"), run = kova("open") },
  close = { help = t("close its windows; what runs goes on"), run = kova("close") },
  toggle = { help = t("open or close it"), run = kova("toggle") },
  ask = {
    help = t("ask something at once"),
    run = function(argument)
      if argument == "" then
        return require("kova").open()
      end
      require("kova").ask(argument)
    end,
  },
  send = { help = t("send the prompt"), run = kova("send") },
  steer = {
    help = t("send the prompt, or the given text, into the running turn"),
    run = function(argument)
      if argument ~= "" then
        return require("kova.prompt").send("steer", { text = argument, parts = {} })
      end
      require("kova").steer()
    end,
  },
  unqueue = { help = t("take the newest prompt that waits back into the prompt"), run = kova("unqueue") },
  stop = { help = t("stop what runs"), run = kova("stop") },
  card = { help = t("go to the card that waits"), run = kova("card") },
  mode = {
    help = t("agent, plan, ask or goal"),
    choices = MODES,
    run = function(argument)
      if argument == "" then
        return choose(t("Mode"), MODES, "mode")
      end
      require("kova.session").configure({ mode = argument })
    end,
  },
  level = {
    help = t("ask, workspace-write, auto-edit or auto; without a word the next one; with ! choose"),
    choices = LEVELS,
    run = function(argument, command)
      if argument == "" and command.bang then
        return choose(t("Level"), LEVELS, "level")
      elseif argument == "" then
        return require("kova").cycle_level()
      end
      require("kova.session").configure({ level = argument })
    end,
  },
  goal = {
    help = t("show the goal; pause, resume or cancel it; budget N limits its turns"),
    choices = { "show", "pause", "resume", "cancel", "budget" },
    run = function(argument)
      require("kova.goal").run(argument)
    end,
  },
  model = {
    help = t("choose the model"),
    run = function(argument)
      require("kova.sessions").model(argument)
    end,
  },
  sessions = {
    help = t("choose a conversation; with ! of all folders"),
    run = function(_, command)
      require("kova.sessions").pick(command.bang)
    end,
  },
  resume = {
    help = t("go on with the latest conversation of this folder"),
    run = function()
      require("kova").open()
      require("kova.sessions").resume("last")
    end,
  },
  new = {
    help = t("begin a new conversation"),
    run = function()
      require("kova").new()
      require("kova").open()
    end,
  },
  rename = {
    help = t("give the conversation a title"),
    run = function(argument)
      require("kova.sessions").rename(argument)
    end,
  },
  archive = {
    help = t("take the conversation out of the list; nothing is deleted"),
    run = function()
      require("kova.sessions").archive()
    end,
  },
  delete = {
    help = t("delete the conversation for good"),
    run = function()
      require("kova.sessions").delete()
    end,
  },
  loop = { help = t("look inside the last turn"), run = kova("loop") },
  changes = { help = t("list what waits for review"), run = kova("changes") },
  keep = decide("keep", t("keep the change under the cursor, or of the file, the turn, or all")),
  revert = decide("revert", t("put back what was before that change, or of the file, the turn, or all")),
  hunk = { help = t("show the change under the cursor"), run = kova("hunk") },
  fix = {
    help = t("fix the diagnostics on this line"),
    run = function(argument, command)
      require("kova.diagnostics").fix(argument, command.range > 0 and command.line1 or nil, command.line2)
    end,
  },
  permissions = { help = t("list the permissions"), run = kova("permissions") },
  attach = {
    help = t("attach a file or a picture to the prompt; without a name the current file"),
    choices = function(lead)
      return vim.fn.getcompletion(lead, "file")
    end,
    run = function(argument)
      require("kova.prompt").attach_file(argument)
    end,
  },
  diagnostics = {
    help = t("attach the diagnostics of the buffer, or of the lines, to the prompt"),
    run = function(_, command)
      require("kova.diagnostics").attach(command.range > 0 and command.line1 or nil, command.line2)
    end,
  },
  detach = {
    help = t("remove what is attached to the prompt, or one of it"),
    choices = function()
      return require("kova.prompt").attached()
    end,
    run = function(argument)
      require("kova.prompt").detach(argument)
    end,
  },
  yank = {
    help = t("copy the code block under the cursor, or the last one, into a register"),
    run = function(argument)
      require("kova.code").yank(argument)
    end,
  },
  insert = { help = t("put that code block below your cursor"), run = kova("insert_code") },
  trust = { help = t("trust this folder"), run = kova("trust") },
  untrust = { help = t("trust this folder no longer"), run = kova("untrust") },
  reconnect = { help = t("connect to the engine anew"), run = kova("reconnect") },
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
    return text.say(t(":Kova %s is not known; :Kova ask %s … asks it, <Tab> lists the words"):format(word, word), vim.log.levels.ERROR)
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
      choices = choices(lead)
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
