--- Hunks in open buffers: signs, added lines, removed lines between them, and where they are now.
--- Invariant: marks are drawn anew from what the engine says; between two answers they move with
--- the text, and nothing else here guesses where a hunk is.
local config = require("kova.config")
local text = require("kova.text")
local t = require("kova.l10n").t

local M = {}

local ns = vim.api.nvim_create_namespace("kova.hunks")
local PRIORITY = 7 -- signs of version control usually have 6
local MAX_MARKED = 2000

---@class kova.DrawnHunk
---@field mark integer? extmark; nil when it is listed but stands in no open buffer
---@field change kova.Change
---@field hunk kova.Hunk? nil for a change that cannot be shown line by line

local drawn = {} ---@type table<integer, kova.DrawnHunk[]>

--- `+2 -1`.
---@param hunk kova.Hunk
---@return string
function M.counts(hunk)
  local parts = {}
  if hunk.lineCount > 0 then
    table.insert(parts, "+" .. hunk.lineCount)
  end
  if hunk.oldLineCount > 0 then
    table.insert(parts, "-" .. hunk.oldLineCount)
  end
  return table.concat(parts, " ")
end

--- The hunk's lines with one of the signs `+` and `-`, without it.
---@param hunk kova.Hunk
---@param sign string
---@return string[]
function M.lines(hunk, sign)
  local found = {}
  for line in vim.gsplit(hunk.diff, "\n", { plain = true }) do
    if line:sub(1, 1) == sign then
      table.insert(found, (line:sub(2):gsub("\r$", "")))
    end
  end
  return found
end

--- Tabs as this buffer shows them: virtual lines count them from another column.
---@param line string
---@param buf integer
local function expanded(line, buf)
  local step = vim.bo[buf].tabstop
  local out, width = {}, 0
  for piece, tab in line:gmatch("([^\t]*)(\t?)") do
    table.insert(out, piece)
    width = width + vim.fn.strdisplaywidth(piece)
    if tab ~= "" then
      local gap = step - width % step
      table.insert(out, (" "):rep(gap))
      width = width + gap
    end
  end
  return table.concat(out), width
end

