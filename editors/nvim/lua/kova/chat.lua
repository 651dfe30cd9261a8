--- The conversation's two windows: the transcript and, below it, the prompt.
--- Invariant: what was typed leaves the prompt only when the engine has taken it.
local cards = require("kova.cards")
local client = require("kova.client")
local config = require("kova.config")
local mentions = require("kova.mentions")
local render = require("kova.render")
local session = require("kova.session")
local status = require("kova.status")
local text = require("kova.text")
local transcript = require("kova.transcript")

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

session.sink = {
  reset = transcript.reset,
  item = transcript.item,
  status = transcript.status,
  delta = transcript.delta,
  turn_completed = transcript.turn_completed,
}

-- windows ----------------------------------------------------------------------------------------

---@param role "transcript"|"prompt"
---@return integer?
local function window(role)
  for _, win in ipairs(vim.api.nvim_tabpage_list_wins(0)) do
    if vim.w[win].kova == role then
      return win
    end
  end
end

---@return integer?
function M.transcript_window()
  return window("transcript")
end

---@param win integer
---@return boolean
function M.is_kova_window(win)
  return vim.w[win].kova ~= nil
end

--- The person is in one of our windows.
function M.is_inside()
  return vim.w.kova ~= nil
end

--- The person looks on: normal mode in the transcript, or in a prompt with nothing in it.
function M.is_resting()
  local role = vim.w.kova
  return role == "transcript" or (role == "prompt" and M.prompt_text() == "")
end

local function plain(win, options)
  local defaults = {
    number = false,
    relativenumber = false,
    signcolumn = "no",
    foldcolumn = "1",
    spell = false,
    list = false,
    wrap = true,
    linebreak = true,
    cursorline = false,
    colorcolumn = "",
    winfixbuf = true,
  }
  for name, value in pairs(vim.tbl_extend("force", defaults, options)) do
    vim.api.nvim_set_option_value(name, value, { scope = "local", win = win })
  end
end

--- What stands over the prompt: attachments, the fate of what was sent, what was said last.
---@param room integer
---@return string
local function prompt_bar(room)
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
    add("KovaError", "not sent: " .. unsent.problem)
  end
  for _, part in ipairs(attachments) do
    add("KovaMention", render.part(part, client.root))
  end
  local queued = session.current and #session.current.queue or 0
  if queued > 0 then
    add("KovaBar", ("%d queued"):format(queued))
  end
  if flash and not unsent then
    add(flash.hl, flash.line)
  end
  if #parts == 0 then
    add("KovaBarDim", "prompt")
  end
  return " " .. table.concat(parts, "%#KovaBarDim#  ") .. "%#KovaBar#"
end

local function bars()
  for _, win in ipairs(vim.api.nvim_list_wins()) do
    local role = vim.w[win].kova
    if role == "transcript" then
      vim.wo[win].winbar = status.winbar(vim.api.nvim_win_get_width(win))
      local title = session.current and session.current.title or ""
      vim.wo[win].statusline = " Kova  " .. text.line(title, 80):gsub("%%", "%%%%")
    elseif role == "prompt" then
      vim.wo[win].winbar = prompt_bar(vim.api.nvim_win_get_width(win) - 2)
      vim.wo[win].statusline = " "
    end
  end
end

local function placeholder()
  if not prompt or not vim.api.nvim_buf_is_valid(prompt) then
    return
  end
  vim.api.nvim_buf_clear_namespace(prompt, ns, 0, -1)
  if M.prompt_text() == "" and vim.api.nvim_buf_line_count(prompt) == 1 then
    local keys = config.get().keys
    local hint = ("ask something; %s sends, @ mentions a file"):format(keys.send[1] or ":Kova send")
    local s = session.current
    if cards.count() > 0 then
      hint = ("%s goes to the card that waits"):format(keys.card[1] or ":Kova card")
    elseif s and s.state ~= "idle" then
      hint = ("%s queues, %s steers, %s stops"):format(
        keys.send[1] or ":Kova send",
        keys.steer[1] or ":Kova steer",
        keys.stop[1] or ":Kova stop"
      )
    end
    vim.api.nvim_buf_set_extmark(prompt, ns, 0, 0, {
      virt_text = { { hint, "KovaHint" } },
      virt_text_pos = "overlay",
    })
  end
end

--- Draw what surrounds the text anew.
function M.refresh()
  bars()
  placeholder()
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

-- prompt -----------------------------------------------------------------------------------------

---@return string
function M.prompt_text()
  if not prompt or not vim.api.nvim_buf_is_valid(prompt) then
    return ""
  end
  local lines = vim.api.nvim_buf_get_lines(prompt, 0, -1, false)
  return (table.concat(lines, "\n"):gsub("%s+$", ""))
end

