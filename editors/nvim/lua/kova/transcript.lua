--- The transcript buffer: one block of lines per item, changed only where something changed.
--- Invariant: never rewrites the whole buffer but when another conversation is shown.
--- Invariant: deltas that arrive in one tick of the event loop are written once.
local client = require("kova.client")
local config = require("kova.config")
local render = require("kova.render")
local text = require("kova.text")

local M = {}

---@class kova.TranscriptBlock
---@field id string
---@field kind string
---@field row integer first line, zero-based
---@field n integer lines, the blank one before it included
---@field lead integer 1 when it begins with a blank line
---@field item table
---@field chars integer characters of deltas taken
---@field said string[] pieces of deltas taken
---@field pending string[] pieces not yet written
---@field torn boolean pieces are missing
---@field folded boolean
---@field live boolean? deltas have been written
---@field full boolean? so many that the rest waits for the end
---@field marks kova.Mark[]? not yet placed

local ns = vim.api.nvim_create_namespace("kova.transcript")
local buf ---@type integer?
local blocks = {} ---@type kova.TranscriptBlock[]
local by_id = {} ---@type table<string, kova.TranscriptBlock>
local dirty = {} ---@type table<kova.TranscriptBlock, boolean>
local scheduled = false
local older ---@type integer? `before` for the page of older items
local loading = false
local empty_shown = false

M.ns = ns

--- The buffer, made when first needed.
---@return integer
function M.buffer()
  if buf and vim.api.nvim_buf_is_valid(buf) then
    return buf
  end
  local b = vim.api.nvim_create_buf(false, true)
  buf = b
  vim.api.nvim_buf_set_name(b, "kova://conversation")
  vim.bo[b].buftype = "nofile"
  vim.bo[b].bufhidden = "hide"
  vim.bo[b].swapfile = false
  vim.bo[b].undolevels = -1
  vim.bo[b].filetype = "markdown"
  vim.bo[b].modifiable = false
  M.highlight()
  M.reset({ items = {} })
  return b
end

local treesitter ---@type boolean?

--- Use treesitter while the transcript is short, regex syntax when it has grown.
function M.highlight()
  if not buf then
    return
  end
  local want = vim.api.nvim_buf_line_count(buf) <= config.get().transcript.treesitter_max_lines
  if want == treesitter then
    return
  end
  treesitter = want
  if want then
    if not pcall(vim.treesitter.start, buf, "markdown") then
      treesitter = false
    end
  else
    pcall(vim.treesitter.stop, buf)
    vim.bo[buf].syntax = "markdown"
  end
end

local function windows()
  return buf and vim.fn.win_findbuf(buf) or {}
end

--- Windows whose cursor stands on the last line: they follow what is added.
local function followers()
  local last = vim.api.nvim_buf_line_count(buf)
  local following = {}
  for _, win in ipairs(windows()) do
    if vim.api.nvim_win_get_cursor(win)[1] >= last then
      table.insert(following, win)
    end
  end
  return following
end

local function follow(following)
  local last = vim.api.nvim_buf_line_count(buf)
  for _, win in ipairs(following) do
    if vim.api.nvim_win_is_valid(win) then
      pcall(vim.api.nvim_win_set_cursor, win, { last, 0 })
      local top = vim.fn.line("w0", win)
      if top > 1 then -- folding may have left empty room below
        local shown = vim.api.nvim_win_text_height(win, { start_row = top - 1 }).all
        if shown < vim.api.nvim_win_get_height(win) - 1 then
          vim.api.nvim_win_call(win, function()
            vim.cmd("silent! keepjumps normal! zb")
          end)
        end
      end
    end
  end
end

local function edit(change)
  vim.bo[buf].modifiable = true
  change()
  vim.bo[buf].modifiable = false
  vim.bo[buf].modified = false
end

--- Move the blocks after this one.
---@param block kova.TranscriptBlock
---@param by integer
local function shift_after(block, by)
  if by == 0 then
    return
  end
  for i = #blocks, 1, -1 do
    if blocks[i] == block then
      return
    end
    blocks[i].row = blocks[i].row + by
  end
end

