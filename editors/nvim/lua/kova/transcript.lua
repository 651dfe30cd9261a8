--- The transcript buffer: one block of lines per item, changed only where something changed.
--- Invariant: never rewrites the whole buffer but when another conversation is shown.
--- Invariant: deltas that arrive in one tick of the event loop are written once.
local blocks = require("kova.transcript_blocks")
local client = require("kova.client")
local config = require("kova.config")
local documents = require("kova.documents")
local render = require("kova.render")
local text = require("kova.text")
local view = require("kova.transcript_view")
local t = require("kova.l10n").t

local M = {}

local ns = view.ns
local older_ns = vim.api.nvim_create_namespace("kova.transcript.older")
local dirty = {} ---@type table<kova.TranscriptBlock, boolean>
local scheduled = false
local older ---@type integer? `before` for the page of older items
local loading = false
local empty_shown = false

--- The buffer, made when first needed.
---@return integer
function M.buffer()
  if not view.is_valid() then
    view.create()
    M.reset({ items = {} })
  end
  return view.buf
end

--- The first block takes the place of what an empty conversation says.
---@param item table
---@return kova.TranscriptBlock
local function add(item)
  if empty_shown then
    empty_shown = false
    vim.api.nvim_buf_clear_namespace(view.buf, ns, 0, -1)
    view.edit(function()
      vim.api.nvim_buf_set_lines(view.buf, 0, -1, false, {})
    end)
  end
  return blocks.append(item)
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
        piece = t("\n… more output is on its way; the whole will be shown when it has ended")
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
  local col = #(vim.api.nvim_buf_get_lines(view.buf, last, last + 1, false)[1] or "")
  view.edit(function()
    vim.api.nvim_buf_set_text(view.buf, last, col, last, col, lines)
  end)
  block.n = block.n + #lines - 1
  blocks.shift_after(block, #lines - 1)
  if block.kind ~= "reply" then
    local hl = block.kind == "reasoning" and "KovaReasoning" or "KovaToolDim"
    pcall(vim.api.nvim_buf_set_extmark, view.buf, ns, last, col, {
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
  if not view.is_valid() or not next(dirty) then
    return
  end
  local following = view.followers()
  local todo = dirty
  dirty = {}
  for _, block in ipairs(blocks.list) do
    if todo[block] then
      write_pending(block)
    end
  end
  view.follow(following)
  view.highlight()
end

--- A piece of an item's text.
---@param id string
---@param payload { kind: string, offset: integer, text: string }
function M.delta(id, payload)
  M.buffer()
  local block = blocks.by_id[id]
  if not block then
    block = add({ kind = payload.kind or "reply", itemId = id, status = "running" })
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

local ENDS = { ok = true, error = true, blocked = true, cancelled = true, interrupted = true }

--- Show an item, or what has become of it.
---@param item table
function M.item(item)
  M.buffer()
  if dirty[blocks.by_id[item.itemId]] then
    M.flush()
  end
  local following = view.followers()
  local block = blocks.by_id[item.itemId]
  if not block then
    add(item)
  else
    block.item = item
    local streamed = item.kind == "reply" and not block.torn and item.status == "ok"
    if not (streamed and table.concat(block.said) == item.text) then
      blocks.write(block, render.item(item, client.root))
    end
  end
  if item.kind == "toolCall" and ENDS[item.status] then
    documents.reread_after(item)
  end
  view.follow(following)
  view.highlight()
end

--- A waiting call began to run, or the like.
---@param id string
---@param status string
function M.status(id, status)
  local block = blocks.by_id[id]
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
    message, level = failure.message or failure.code or t("The turn failed."), "error"
  elseif reason == "interrupted" then
    local stopped = payload.stopped or {}
    message = #stopped > 0 and t("Stopped: ") .. table.concat(stopped, ", ") or t("Stopped.")
    level = "warning"
  elseif reason == "limit" then
    message, level = t("Stopped at the limit of steps; say \"go on\" to continue."), "warning"
  elseif reason ~= "done" then
    message, level = t("The turn ended: ") .. tostring(reason), "info"
  end
  if message then
    M.item({ kind = "notice", level = level, text = message })
  end
end

local function show_empty()
  empty_shown = true
  local lines = require("kova.status").welcome()
  view.edit(function()
    vim.api.nvim_buf_set_lines(view.buf, 0, -1, false, lines)
  end)
  for i, line in ipairs(lines) do
    pcall(vim.api.nvim_buf_set_extmark, view.buf, ns, i - 1, 0, {
      end_col = #line,
      hl_group = i == 1 and "KovaUser" or "KovaHint",
    })
  end
end

--- Show the welcome anew when nothing else is shown.
function M.refresh_empty()
  if view.is_valid() and empty_shown then
    vim.api.nvim_buf_clear_namespace(view.buf, ns, 0, -1)
    show_empty()
  end
end

local OLDER = t("↑ older entries: go to this line to read them")

local function show_older(exists)
  vim.api.nvim_buf_clear_namespace(view.buf, older_ns, 0, -1)
  if exists and blocks.list[1] then
    pcall(vim.api.nvim_buf_set_extmark, view.buf, older_ns, 0, 0, {
      virt_lines = { { { OLDER, "KovaHint" } } },
      virt_lines_above = true,
    })
  end
end

--- Show another conversation.
---@param snapshot table
function M.reset(snapshot)
  if not view.is_valid() then
    view.create()
  end
  blocks.reset()
  dirty = {}
  older = snapshot.itemsBefore
  vim.api.nvim_buf_clear_namespace(view.buf, ns, 0, -1)
  view.edit(function()
    vim.api.nvim_buf_set_lines(view.buf, 0, -1, false, {})
  end)
  empty_shown = false
  if #snapshot.items == 0 then
    show_empty()
  end
  for _, item in ipairs(snapshot.items) do
    add(item)
  end
  show_older(older)
  view.follow(view.windows())
  view.highlight()
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
    blocks.prepend(result.items or {})
    show_older(older)
  end)
end

M.item_at = blocks.item_at
M.fold_window = blocks.fold_window

--- For tests and `:checkhealth`: how much is shown.
function M.stats()
  return { blocks = #blocks.list, lines = view.buf and vim.api.nvim_buf_line_count(view.buf) or 0, treesitter = view.treesitter }
end

return M
