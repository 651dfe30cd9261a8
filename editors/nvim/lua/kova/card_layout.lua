--- Where a card stands and what its border says.
local config = require("kova.config")
local t = require("kova.l10n").t

local M = {}

M.PADDING = 1 -- the fold column, which is always empty

local CONTINUED = "↪"

---@param line string
---@param width integer
---@return string[] pieces which, joined, are the line
local function pieces(line, width)
  if #line <= width or vim.fn.strdisplaywidth(line) <= width then
    return { line }
  end
  local room, found = width, {}
  local start, cells, space = 1, 0, nil
  local at = 1
  while at <= #line do
    local last = at
    local byte = line:byte(at)
    local wide = 1
    if byte >= 0xC0 then
      last = at + vim.str_utf_end(line, at)
      wide = vim.fn.strdisplaywidth(line:sub(at, last))
    elseif byte == 9 then
      wide = vim.fn.strdisplaywidth("\t", cells)
    end
    if cells + wide > room and at > start then
      local stop = space and space - start > room * 0.6 and space or at - 1
      table.insert(found, line:sub(start, stop))
      start, at, cells, space = stop + 1, stop + 1, 0, nil
      room = width - 1 -- the sign of a continued line stands before it
    else
      cells = cells + wide
      space = byte == 32 and at or space
      at = last + 1
    end
  end
  table.insert(found, line:sub(start))
  return found
end

--- Break what is too long into lines of its own, so that all of it can be reached and counted; no
--- character is lost, and every line but the first of a long one begins with ↪.
---@param page kova.CardPage
---@param width integer
---@return kova.CardPage
function M.wrap(page, width)
  local lines, marks = {}, {}
  local marked = {} ---@type table<integer, kova.Mark[]>
  for _, mark in ipairs(page.marks) do
    marked[mark.line] = marked[mark.line] or {}
    table.insert(marked[mark.line], mark)
  end
  for number, line in ipairs(page.lines) do
    local before = 0
    for n, piece in ipairs(pieces(line, width)) do
      local sign = n > 1 and CONTINUED or ""
      table.insert(lines, sign .. piece)
      for _, mark in ipairs(marked[number - 1] or {}) do
        local from, to = math.max((mark.col or 0) - before, 0), math.min(mark.end_col - before, #piece)
        if to > from then
          table.insert(marks, { line = #lines - 1, col = #sign + from, end_col = #sign + to, hl = mark.hl })
        end
      end
      before = before + #piece
    end
  end
  return { lines = lines, marks = marks, first = page.first }
end

--- Where the float goes: large when the person is in it, else inside the conversation's window.
---@param focused boolean
---@param page_of fun(width: integer): kova.CardPage what it shows in so many columns
---@return table?
---@return kova.CardPage?
function M.place(focused, page_of)
  local settings = config.get().card
  local function height_in(lines, width, most)
    local rows = 0
    for _, line in ipairs(lines) do
      rows = rows + math.max(1, math.ceil(vim.fn.strdisplaywidth(line) / (width - M.PADDING)))
      if rows >= most then
        break
      end
    end
    return math.max(1, math.min(rows, most))
  end
  if focused then
    local width = math.max(20, math.min(settings.max_width, vim.o.columns - 6))
    local most = math.max(3, math.floor((vim.o.lines - vim.o.cmdheight - 4) * settings.max_height))
    local page = page_of(width - M.PADDING)
    local height = height_in(page.lines, width, most)
    return {
      relative = "editor",
      width = width,
      height = height,
      row = math.max(0, math.floor((vim.o.lines - vim.o.cmdheight - height) / 2) - 1),
      most = most,
      col = math.max(0, math.floor((vim.o.columns - width) / 2) - 1),
    }, page
  end
  local host = require("kova.chat").transcript_window()
  if not host then
    return nil
  end
  local width = vim.api.nvim_win_get_width(host) - 2
  local room = vim.api.nvim_win_get_height(host) - 3
  if width < 20 or room < 3 then
    return nil
  end
  local most = math.max(1, math.floor(room * 0.8))
  local page = page_of(width - M.PADDING)
  local height = height_in(page.lines, width, most)
  return {
    relative = "win",
    most = most,
    win = host,
    width = width,
    height = height,
    row = math.max(0, vim.api.nvim_win_get_height(host) - height - 3),
    col = 0,
  }, page
end

--- The keys of a card, in its border; dim while they do nothing.
---@param keys kova.CardKey[]
---@param focused boolean
---@param armed boolean
---@param sent boolean? an answer is on its way
---@param width integer
---@return table[] chunks
function M.footer(keys, focused, armed, sent, width)
  local chunks = {}
  local function add(chunk, hl)
    table.insert(chunks, { chunk, hl })
  end
  if sent then
    add(" answering… ", "KovaCardKeyOff")
  elseif not focused then
    add(t(" %s answers "):format(config.get().keys.card[1] or ":Kova card"), "KovaCardBorderWaiting")
  else
    for _, key in ipairs(keys) do
      if not key.silent then
        local usable = armed and not key.locked
        add(" " .. key.key, usable and "KovaCardKey" or "KovaCardKeyOff")
        add(" " .. key.label .. " ", usable and "NormalFloat" or "KovaCardKeyOff")
      end
    end
    add(" q", "KovaCardKey")
    add(t(" later "), "NormalFloat")
  end
  local total = 0
  for _, chunk in ipairs(chunks) do
    total = total + vim.fn.strdisplaywidth(chunk[1])
  end
  if total > width then
    for _, chunk in ipairs(chunks) do
      chunk[1] = chunk[1]:gsub("^ (.-) $", " %1"):gsub("allow once", "once"):gsub("deny and say why", "deny…")
        :gsub("reject and leave plan mode", "reject+exit"):gsub("open what is hidden", "open")
    end
    table.insert(chunks, { " ", "NormalFloat" })
  end
  return chunks
end

return M
