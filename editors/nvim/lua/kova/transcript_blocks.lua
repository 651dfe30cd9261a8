--- The blocks of lines that the transcript is made of: one per item, in order, each with its place.
--- Invariant: `row` and `n` of every block are true after each change of the buffer.
local client = require("kova.client")
local config = require("kova.config")
local render = require("kova.render")
local view = require("kova.transcript_view")

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

M.list = {} ---@type kova.TranscriptBlock[]
M.by_id = {} ---@type table<string, kova.TranscriptBlock>

--- Forget all; the buffer is emptied by the caller.
function M.reset()
  M.list, M.by_id = {}, {}
end

--- Move the blocks after this one.
---@param block kova.TranscriptBlock
---@param by integer
function M.shift_after(block, by)
  if by == 0 then
    return
  end
  for i = #M.list, 1, -1 do
    if M.list[i] == block then
      return
    end
    M.list[i].row = M.list[i].row + by
  end
end

---@param block kova.TranscriptBlock
---@param only integer? just this window
function M.fold(block, only)
  if not block.folded or not config.get().transcript.fold or block.n - block.lead < 2 then
    return
  end
  local first, last = block.row + block.lead + 1, block.row + block.n
  for _, win in ipairs(only and { only } or view.windows()) do
    vim.api.nvim_win_call(win, function()
      pcall(vim.cmd, ("silent! %d,%dfold"):format(first, last))
    end)
  end
end

--- Make the folds of a window that has just been opened.
---@param win integer
function M.fold_window(win)
  for _, block in ipairs(M.list) do
    M.fold(block, win)
  end
end

---@param block kova.TranscriptBlock
---@param shown kova.Rendered
function M.write(block, shown)
  local lines = shown.lines
  if block.lead == 1 then
    lines = vim.list_extend({ "" }, lines)
  end
  vim.api.nvim_buf_clear_namespace(view.buf, view.ns, block.row, block.row + block.n)
  view.edit(function()
    vim.api.nvim_buf_set_lines(view.buf, block.row, block.row + block.n, false, lines)
  end)
  M.shift_after(block, #lines - block.n)
  block.n = #lines
  view.place(block.row + block.lead, shown.marks)
  if shown.fold then
    block.folded = true
    M.fold(block)
  end
end

local function lead_of(previous, kind)
  if not previous then
    return 0
  end
  return (render.is_compact(previous) and render.is_compact(kind)) and 0 or 1
end

---@param item table
---@return kova.TranscriptBlock
function M.append(item)
  local replaces_line = #M.list == 0
  local previous = M.list[#M.list]
  local row = replaces_line and 0 or vim.api.nvim_buf_line_count(view.buf)
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
  table.insert(M.list, block)
  if block.id then
    M.by_id[block.id] = block
  end
  M.write(block, render.item(item, client.root))
  return block
end

--- Put older items before the others.
---@param items table[] newest first
function M.prepend(items)
  local first = M.list[1]
  if not first then
    return
  end
  local lines, added = {}, {}
  for i = #items, 1, -1 do
    local item = items[i]
    if not M.by_id[item.itemId] then
      local previous = added[#added]
      local shown = render.item(item, client.root)
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
    view.edit(function()
      vim.api.nvim_buf_set_lines(view.buf, 0, 0, false, lines)
    end)
    for _, block in ipairs(M.list) do
      block.row = block.row + #lines
    end
    for i, block in ipairs(added) do
      table.insert(M.list, i, block)
      M.by_id[block.id] = block
      view.place(block.row + block.lead, block.marks)
      block.marks = nil
      M.fold(block)
    end
  end
end

--- The item under a line.
---@param lnum integer one-based
---@return table?
function M.item_at(lnum)
  local low, high = 1, #M.list
  while low <= high do
    local middle = math.floor((low + high) / 2)
    local block = M.list[middle]
    if lnum - 1 < block.row then
      high = middle - 1
    elseif lnum - 1 >= block.row + block.n then
      low = middle + 1
    else
      return block.item
    end
  end
end

return M
