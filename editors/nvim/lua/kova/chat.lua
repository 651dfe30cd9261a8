--- The conversation's two windows: the transcript and, below it, the prompt.
--- Invariant: closing them stops nothing that runs.
local cards = require("kova.cards")
local client = require("kova.client")
local config = require("kova.config")
local prompt = require("kova.prompt")
local session = require("kova.session")
local status = require("kova.status")
local text = require("kova.text")
local transcript = require("kova.transcript")
local t = require("kova.l10n").t

local M = {}

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

---@return integer?
function M.prompt_window()
  return window("prompt")
end

---@param win integer
---@return boolean
function M.is_kova_window(win)
  return vim.w[win].kova ~= nil
end

local is_away = false -- Neovim itself has lost the focus

--- The person is in one of our windows.
function M.is_inside()
  return vim.w.kova ~= nil and not is_away
end

--- Is the conversation in view, of a Neovim that is in front?
function M.is_seen()
  return not is_away and window("transcript") ~= nil
end

--- The person is elsewhere: say what they would otherwise miss.
---@param message string
---@param level integer
function M.call_back(message, level)
  if config.get().notify and not M.is_seen() then
    text.say(message, level)
  end
end

--- The person looks on: normal mode in the transcript, or in a prompt with nothing in it.
function M.is_resting()
  local role = vim.w.kova
  return role == "transcript" or (role == "prompt" and prompt.text() == "")
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
    breakindent = true,
    cursorline = false,
    colorcolumn = "",
    winfixbuf = true,
  }
  for name, value in pairs(vim.tbl_extend("force", defaults, options)) do
    vim.api.nvim_set_option_value(name, value, { scope = "local", win = win })
  end
end

local function bars()
  for _, win in ipairs(vim.api.nvim_list_wins()) do
    local role = vim.w[win].kova
    if role == "transcript" then
      vim.wo[win].winbar = status.winbar(vim.api.nvim_win_get_width(win))
      local title = session.current and session.current.title or ""
      vim.wo[win].statusline = " Kova  " .. text.line(title, 80):gsub("%%", "%%%%")
    elseif role == "prompt" then
      vim.wo[win].winbar = prompt.bar(vim.api.nvim_win_get_width(win) - 2)
      vim.wo[win].statusline = " "
    end
  end
end

--- Draw what surrounds the text anew.
function M.refresh()
  bars()
  prompt.hint()
end

local function show_keys()
  local lines = { t("Keys in the Kova windows"), "" }
  for _, buf in ipairs({ prompt.buffer(), transcript.buffer() }) do
    local seen = {}
    table.insert(lines, buf == prompt.buffer() and t("Prompt") or t("Transcript"))
    for _, mode in ipairs({ "n", "i" }) do
      for _, mapping in ipairs(vim.api.nvim_buf_get_keymap(buf, mode)) do
        local line = ("  %-9s %s  %s"):format(mapping.lhs, mode == "n" and t("normal") or t("insert"), (mapping.desc or ""):gsub("^Kova: ", ""))
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
    title = t("Keys"),
    markdown = table.concat(lines, "\n"),
    preserveFocus = false,
  })
end

local function shared_keys(buf)
  local keys = config.get().keys
  local both = { "n", "i" }
  prompt.map(buf, both, keys.stop, session.interrupt, t("stop what runs"))
  prompt.map(buf, both, keys.cycle_level, session.cycle_level, t("next approval level"))
  prompt.map(buf, both, keys.card, cards.focus, t("go to the card"))
  prompt.map(buf, { "n" }, keys.close, M.close, t("close the windows; what runs goes on"))
  prompt.map(buf, { "n" }, keys.help, show_keys, t("show these keys"))
end

local function prompt_buffer()
  local buf = prompt.buffer()
  shared_keys(buf)
  return buf
end

local function transcript_buffer()
  local fresh = transcript.buffer()
  shared_keys(fresh)
  prompt.map(fresh, { "n" }, { "<CR>" }, function()
    vim.cmd("silent! normal! za")
  end, t("open or close the fold"))
  prompt.map(fresh, { "n" }, { "K" }, function()
    require("kova.panels").whole(transcript.item_at(vim.fn.line(".")))
  end, t("open the whole output of a tool call"))
  local keys = config.get().keys
  prompt.map(fresh, { "n" }, keys.yank_code, function()
    require("kova.code").yank(vim.v.register)
  end, t("copy the code block"))
  prompt.map(fresh, { "n" }, keys.insert_code, function()
    require("kova.code").insert()
  end, t("put the code block into your file"))
  prompt.map(fresh, { "n" }, { "i", "a" }, function()
    M.focus()
  end, t("go to the prompt"))
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
  prompt.completion(true)
end

local started = false

local function begin()
  if started then
    return
  end
  started = true
  require("kova.review").begin()
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
  vim.api.nvim_create_autocmd({ "FocusLost", "FocusGained" }, {
    group = group,
    callback = function(args)
      is_away = args.event == "FocusLost"
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