---@param buf integer
---@param hunk kova.Hunk
local function removed(buf, hunk)
  local max = config.get().review.deleted
  local lines = M.lines(hunk, "-")
  local out = {}
  for i = 1, math.min(#lines, max) do
    local line, width = expanded(text.visible(lines[i], true), buf)
    local room = math.max(vim.o.columns - width, 0)
    table.insert(out, { { line .. (" "):rep(room), "KovaLineRemoved" } })
  end
  if max > 0 and hunk.oldLineCount > #out then
    local rest = t("… %d more removed lines; :Kova hunk"):format(hunk.oldLineCount - #out)
    table.insert(out, { { rest, "KovaHint" } })
  end
  return out
end

--- Virtual lines above the first line stay out of sight until it is scrolled down by so many.
---@param buf integer
---@param count integer
local function uncover(buf, count)
  for _, win in ipairs(vim.fn.win_findbuf(buf)) do
    vim.api.nvim_win_call(win, function()
      local view = vim.fn.winsaveview()
      if view.topline == 1 and view.topfill < count then
        vim.fn.winrestview({ topfill = count })
      end
    end)
  end
end

---@param buf integer
---@param change kova.Change
---@param hunk kova.Hunk
---@return integer mark
local function mark(buf, change, hunk)
  local settings = config.get()
  local count = vim.api.nvim_buf_line_count(buf)
  local first = math.min(hunk.startLine, count - 1)
  local last = math.min(hunk.startLine + math.max(hunk.lineCount, 1), count) - 1
  local is_new = change.change == "create"
  local kind = hunk.lineCount == 0 and "Removed" or hunk.oldLineCount == 0 and "Added" or "Changed"
  local above = removed(buf, hunk)
  local sign = kind ~= "Removed" and "hunk" or hunk.startLine < count and "removed" or "removed_below"
  local label = ("Kova %s%s"):format(is_new and "new file " or "", M.counts(hunk))
  local id = vim.api.nvim_buf_set_extmark(buf, ns, first, 0, {
    end_row = last,
    right_gravity = hunk.lineCount == 0,
    virt_lines = #above > 0 and above or nil,
    virt_lines_above = hunk.startLine < count,
    virt_text = hunk.lineCount > 0 and { { label, "KovaHint" } } or nil,
    virt_text_pos = "eol",
    hl_mode = "combine",
  })
  for row = first, math.min(last, first + MAX_MARKED) do
    vim.api.nvim_buf_set_extmark(buf, ns, row, 0, {
      sign_text = settings.review.signs and settings.icons[sign] or nil,
      sign_hl_group = settings.review.signs and "KovaSign" .. kind or nil,
      line_hl_group = settings.review.lines and not is_new and kind ~= "Removed" and "KovaLineAdded" or nil,
      priority = PRIORITY,
    })
  end
  if first == 0 and #above > 0 then
    uncover(buf, #above)
  end
  return id
end

--- Show no hunk in a buffer.
---@param buf integer
function M.clear(buf)
  drawn[buf] = nil
  if vim.api.nvim_buf_is_valid(buf) then
    vim.api.nvim_buf_clear_namespace(buf, ns, 0, -1)
  end
end

--- Show a file's hunks in its buffer.
---@param buf integer
---@param change kova.Change
function M.draw(buf, change)
  M.clear(buf)
  drawn[buf] = {}
  for _, hunk in ipairs(change.hunks) do
    table.insert(drawn[buf], { mark = mark(buf, change, hunk), change = change, hunk = hunk })
  end
end

--- Buffers that show hunks.
---@return integer[]
function M.buffers()
  return vim.tbl_keys(drawn)
end

---@class kova.PlacedHunk
---@field first integer zero-based
---@field last integer zero-based
---@field entry kova.DrawnHunk

--- Where the hunks of a buffer are now, from top to bottom.
---@param buf integer
---@return kova.PlacedHunk[]
function M.placed(buf)
  local found = {}
  for _, entry in ipairs(drawn[buf] or {}) do
    local at = vim.api.nvim_buf_get_extmark_by_id(buf, ns, entry.mark, { details = true })
    if at[1] then
      local last = math.max(at[1], (at[3] or {}).end_row or at[1])
      table.insert(found, { first = at[1], last = last, entry = entry })
    end
  end
  table.sort(found, function(a, b)
    return a.first < b.first
  end)
  return found
end

--- The hunks on these lines. Removed lines stand between two lines: either of them will do.
---@param buf integer
---@param first integer zero-based
---@param last integer zero-based
---@return kova.DrawnHunk[]
function M.on_lines(buf, first, last)
  local on, beside = {}, {}
  for _, place in ipairs(M.placed(buf)) do
    if place.first <= last and place.last >= first then
      table.insert(on, place.entry)
    elseif place.entry.hunk.lineCount == 0 and place.first - 1 == last then
      table.insert(beside, place.entry)
    end
  end
  return #on > 0 and on or beside
end

--- Show a diff by the cursor; asked for again, go into it.
---@param title string
---@param diff string
function M.float(title, diff)
  local lines = text.lines((diff:gsub("\r?\n$", ""):gsub("\r\n", "\n")), true)
  local buf = vim.lsp.util.open_floating_preview(lines, "", {
    border = config.get().card.border,
    title = (" %s "):format(title),
    focus_id = "kova.hunk",
    max_width = math.min(config.get().card.max_width, vim.o.columns - 4),
    max_height = math.floor(vim.o.lines * config.get().card.max_height),
    wrap = false,
  })
  for i, line in ipairs(lines) do
    local sign = line:sub(1, 1)
    local hl = sign == "+" and "KovaAdded" or sign == "-" and "KovaRemoved" or sign == "@" and "KovaHunk" or nil
    if hl then
      vim.api.nvim_buf_set_extmark(buf, ns, i - 1, 0, { end_row = i, hl_group = hl, strict = false })
    end
  end
end

return M