---@param content string
function M.set_prompt(content)
  local lines = vim.split(content, "\n", { plain = true })
  vim.api.nvim_buf_set_lines(prompt, 0, -1, false, lines)
  local win = window("prompt")
  if win then
    vim.api.nvim_win_set_cursor(win, { #lines, #lines[#lines] })
  end
  placeholder()
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
  local now = M.prompt_text()
  if now == sent then
    M.set_prompt("")
  elseif now:sub(1, #sent) == sent then
    M.set_prompt((now:sub(#sent + 1):gsub("^%s+", "")))
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
  local content = given and given.text or M.prompt_text()
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
        if M.prompt_text() == "" then
          M.open()
          M.set_prompt(content)
        end
        vim.list_extend(attachments, given.parts)
      end
    else
      if not given then
        attachments = {}
        taken(content)
      end
      local win = M.transcript_window()
      if win then
        vim.api.nvim_win_set_cursor(win, { vim.api.nvim_buf_line_count(transcript.buffer()), 0 })
      end
    end
    M.refresh()
  end)
end

--- Attach a part to the next prompt.
---@param part table
function M.attach(part)
  table.insert(attachments, part)
  M.refresh()
end

function M.drop_attachments()
  attachments = {}
  M.refresh()
end

---@param step integer 1 = older
local function through_history(step)
  if at == 0 then
    draft = M.prompt_text()
  end
  local to = math.max(0, math.min(#history, at + step))
  if to == at then
    return
  end
  at = to
  M.set_prompt(at == 0 and draft or history[#history - at + 1])
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
local function map(buf, modes, keys, run, desc)
  for _, key in ipairs(keys) do
    vim.keymap.set(modes, key, run, { buffer = buf, silent = true, nowait = true, desc = "Kova: " .. desc })
  end
end

local function show_keys()
  local lines = { "Keys in the Kova windows", "" }
  for _, buf in ipairs({ prompt, transcript.buffer() }) do
    local seen = {}
    table.insert(lines, buf == prompt and "Prompt" or "Transcript")
    for _, mode in ipairs({ "n", "i" }) do
      for _, mapping in ipairs(vim.api.nvim_buf_get_keymap(buf, mode)) do
        local line = ("  %-9s %s  %s"):format(mapping.lhs, mode == "n" and "normal" or "insert", (mapping.desc or ""):gsub("^Kova: ", ""))
        if (mapping.desc or ""):find("^Kova: ") and not seen[line] then
          seen[line] = true
          table.insert(lines, line)
        end
      end
    end
    table.insert(lines, "")
  end
  require("kova.panels").open({
    panelId = "keys",
    kind = "markdown",
    title = "Keys",
    markdown = table.concat(lines, "\n"),
    preserveFocus = false,
  })
end

local function shared_keys(buf)
  local keys = config.get().keys
  local both = { "n", "i" }
  map(buf, both, keys.stop, session.interrupt, "stop what runs")
  map(buf, both, keys.cycle_level, session.cycle_level, "next approval level")
  map(buf, both, keys.card, cards.focus, "go to the card")
  map(buf, { "n" }, keys.close, M.close, "close the windows; what runs goes on")
  map(buf, { "n" }, keys.help, show_keys, "show these keys")
end

local function complete_options(enter)
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

local function prompt_buffer()
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
  shared_keys(buf)
  local function queue()
    M.send("queue")
  end
  local function steer()
    M.send("steer")
  end
  map(buf, { "n" }, keys.send, queue, "send; wait in the queue while a turn runs")
  map(buf, { "i" }, keys.send_insert, queue, "send; wait in the queue while a turn runs")
  map(buf, { "n", "i" }, keys.steer, steer, "send into the running turn")
  for _, key in ipairs(vim.list_extend({ "<Up>" }, keys.history_up)) do
    map(buf, { "n", "i" }, { key }, arrow(key, 1), "earlier prompt")
  end
  for _, key in ipairs(vim.list_extend({ "<Down>" }, keys.history_down)) do
    map(buf, { "n", "i" }, { key }, arrow(key, -1), "later prompt")
  end
  local group = vim.api.nvim_create_augroup("kova.prompt", {})
  vim.api.nvim_create_autocmd({ "TextChanged", "TextChangedI", "TextChangedP" }, {
    group = group,
    buffer = buf,
    callback = function(args)
      if unsent and M.prompt_text() ~= unsent.text then
        unsent = nil
        bars()
      end
      placeholder()
      if args.event ~= "TextChanged" then
        mentions.offer()
      end
    end,
  })
  vim.api.nvim_create_autocmd({ "BufEnter", "BufLeave" }, {
    group = group,
    buffer = buf,
    callback = function(args)
      complete_options(args.event == "BufEnter")
    end,
  })
  return buf
end

local function transcript_buffer()
  local fresh = transcript.buffer()
  shared_keys(fresh)
  map(fresh, { "n" }, { "<CR>" }, function()
    vim.cmd("silent! normal! za")
  end, "open or close the fold")
  map(fresh, { "n" }, { "K" }, function()
    require("kova.panels").whole(transcript.item_at(vim.fn.line(".")))
  end, "open the whole output of a tool call")
  map(fresh, { "n" }, { "i", "a" }, function()
    M.focus()
  end, "go to the prompt")
  vim.api.nvim_create_autocmd("CursorMoved", {
    group = vim.api.nvim_create_augroup("kova.transcript", {}),
    buffer = fresh,
    callback = function()
      if vim.fn.line(".") == 1 then
        transcript.load_older()
      end
    end,
  })
  return fresh
end

-- opening and closing ----------------------------------------------------------------------------

local function size(setting, whole)
  return math.max(20, math.floor(setting <= 1 and whole * setting or setting))
end

local function lay_out()
  local settings = config.get().layout
  local upper = transcript_buffer()
  local win
  if settings.position == "tab" then
    vim.cmd.tabnew()
    win = vim.api.nvim_get_current_win()
    vim.bo.bufhidden = "wipe"
    vim.api.nvim_win_set_buf(win, upper)
  elseif settings.position == "bottom" then
    local height = math.max(8, math.floor(settings.height <= 1 and vim.o.lines * settings.height or settings.height))
    win = vim.api.nvim_open_win(upper, true, { split = "below", win = -1, height = height })
  else
    local width = size(settings.width, vim.o.columns)
    win = vim.api.nvim_open_win(upper, true, { split = settings.position, win = -1, width = width })
  end
  vim.w[win].kova = "transcript"
  plain(win, {
    foldmethod = "manual",
    foldenable = true,
    foldlevel = 0,
    foldtext = "",
    fillchars = "fold: ,eob: ",
    conceallevel = config.get().transcript.conceallevel,
    winfixwidth = settings.position ~= "tab",
  })
  vim.wo[win].winhighlight = "FoldColumn:Normal,Folded:Normal"
  transcript.fold_window(win)
  vim.api.nvim_win_set_cursor(win, { vim.api.nvim_buf_line_count(upper), 0 })
  local lower = vim.api.nvim_open_win(prompt_buffer(), true, {
    split = "below",
    win = win,
    height = settings.prompt_height,
  })
  vim.w[lower].kova = "prompt"
  plain(lower, { winfixheight = true, fillchars = "eob: " })
  vim.wo[lower].winhighlight = "FoldColumn:Normal"
  complete_options(true)
end

local started = false

local function begin()
  if started then
    return
  end
  started = true
  session.on_change(function()
    vim.schedule(function()
      M.refresh()
      transcript.refresh_empty()
    end)
  end)
  cards.on_change(function()
    vim.schedule(M.refresh)
  end)
  local group = vim.api.nvim_create_augroup("kova.windows", {})
  vim.api.nvim_create_autocmd("WinClosed", {
    group = group,
    callback = function(args)
      local win = tonumber(args.match)
      if win and vim.api.nvim_win_is_valid(win) and vim.w[win].kova then
        vim.schedule(M.close)
      end
    end,
  })
  vim.api.nvim_create_autocmd({ "VimResized", "WinResized" }, {
    group = group,
    callback = bars,
  })
end

--- Connect, and follow what the setting `resume` says.
function M.connect()
  begin()
  if client.state == "ready" or client.state == "starting" then
    return
  end
  client.start(function(problem)
    M.refresh()
    transcript.refresh_empty()
    if problem then
      return text.say("Kova: " .. problem, vim.log.levels.ERROR)
    end
    local trust = require("kova.trust")
    if trust.get(client.root) == nil then
      cards.add_own({ id = client.root, kind = "trust" })
    end
    if not session.current then
      require("kova.sessions").resume(config.get().resume)
    end
  end)
end

--- Open the conversation and go to the prompt.
function M.open()
  require("kova.highlights").setup()
  begin()
  if not window("transcript") then
    lay_out()
  end
  M.focus()
  M.refresh()
  M.connect()
  cards.refresh()
end

--- Go to the prompt.
function M.focus()
  local win = window("prompt")
  if not win then
    return M.open()
  end
  vim.api.nvim_set_current_win(win)
  if config.get().layout.start_insert then
    vim.cmd("startinsert!")
  end
end

--- Close the windows; what runs goes on.
function M.close()
  local ours, others = {}, 0
  for _, win in ipairs(vim.api.nvim_tabpage_list_wins(0)) do
    if vim.w[win].kova then
      table.insert(ours, win)
    elseif vim.api.nvim_win_get_config(win).relative == "" then
      others = others + 1
    end
  end
  if #ours == 0 then
    return
  end
  if vim.w.kova then
    vim.cmd.stopinsert()
  end
  if others == 0 and #vim.api.nvim_list_tabpages() == 1 then
    vim.api.nvim_open_win(vim.api.nvim_create_buf(true, false), true, { split = "left", win = -1 })
  end
  for _, win in ipairs(ours) do
    if vim.api.nvim_win_is_valid(win) then
      pcall(vim.api.nvim_win_close, win, true)
    end
  end
  cards.refresh()
end

function M.toggle()
  if window("transcript") then
    M.close()
  else
    M.open()
  end
end

return M
