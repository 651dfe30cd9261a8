--- What the engine asks to be shown, and what the person asks to look at: beside, focus kept.
--- Invariant: the current window and mode stay as they are unless the person asked for more.
local client = require("kova.client")
local render = require("kova.render")
local text = require("kova.text")
local t = require("kova.l10n").t

local M = {}

local panels = {} ---@type table<string, integer> panel id -> buffer

--- A window of the person's own in this tab, not one of ours.
---@return integer?
function M.own_window()
  local chat = require("kova.chat")
  local function fits(win)
    return vim.api.nvim_win_get_config(win).relative == "" and not chat.is_kova_window(win) and not vim.w[win].kova_panel
  end
  local current = vim.api.nvim_get_current_win()
  if fits(current) then
    return current
  end
  local previous = vim.fn.win_getid(vim.fn.winnr("#"))
  if previous ~= 0 and fits(previous) then
    return previous
  end
  for _, win in ipairs(vim.api.nvim_tabpage_list_wins(0)) do
    if fits(win) then
      return win
    end
  end
end

--- Show a buffer in the panel window: one per tab, made when first needed.
---@param buf integer
---@param focus boolean
---@param wide boolean? over the whole width
---@return integer win
local function show(buf, focus, wide)
  if focus then
    vim.cmd.stopinsert()
  end
  for _, win in ipairs(vim.api.nvim_tabpage_list_wins(0)) do
    if vim.api.nvim_win_get_buf(win) == buf and not require("kova.chat").is_kova_window(win) then
      if focus then
        vim.api.nvim_set_current_win(win)
      end
      return win
    end
  end
  local target
  for _, win in ipairs(vim.api.nvim_tabpage_list_wins(0)) do
    if vim.w[win].kova_panel then
      target = win
    end
  end
  local keep = vim.api.nvim_get_current_win()
  if target and not vim.bo[vim.api.nvim_win_get_buf(target)].modified then
    vim.api.nvim_win_set_buf(target, buf)
  else
    local beside = not wide and M.own_window() or nil
    target = vim.api.nvim_open_win(buf, false, {
      split = (beside or wide) and "below" or "left",
      win = beside or -1,
    })
    if wide then
      vim.api.nvim_win_set_height(target, math.floor(vim.o.lines * 0.45))
    end
    vim.w[target].kova_panel = true
    vim.wo[target].winbar = ""
  end
  vim.api.nvim_set_current_win(focus and target or keep)
  return target
end

--- Is it right to go there? Only from a person who rests in normal mode.
local function may_focus(wanted)
  return wanted and vim.api.nvim_get_mode().mode == "n"
end

--- Load a file without a question: no swap prompt, no error.
---@param path string
---@return integer?
local function load_file(path)
  local buf = vim.fn.bufadd(path)
  local short = vim.o.shortmess
  vim.o.shortmess = short .. "A"
  local ok = pcall(vim.fn.bufload, buf)
  vim.o.shortmess = short
  if not ok then
    return nil
  end
  vim.bo[buf].buflisted = true
  return buf
end

---@param uri string
---@param position { line: integer, character: integer }?
---@param focus boolean
---@return boolean shown
local function show_file(uri, position, focus)
  if not uri:match("^file:") then
    text.say(t("Kova would open ") .. uri .. t(" (only files are opened)"))
    return false
  end
  local path = vim.uri_to_fname(uri)
  if not vim.uv.fs_stat(path) then
    text.say(t("Kova: there is no file ") .. path)
    return false
  end
  local buf = load_file(path)
  if not buf then
    return false
  end
  local win = show(buf, focus)
  if position then
    local line = math.min(position.line + 1, vim.api.nvim_buf_line_count(buf))
    pcall(vim.api.nvim_win_set_cursor, win, { line, 0 })
    vim.api.nvim_win_call(win, function()
      vim.cmd("normal! zvzz")
    end)
  end
  return true
end

--- `window/showDocument`.
---@param params table
---@return boolean success
function M.show_document(params)
  if params.external then
    text.say(t("Kova asks you to look at ") .. tostring(params.uri))
    return false
  end
  local start = params.selection and params.selection.start
  local ok, shown = pcall(show_file, params.uri, start, may_focus(params.takeFocus == true))
  return ok and shown
end

---@param id string
---@param title string
---@param lines string[]
---@param filetype string
---@param focus boolean
---@param wide boolean?
local function show_text(id, title, lines, filetype, focus, wide)
  local buf = panels[id]
  if not buf or not vim.api.nvim_buf_is_valid(buf) then
    buf = vim.api.nvim_create_buf(false, true)
    panels[id] = buf
    vim.bo[buf].bufhidden = "wipe"
    vim.bo[buf].swapfile = false
    vim.keymap.set("n", "q", "<Cmd>close<CR>", { buffer = buf, desc = t("Kova: close the panel") })
  end
  pcall(vim.api.nvim_buf_set_name, buf, ("kova://%s"):format((text.line(title, 60):gsub("[^%w%-_. ]", "-"))))
  vim.bo[buf].modifiable = true
  vim.api.nvim_buf_set_lines(buf, 0, -1, false, lines)
  vim.bo[buf].modifiable = false
  vim.bo[buf].modified = false
  if vim.bo[buf].filetype ~= filetype then
    vim.bo[buf].filetype = filetype
  end
  local win = show(buf, focus, wide)
  vim.wo[win].number = false
  vim.wo[win].relativenumber = false
  vim.wo[win].winbar = " " .. text.line(title, 80):gsub("%%", "%%%%") .. t("%=q closes ")
  vim.wo[win].wrap = true
  vim.wo[win].linebreak = true
  return win
