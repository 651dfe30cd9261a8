--- The prompt: what is typed, what is attached, what was said before, and sending it.
--- Invariant: what was typed leaves the prompt only when the engine has taken it.
local cards = require("kova.cards")
local client = require("kova.client")
local config = require("kova.config")
local mentions = require("kova.mentions")
local render = require("kova.render")
local session = require("kova.session")
local text = require("kova.text")
local t = require("kova.l10n").t

local M = {}

local ns = vim.api.nvim_create_namespace("kova.prompt")
local prompt ---@type integer?
local attachments = {} ---@type table[]
local history = {} ---@type string[]
local at = 0 ---@type integer place in the history, counted from its end; 0 = what is being written
local draft = ""
local sending ---@type { id: string, text: string }?
local unsent ---@type { id: string, text: string, problem: string }?
local counter = 0
local flash ---@type { hl: string, line: string }? what was said last, for a while
local flash_timer = assert(vim.uv.new_timer())
local FLASH_MS = 8000

local function bars()
  require("kova.chat").refresh()
end

---@return string
function M.text()
  if not prompt or not vim.api.nvim_buf_is_valid(prompt) then
    return ""
  end
  local lines = vim.api.nvim_buf_get_lines(prompt, 0, -1, false)
  return (table.concat(lines, "\n"):gsub("%s+$", ""))
end

--- What stands over the prompt: attachments, the fate of what was sent, what was said last.
---@param room integer
---@return string
function M.bar(room)
  local parts = {}
  local function add(hl, words)
    local cut = room > 0 and text.line(words, room) or ""
    if cut ~= "" then
      room = room - vim.fn.strdisplaywidth(cut) - 2
      table.insert(parts, ("%%#%s#%s"):format(hl, (cut:gsub("%%", "%%%%"))))
    end
  end
  if sending then
    add("KovaRunning", "sending…")
  elseif unsent then
    add("KovaError", t("not sent; it stays here"))
  end
  for _, part in ipairs(attachments) do
    add("KovaMention", render.part(part, client.root))
  end
  local queued = session.current and #session.current.queue or 0
  if queued > 0 then
    add("KovaBar", t("%d queued"):format(queued))
  end
  if flash and not unsent then
    add(flash.hl, flash.line)
  end
  if #parts == 0 then
    add("KovaBarDim", t("prompt"))
  end
  return " " .. table.concat(parts, "%#KovaBarDim#  ") .. "%#KovaBar#"
end

local grown = false -- the window is higher than set, to show why a prompt was not sent

