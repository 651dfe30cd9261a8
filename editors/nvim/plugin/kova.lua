-- Defines the user command and the <Plug> maps; nothing is loaded until one of them is used.
if vim.g.loaded_kova then
  return
end
vim.g.loaded_kova = 1

if vim.fn.has("nvim-0.10") == 0 then
  vim.api.nvim_create_user_command("Kova", function()
    vim.notify("Kova needs Neovim 0.10 or newer.", vim.log.levels.ERROR)
  end, { nargs = "*", range = true, bang = true })
  return
end

vim.api.nvim_create_user_command("Kova", function(command)
  require("kova.commands").run(command)
end, {
  nargs = "*",
  range = true,
  bang = true,
  desc = "Work with the Kova agent",
  complete = function(lead, line)
    return require("kova.commands").complete(lead, line)
  end,
})

local function plug(name, modes, rhs, desc)
  vim.keymap.set(modes, "<Plug>(kova-" .. name .. ")", rhs, { silent = true, desc = "Kova: " .. desc })
end

local function call(name)
  return function()
    require("kova")[name]()
  end
end

plug("toggle", "n", call("toggle"), "open or close the conversation")
plug("open", "n", call("open"), "open the conversation")
plug("focus", { "n", "i" }, call("focus"), "go to the prompt")
plug("send", { "n", "i" }, call("send"), "send the prompt; wait in the queue while a turn runs")
plug("steer", { "n", "i" }, call("steer"), "send the prompt into the running turn")
plug("unqueue", { "n", "i" }, call("unqueue"), "take the newest prompt that waits back into the prompt")
plug("stop", { "n", "i" }, call("stop"), "stop the running turn")
plug("card", { "n", "i" }, call("card"), "go to the card that waits for an answer")
plug("cycle-level", { "n", "i" }, call("cycle_level"), "next approval level")
plug("model", "n", call("pick_model"), "choose the model")
plug("sessions", "n", call("pick_session"), "choose a conversation")
plug("new", "n", call("new"), "begin a new conversation")
plug("loop", "n", call("loop"), "look inside the last turn")
plug("changes", "n", call("changes"), "list what waits for review")
plug("keep", "n", call("keep"), "keep the change under the cursor")
plug("revert", "n", call("revert"), "put back what was before the change under the cursor")
plug("hunk", "n", call("hunk"), "show the change under the cursor")
plug("next-hunk", "n", call("next_hunk"), "go to the next change")
plug("prev-hunk", "n", call("prev_hunk"), "go to the change before")
plug("fix", "n", call("fix"), "fix the diagnostics on this line")
plug("permissions", "n", call("permissions"), "list the permissions")
plug("detach", "n", call("drop_attachments"), "remove what is attached to the prompt")
plug("selection", "x", ":Kova<CR>", "attach the selection to the prompt")
plug("close", "n", call("close"), "close the conversation's windows")
plug("trust", "n", call("trust"), "trust this folder")
plug("untrust", "n", call("untrust"), "trust this folder no longer")
plug("reconnect", "n", call("reconnect"), "connect to the engine anew")

for name, desc in pairs({
  ask = "ask something at once",
  mode = "choose the mode",
  ["level!"] = "choose the approval level",
  resume = "go on with the latest conversation",
  rename = "give the conversation a title",
  archive = "take the conversation out of the list",
  delete = "delete the conversation",
  goal = "show the goal",
  ["goal pause"] = "begin no further turn of the goal",
  ["goal resume"] = "go on with the goal",
  ["goal cancel"] = "end the goal",
  attach = "attach this file to the prompt",
  diagnostics = "attach the diagnostics of this buffer to the prompt",
  yank = "copy the last code block, or the one under the cursor",
  insert = "put that code block below the cursor",
  ["keep file"] = "keep all changes of this file",
  ["keep turn"] = "keep all changes of the last turn",
  ["keep all"] = "keep all changes",
  ["revert file"] = "put back what was before all changes of this file",
  ["revert turn"] = "put back what was before the last turn",
  ["revert all"] = "put back all changes, when confirmed",
}) do
  local bang = name:sub(-1) == "!" and "!" or ""
  local words = (name:gsub("!$", ""))
  plug((words:gsub(" ", "-")), "n", ("<Cmd>Kova%s %s<CR>"):format(bang, words), desc)
end