---@param row integer
---@param marks kova.Mark[]
local function place(row, marks)
  for _, mark in ipairs(marks) do
    local opts = { strict = false }
    if mark.line_hl then
      opts.line_hl_group = mark.line_hl
      opts.end_row = row + mark.line
    end
    if mark.hl then
      opts.end_col = mark.end_col
      opts.hl_group = mark.hl
      opts.priority = 200
    end
    if mark.virt then
      opts.virt_text = mark.virt
      opts.virt_text_pos = "eol"
    end
    pcall(vim.api.nvim_buf_set_extmark, buf, ns, row + mark.line, mark.col or 0, opts)
  end
end

---@param block kova.TranscriptBlock
---@param only integer? just this window
local function fold(block, only)
  if not block.folded or not config.get().transcript.fold or block.n - block.lead < 2 then
    return
  end
  local first, last = block.row + block.lead + 1, block.row + block.n
  for _, win in ipairs(only and { only } or windows()) do
    vim.api.nvim_win_call(win, function()
      pcall(vim.cmd, ("silent! %d,%dfold"):format(first, last))
    end)
  end
end

--- Make the folds of a window that has just been opened.
---@param win integer
function M.fold_window(win)
  for _, block in ipairs(blocks) do
    fold(block, win)
  end
end

---@param block kova.TranscriptBlock
---@param shown kova.Rendered
local function write_block(block, shown)
  local lines = shown.lines
  if block.lead == 1 then
    lines = vim.list_extend({ "" }, lines)
  end
  vim.api.nvim_buf_clear_namespace(buf, ns, block.row, block.row + block.n)
  edit(function()
    vim.api.nvim_buf_set_lines(buf, block.row, block.row + block.n, false, lines)
  end)
  shift_after(block, #lines - block.n)
  block.n = #lines
  place(block.row + block.lead, shown.marks)
  if shown.fold then
    block.folded = true
    fold(block)
  end
end

local function root()
  return client.root
end

local function lead_of(previous, kind)
  if not previous then
    return 0
  end
  return (render.is_compact(previous) and render.is_compact(kind)) and 0 or 1
end

--- The first block takes the place of the empty buffer's one line.
local function clear_empty()
  if empty_shown then
    empty_shown = false
    vim.api.nvim_buf_clear_namespace(buf, ns, 0, -1)
    edit(function()
      vim.api.nvim_buf_set_lines(buf, 0, -1, false, {})
    end)
    return true
  end
  return false
end

---@param item table
---@return kova.TranscriptBlock
local function append(item)
  local replaces_line = clear_empty() or #blocks == 0
  local previous = blocks[#blocks]
  local row = replaces_line and 0 or vim.api.nvim_buf_line_count(buf)
  local block = {
    id = item.itemId,
    kind = item.kind,
    row = row,
    n = replaces_line and 1 or 0,
    lead = lead_of(previous and previous.kind, item.kind),
    item = item,
    chars = 0,
    said = {},
    pending = {},
    torn = false,
    folded = false,
  }
  table.insert(blocks, block)
  if block.id then
    by_id[block.id] = block
  end
  write_block(block, render.item(item, root()))
  return block
end

local function write_pending(block)
  local piece = table.concat(block.pending)
  block.pending = {}
  if piece == "" then
    return
  end
  table.insert(block.said, piece)
  if block.kind == "toolCall" then
    piece = piece:gsub("\27%[[%d;]*m", ""):gsub("\r\n", "\n")
    if block.n > config.get().transcript.live_lines then
      if not block.full then
        block.full = true
        piece = "\n… more output is on its way; the whole will be shown when it has ended"
      else
        return
      end
    end
  end
  local lines = text.lines(piece)
  if block.kind ~= "reply" and not block.live then
    table.insert(lines, 1, "") -- the head stays a line of its own
  end
  block.live = true
  local last = block.row + block.n - 1
  local col = #(vim.api.nvim_buf_get_lines(buf, last, last + 1, false)[1] or "")
  edit(function()
    vim.api.nvim_buf_set_text(buf, last, col, last, col, lines)
  end)
  block.n = block.n + #lines - 1
  shift_after(block, #lines - 1)
  if block.kind ~= "reply" then
    local hl = block.kind == "reasoning" and "KovaReasoning" or "KovaToolDim"
    pcall(vim.api.nvim_buf_set_extmark, buf, ns, last, col, {
      end_row = block.row + block.n - 1,
      end_col = #lines[#lines] + (#lines == 1 and col or 0),
      hl_group = hl,
      strict = false,
    })
  end
end

--- Write what has come since the last tick.
function M.flush()
  scheduled = false
  if not buf or not vim.api.nvim_buf_is_valid(buf) or not next(dirty) then
    return
  end
  local following = followers()
  local todo = dirty
  dirty = {}
  for _, block in ipairs(blocks) do
    if todo[block] then
      write_pending(block)
    end
  end
  follow(following)
  M.highlight()
end

--- A piece of an item's text.
---@param id string
---@param payload { kind: string, offset: integer, text: string }
function M.delta(id, payload)
  M.buffer()
  local block = by_id[id]
  if not block then
    block = append({ kind = payload.kind or "reply", itemId = id, status = "running" })
  end
  local piece = payload.text or ""
  local offset = payload.offset or block.chars
  local length = text.chars(piece)
  if offset < block.chars then
    if offset + length <= block.chars then
      return
    end
    piece = vim.fn.strcharpart(piece, block.chars - offset)
    length = offset + length - block.chars
  elseif offset > block.chars then
    block.torn = true
    piece = "…" .. piece
    block.chars = offset
  end
  block.chars = block.chars + length
  table.insert(block.pending, piece)
  dirty[block] = true
  if not scheduled then
    scheduled = true
    vim.schedule(M.flush)
  end
end

--- Buffers of files that a call has changed are read again when nothing is unsaved in them.
local function refresh_files(item)
  local touched = {}
  for _, block in ipairs(item.display or {}) do
    if block.type == "diff" then
      local ok, path = pcall(vim.uri_to_fname, block.uri)
      if ok then
        touched[path] = true
      end
    elseif block.type == "command" then
      touched.all = true
    end
  end
  if not next(touched) then
    return
  end
  for _, b in ipairs(vim.api.nvim_list_bufs()) do
    local bo = vim.bo[b]
    if vim.api.nvim_buf_is_loaded(b) and bo.buftype == "" and not bo.modified then
      local name = vim.api.nvim_buf_get_name(b)
      if name ~= "" and (touched.all or touched[name]) and vim.uv.fs_stat(name) then
        require("kova.documents").reload(b)
      end
    end
  end
end

local ENDS = { ok = true, error = true, blocked = true, cancelled = true, interrupted = true }

--- Show an item, or what has become of it.
---@param item table
function M.item(item)
  M.buffer()
  if dirty[by_id[item.itemId]] then
    M.flush()
  end
  local following = followers()
  local block = by_id[item.itemId]
  if not block then
    append(item)
  else
    block.item = item
    local streamed = item.kind == "reply" and not block.torn and item.status == "ok"
    if not (streamed and table.concat(block.said) == item.text) then
      write_block(block, render.item(item, root()))
    end
  end
  if item.kind == "toolCall" and ENDS[item.status] then
    refresh_files(item)
  end
  follow(following)
  M.highlight()
end

--- A waiting call began to run, or the like.
---@param id string
---@param status string
function M.status(id, status)
  local block = by_id[id]
  if block then
    M.item(vim.tbl_extend("force", block.item, { status = status }))
  end
end

--- Say how a turn ended, where that is worth a line.
---@param payload table
function M.turn_completed(payload)
  local reason = payload.stopReason
  local failure = payload.error
  local message, level
  if failure then
    message, level = failure.message or failure.code or "The turn failed.", "error"
  elseif reason == "interrupted" then
    local stopped = payload.stopped or {}
    message = #stopped > 0 and "Stopped: " .. table.concat(stopped, ", ") or "Stopped."
    level = "warning"
  elseif reason == "limit" then
    message, level = "Stopped at the limit of steps; say \"go on\" to continue.", "warning"
  elseif reason ~= "done" then
    message, level = "The turn ended: " .. tostring(reason), "info"
  end
  if message then
    M.item({ kind = "notice", level = level, text = message })
  end
end

local function show_empty()
  empty_shown = true
  local lines = require("kova.status").welcome()
  edit(function()
    vim.api.nvim_buf_set_lines(buf, 0, -1, false, lines)
  end)
  for i, line in ipairs(lines) do
    pcall(vim.api.nvim_buf_set_extmark, buf, ns, i - 1, 0, {
      end_col = #line,
      hl_group = i == 1 and "KovaUser" or "KovaHint",
    })
  end
end

--- Show the welcome anew when nothing else is shown.
function M.refresh_empty()
  if buf and vim.api.nvim_buf_is_valid(buf) and empty_shown then
    vim.api.nvim_buf_clear_namespace(buf, ns, 0, -1)
    show_empty()
  end
end

local OLDER = "↑ older entries: go to this line to read them"

local function show_older(exists)
  vim.api.nvim_buf_clear_namespace(buf, ns, 0, 1)
  if exists and blocks[1] then
    pcall(vim.api.nvim_buf_set_extmark, buf, ns, 0, 0, {
      virt_lines = { { { OLDER, "KovaHint" } } },
      virt_lines_above = true,
    })
  end
end

--- Show another conversation.
---@param snapshot table
function M.reset(snapshot)
  if not buf or not vim.api.nvim_buf_is_valid(buf) then
    M.buffer()
    return
  end
  blocks, by_id, dirty = {}, {}, {}
  older = snapshot.itemsBefore
  vim.api.nvim_buf_clear_namespace(buf, ns, 0, -1)
  edit(function()
    vim.api.nvim_buf_set_lines(buf, 0, -1, false, {})
  end)
  empty_shown = false
  if #snapshot.items == 0 then
    show_empty()
  end
  for _, item in ipairs(snapshot.items) do
    append(item)
  end
  show_older(older)
  follow(windows())
  M.highlight()
end

--- Read a page of older items when the top has been reached.
function M.load_older()
  local session = require("kova.session").current
  if not older or loading or not session then
    return
  end
  loading = true
  local params = { sessionId = session.id, before = older, limit = 100 }
  client.request("kova/session/read", params, function(problem, result)
    loading = false
    if problem or require("kova.session").current ~= session then
      return
    end
    older = result.before
    M.prepend(result.items or {})
  end)
end

--- Put older items before the others.
---@param items table[] newest first
function M.prepend(items)
  local first = blocks[1]
  if not first then
    return
  end
  local lines, added = {}, {}
  for i = #items, 1, -1 do
    local item = items[i]
    if not by_id[item.itemId] then
      local previous = added[#added]
      local shown = render.item(item, root())
      local lead = lead_of(previous and previous.kind, item.kind)
      local block = {
        id = item.itemId,
        kind = item.kind,
        row = #lines,
        n = #shown.lines + lead,
        lead = lead,
        item = item,
        chars = 0,
        said = {},
        pending = {},
        torn = false,
        folded = shown.fold or false,
        marks = shown.marks,
      }
      if lead == 1 then
        table.insert(lines, "")
      end
      vim.list_extend(lines, shown.lines)
      table.insert(added, block)
    end
  end
  if #added > 0 then
    table.insert(lines, "")
    added[#added].n = added[#added].n + 1
    edit(function()
      vim.api.nvim_buf_set_lines(buf, 0, 0, false, lines)
    end)
    for _, block in ipairs(blocks) do
      block.row = block.row + #lines
    end
    for i, block in ipairs(added) do
      table.insert(blocks, i, block)
      by_id[block.id] = block
      place(block.row + block.lead, block.marks)
      block.marks = nil
      fold(block)
    end
  end
  show_older(older)
end

--- The item under a line.
---@param lnum integer one-based
---@return table?
function M.item_at(lnum)
  local low, high = 1, #blocks
  while low <= high do
    local middle = math.floor((low + high) / 2)
    local block = blocks[middle]
    if lnum - 1 < block.row then
      high = middle - 1
    elseif lnum - 1 >= block.row + block.n then
      low = middle + 1
    else
      return block.item
    end
  end
end

--- For tests and `:checkhealth`: how much is shown.
function M.stats()
  return { blocks = #blocks, lines = buf and vim.api.nvim_buf_line_count(buf) or 0, treesitter = treesitter }
end

return M