end

--- `kova/panel/open`.
---@param panel table
function M.open(panel)
  local focus = may_focus(panel.preserveFocus == false)
  local title = panel.title or panel.kind or "panel"
  if panel.kind == "file" and panel.uri then
    show_file(panel.uri, panel.line and { line = panel.line, character = 0 } or nil, focus)
  elseif panel.kind == "loop" then
    M.loop(focus)
  elseif panel.markdown then
    show_text(panel.panelId, title, text.lines(panel.markdown), "markdown", focus)
  elseif type(panel.data) == "string" or (type(panel.data) == "table" and panel.data.diff) then
    local diff = type(panel.data) == "string" and panel.data or panel.data.diff
    show_text(panel.panelId, title, text.lines(diff, true), panel.kind == "diff" and "diff" or "", focus)
  else
    show_text(panel.panelId, title, text.lines(vim.inspect(panel.data)), "", focus)
  end
end

--- Read a whole output, range by range.
---@param ref string
---@param callback fun(problem: string?, whole: string?)
function M.read_output(ref, callback)
  local pieces = {}
  local function read(offset)
    client.request("kova/output/read", { outputRef = ref, offset = offset }, function(problem, result)
      if problem then
        return callback(problem)
      end
      table.insert(pieces, result.text)
      if result.nextOffset < result.totalBytes and result.nextOffset > offset then
        read(result.nextOffset)
      else
        callback(nil, table.concat(pieces))
      end
    end)
  end
  read(0)
end

--- Open the whole of a tool call's output or diff.
---@param item table?
function M.whole(item)
  if not item or item.kind ~= "toolCall" then
    return text.say(t("Kova: there is no tool call on this line."))
  end
  local id = "item:" .. item.itemId
  local is_diff = (item.display or {})[1] and item.display[1].type == "diff"
  if not item.outputRef then
    local lines = render.blocks(item.display or {}, client.root)
    if #lines == 0 then
      return text.say(t("Kova: this call has nothing more to show."))
    end
    show_text(id, item.title or item.tool, lines, "markdown", true)
    return
  end
  M.read_output(item.outputRef, function(problem, whole)
    if problem then
      return text.say("Kova: " .. problem, vim.log.levels.ERROR)
    end
    show_text(id, item.title or item.tool, text.output(whole), is_diff and "diff" or "", false)
  end)
end

local function ms(value)
  if not value then
    return "–"
  end
  return value >= 10000 and ("%.0f s"):format(value / 1000)
    or value >= 1000 and ("%.1f s"):format(value / 1000)
    or ("%.0f ms"):format(value)
end

--- The loop view as Markdown.
---@param loop table
---@return string[]
function M.loop_lines(loop)
  local rows = {}
  for _, step in ipairs(loop.steps or {}) do
    local usage = step.usage or {}
    local tokens = t("%s in, %s cached, %s out"):format(
      text.count(usage.inputTokens or 0),
      text.count(usage.cachedTokens or 0),
      text.count(usage.outputTokens or 0)
    )
    table.insert(rows, {
      tostring(step.number),
      text.line(step.intent or "", 48),
      tokens,
      ms(step.firstTokenMs),
      ms(step.durationMs),
      tostring(#(step.calls or {})),
    })
  end
  local out = { t("# Inside the turn"), "" }
  local because = loop.stoppedBecause or ""
  vim.list_extend(out, text.lines(because ~= "" and because or t("It is still running.")))
  table.insert(out, "")
  vim.list_extend(out, render.table({ t("step"), t("trying to"), t("tokens"), t("first"), t("whole"), t("calls") }, rows))
  for _, step in ipairs(loop.steps or {}) do
    if step.error or #(step.calls or {}) > 0 then
      vim.list_extend(out, { "", t("## Step %d: %s"):format(step.number, text.line(step.intent or "", 80)), "" })
    end
    if step.error then
      table.insert(out, t("error: ") .. text.line(step.error.message or ""))
    end
    local calls = {}
    for _, call in ipairs(step.calls or {}) do
      local verdict = call.verdict or {}
      local reasons = {}
      for _, reason in ipairs(verdict.reasons or {}) do
        table.insert(reasons, reason.text or reason.code)
      end
      table.insert(calls, {
        call.title or call.tool,
        verdict.decision or "",
        call.status or "",
        ms(call.durationMs),
        table.concat(reasons, "; "),
      })
    end
    if #calls > 0 then
      vim.list_extend(out, render.table({ "call", "verdict", "status", "time", "why" }, calls))
    end
  end
  return out
end

--- Show the inside of the last turn.
---@param focus boolean?
function M.loop(focus)
  local s = require("kova.session").current
  if not s then
    return text.say(t("Kova: there is no conversation yet."))
  end
  client.request("kova/loop/read", { sessionId = s.id }, function(problem, loop)
    if problem then
      return text.say("Kova: " .. problem, vim.log.levels.ERROR)
    end
    local win = show_text("loop", t("Inside the turn"), M.loop_lines(loop), "markdown", focus or false, true)
    vim.wo[win].wrap = false
  end)
end

M.show_text = show_text

client.on("panel", function(panel)
  M.open(panel)
end)

return M