--- Say in an empty prompt what can be done, and below one that was not sent why.
function M.hint()
  if not prompt or not vim.api.nvim_buf_is_valid(prompt) then
    return
  end
  vim.api.nvim_buf_clear_namespace(prompt, ns, 0, -1)
  local win = require("kova.chat").prompt_window()
  if unsent and win then
    local lines = {}
    for _, line in ipairs(text.wrap(text.line(unsent.problem), math.max(vim.api.nvim_win_get_width(win) - 4, 20))) do
      table.insert(lines, { { line, "KovaError" } })
    end
    local last = vim.api.nvim_buf_line_count(prompt) - 1
    vim.api.nvim_buf_set_extmark(prompt, ns, last, 0, { virt_lines = lines })
    local needed = math.min(last + #lines + 2, math.floor(vim.o.lines / 2))
    if vim.api.nvim_win_get_height(win) < needed then
      vim.api.nvim_win_set_height(win, needed)
      grown = true
    end
  elseif grown and win then
    vim.api.nvim_win_set_height(win, config.get().layout.prompt_height)
    grown = false
  end
  if M.text() == "" and vim.api.nvim_buf_line_count(prompt) == 1 then
    local keys = config.get().keys
    local typing = vim.api.nvim_get_mode().mode:sub(1, 1) == "i"
    local send = (typing and keys.send_insert or keys.send)[1] or ":Kova send"
    local hint = t("ask something; %s sends, @ mentions a file"):format(send)
    local s = session.current
    if cards.count() > 0 then
      hint = t("%s goes to the card that waits"):format(keys.card[1] or ":Kova card")
    elseif s and s.state ~= "idle" then
      hint = t("%s queues, %s steers, %s stops"):format(
        send,
        keys.steer[1] or ":Kova steer",
        keys.stop[1] or ":Kova stop"
      )
    end
    local room = win and vim.api.nvim_win_get_width(win) - 1 or math.huge
    while vim.fn.strdisplaywidth(hint) > room and hint:find(",") do
      hint = hint:gsub(",[^,]*$", "")
    end
    vim.api.nvim_buf_set_extmark(prompt, ns, 0, 0, {
      virt_text = { { hint, "KovaHint" } },
      virt_text_pos = "overlay",
    })
  end
end

text.also = function(line, level)
  local hl = level >= vim.log.levels.ERROR and "KovaError"
    or level >= vim.log.levels.WARN and "KovaWaiting"
    or "KovaBar"
  flash = { hl = hl, line = (line:gsub("^Kova: ", "")) }
  bars()
  flash_timer:start(FLASH_MS, 0, vim.schedule_wrap(function()
    flash = nil
    bars()
  end))
end

---@param content string
function M.set(content)
  local lines = vim.split(content, "\n", { plain = true })
  vim.api.nvim_buf_set_lines(prompt, 0, -1, false, lines)
  local win = require("kova.chat").prompt_window()
  if win then
    vim.api.nvim_win_set_cursor(win, { #lines, #lines[#lines] })
  end
  M.hint()
end

local function prompt_id()
  counter = counter + 1
  return vim.fn.sha256(("%d %d %d"):format(vim.fn.getpid(), vim.uv.hrtime(), counter)):sub(1, 24)
end

--- The engine has the prompt: what was typed since stays.
---@param sent string
local function taken(sent)
  if vim.fn.pumvisible() == 1 then
    vim.fn.complete(1, {})
  end
  local now = M.text()
  if now == sent then
    M.set("")
  elseif now:sub(1, #sent) == sent then
    M.set((now:sub(#sent + 1):gsub("^%s+", "")))
  end
  if history[#history] ~= sent and sent ~= "" then
    table.insert(history, sent)
  end
  at = 0
end

--- Send the prompt, or the given text.
---@param how "queue"|"steer"
---@param given { text: string, parts: table[] }?
function M.send(how, given)
  if sending then
    return
  end
  local content = given and given.text or M.text()
  if content == "" and #attachments == 0 and not (given and #given.parts > 0) then
    if cards.count() > 0 then
      return cards.focus()
    end
    return
  end
  local attached = given and given.parts or attachments
  local parts = mentions.parts(content)
  vim.list_extend(parts, attached)
  local id = unsent and unsent.text == content and unsent.id or prompt_id()
  sending = { id = id, text = content }
  unsent = nil
  bars()
  session.send(parts, id, how, function(problem)
    sending = nil
    if problem then
      unsent = { id = id, text = content, problem = problem }
      if given then
        if M.text() == "" then
          require("kova.chat").open()
          M.set(content)
        end
        vim.list_extend(attachments, given.parts)
      end
    else
      if not given then
        attachments = {}
        taken(content)
      end
      local win = require("kova.chat").transcript_window()
      if win then
        vim.api.nvim_win_set_cursor(win, { vim.api.nvim_buf_line_count(vim.api.nvim_win_get_buf(win)), 0 })
      end
    end
    bars()
  end)
end

--- The newest prompt that waits and was given here.
---@return kova.QueuedPrompt?
local function queued()
  for _, one in vim.iter(session.current and session.current.queue or {}):rev():enumerate() do
    if one.client == nil or one.client == client.NAME then
      return one
    end
  end
end

--- Take the newest prompt that waits back, to change it.
function M.unqueue()
  local one = queued()
  if not one then
    return text.say(t("Kova: no prompt from here waits."))
  end
  session.withdraw(one.promptId, function(problem, input)
    if problem then
      return text.say("Kova: " .. problem, vim.log.levels.ERROR)
    end
    require("kova.chat").open()
    local texts = { M.text() ~= "" and M.text() or nil }
    for _, part in ipairs(input) do
      if part.type == "text" then
        table.insert(texts, part.text)
      end
    end
    local content = table.concat(texts, "\n")
    local mentioned = mentions.parts(content)
    for _, part in ipairs(input) do
      if part.type ~= "text" and not vim.tbl_contains(mentioned, function(other)
        return vim.deep_equal(other, part)
      end, { predicate = true }) then
        table.insert(attachments, part)
      end
    end
    M.set(content)
    bars()
  end)
end

--- Attach a part to the next prompt.
---@param part table
function M.attach(part)
  table.insert(attachments, part)
  bars()
end

local PICTURES = { png = true, jpg = true, jpeg = true, gif = true, webp = true }

--- Attach a file or a picture; without a name the file of the current buffer.
---@param name string
function M.attach_file(name)
  local path = vim.fn.fnamemodify(name ~= "" and vim.fn.expand(name) or vim.api.nvim_buf_get_name(0), ":p")
  if path == "" or not vim.uv.fs_stat(path) then
    local what = name ~= "" and text.line(name, 60) or t("This buffer's file")
    return text.say(t("Kova: %s does not exist; name a file."):format(what), vim.log.levels.ERROR)
  end
  local is_picture = PICTURES[vim.fn.fnamemodify(path, ":e"):lower()]
  require("kova.chat").open()
  M.attach({ type = is_picture and "image" or "file", uri = vim.uri_from_fname(path) })
end

--- What is attached, each in one line.
---@return string[]
function M.attached()
  return vim.tbl_map(function(part)
    return render.part(part, client.root)
  end, attachments)
end

--- Remove what is attached: the one of this line of `attached()`, or all.
---@param which string
function M.detach(which)
  if which == "" then
    return M.drop_attachments()
  end
  for i, line in ipairs(M.attached()) do
    if line == which then
      table.remove(attachments, i)
      return bars()
    end
  end
  text.say(t("Kova: %s is not attached."):format(text.line(which, 60)), vim.log.levels.ERROR)
end

function M.drop_attachments()
  attachments = {}
  bars()
end

---@param step integer 1 = older
local function through_history(step)
  if at == 0 then
    draft = M.text()
  end
  local to = math.max(0, math.min(#history, at + step))
  if to == at then
    return
  end
  at = to
  M.set(at == 0 and draft or history[#history - at + 1])
end

---@param key string
---@param step integer
local function arrow(key, step)
  local bare = key == "<Up>" or key == "<Down>"
  return function()
    local line = vim.api.nvim_win_get_cursor(0)[1]
    local edge = step > 0 and line == 1 or step < 0 and line == vim.api.nvim_buf_line_count(0)
    if vim.fn.pumvisible() == 1 or (bare and not edge) then
      vim.api.nvim_feedkeys(vim.keycode(key), "n", false)
    elseif step > 0 and at == 0 and M.text() == "" and queued() then
      M.unqueue()
    else
      through_history(step)
    end
  end
end

---@param buf integer
---@param modes string[]
---@param keys string[]
---@param run fun()
---@param desc string
function M.map(buf, modes, keys, run, desc)
  for _, key in ipairs(keys) do
    vim.keymap.set(modes, key, run, { buffer = buf, silent = true, nowait = true, desc = "Kova: " .. desc })
  end
end

--- Set 'completeopt' for the prompt; before 0.11 it is global, so it is put back on leaving.
function M.completion(enter)
  if vim.fn.has("nvim-0.11") == 1 then
    vim.bo[prompt].completeopt = "menuone,noinsert,popup"
  elseif enter then
    M.saved_completeopt = vim.o.completeopt
    vim.o.completeopt = "menuone,noinsert"
  elseif M.saved_completeopt then
    vim.o.completeopt = M.saved_completeopt
    M.saved_completeopt = nil
  end
end

--- The buffer, made when first needed.
---@return integer
function M.buffer()
  if prompt and vim.api.nvim_buf_is_valid(prompt) then
    return prompt
  end
  local buf = vim.api.nvim_create_buf(false, true)
  prompt = buf
  vim.api.nvim_buf_set_name(buf, "kova://prompt")
  vim.bo[buf].buftype = "nofile"
  vim.bo[buf].bufhidden = "hide"
  vim.bo[buf].swapfile = false
  vim.bo[buf].filetype = "kova-prompt"
  vim.bo[buf].completefunc = "v:lua.require'kova.mentions'.complete"
  local keys = config.get().keys
  local function queue()
    M.send("queue")
  end
  local function steer()
    M.send("steer")
  end
  M.map(buf, { "n" }, keys.send, queue, t("send; wait in the queue while a turn runs"))
  M.map(buf, { "i" }, keys.send_insert, queue, t("send; wait in the queue while a turn runs"))
  M.map(buf, { "n", "i" }, keys.steer, steer, t("send into the running turn"))
  for _, key in ipairs(vim.list_extend({ "<Up>" }, keys.history_up)) do
    M.map(buf, { "n", "i" }, { key }, arrow(key, 1), t("earlier prompt"))
  end
  for _, key in ipairs(vim.list_extend({ "<Down>" }, keys.history_down)) do
    M.map(buf, { "n", "i" }, { key }, arrow(key, -1), t("later prompt"))
  end
  local group = vim.api.nvim_create_augroup("kova.prompt", {})
  vim.api.nvim_create_autocmd({ "TextChanged", "TextChangedI", "TextChangedP" }, {
    group = group,
    buffer = buf,
    callback = function(args)
      if unsent and M.text() ~= unsent.text then
        unsent = nil
        bars()
      end
      M.hint()
      if args.event ~= "TextChanged" then
        mentions.offer()
      end
    end,
  })
  vim.api.nvim_create_autocmd({ "InsertEnter", "InsertLeave" }, {
    group = group,
    buffer = buf,
    callback = vim.schedule_wrap(M.hint), -- it names the key of the mode
  })
  vim.api.nvim_create_autocmd({ "BufEnter", "BufLeave" }, {
    group = group,
    buffer = buf,
    callback = function(args)
      M.completion(args.event == "BufEnter")
    end,
  })
  return buf
end

return M
