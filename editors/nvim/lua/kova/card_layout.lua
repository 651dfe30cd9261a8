--- Where a card stands and what its border says.
local config = require("kova.config")

local M = {}

M.PADDING = 1 -- the fold column, which is always empty

--- Where the float goes: large when the person is in it, else inside the conversation's window.
---@param focused boolean
---@param lines string[]
---@return table?
function M.place(focused, lines)
  local settings = config.get().card
  local function height_in(width)
    local rows = 0
    for _, line in ipairs(lines) do
      rows = rows + math.max(1, math.ceil(vim.fn.strdisplaywidth(line) / (width - M.PADDING)))
    end
    return rows
  end
  if focused then
    local width = math.max(20, math.min(settings.max_width, vim.o.columns - 6))
    local most = math.max(3, math.floor((vim.o.lines - vim.o.cmdheight - 4) * settings.max_height))
    local height = math.max(1, math.min(height_in(width), most))
    return {
      relative = "editor",
      width = width,
      height = height,
      row = math.max(0, math.floor((vim.o.lines - vim.o.cmdheight - height) / 2) - 1),
      most = most,
      col = math.max(0, math.floor((vim.o.columns - width) / 2) - 1),
    }
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
  local height = math.max(1, math.min(height_in(width), most))
  return {
    relative = "win",
    most = most,
    win = host,
    width = width,
    height = height,
    row = math.max(0, vim.api.nvim_win_get_height(host) - height - 3),
    col = 0,
  }
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
    add((" %s answers "):format(config.get().keys.card[1] or ":Kova card"), "KovaCardBorderWaiting")
  else
    for _, key in ipairs(keys) do
      if not key.silent then
        local usable = armed and not key.locked
        add(" " .. key.key, usable and "KovaCardKey" or "KovaCardKeyOff")
        add(" " .. key.label .. " ", usable and "NormalFloat" or "KovaCardKeyOff")
      end
    end
    add(" q", "KovaCardKey")
    add(" later ", "NormalFloat")
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
