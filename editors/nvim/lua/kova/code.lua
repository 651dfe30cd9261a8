--- Code blocks of the transcript, taken from it: into a register, or into the person's own buffer.
--- Invariant: what is taken is what is shown, characters made visible included.
local text = require("kova.text")
local view = require("kova.transcript_view")
local t = require("kova.l10n").t

local M = {}

---@class kova.CodeBlock
---@field first integer one-based, of the first line of code
---@field lines string[]

---@return kova.CodeBlock[]
local function blocks()
  local found, open = {}, nil
  for number, line in ipairs(view.is_valid() and vim.api.nvim_buf_get_lines(view.buf, 0, -1, false) or {}) do
    local indent, fence, rest = line:match("^(%s*)(```+)(.*)$")
    if not fence then
      indent, fence, rest = line:match("^(%s*)(~~~+)(.*)$")
    end
    if open and fence and fence:sub(1, 1) == open.fence:sub(1, 1) and #fence >= #open.fence and rest:match("^%s*$") then
      table.insert(found, { first = open.at + 1, lines = open.lines })
      open = nil
    elseif open then
      table.insert(open.lines, line:sub(1, #open.indent) == open.indent and line:sub(#open.indent + 1) or line)
    elseif fence and not rest:find("`", 1, true) then
      open = { at = number, fence = fence, indent = indent, lines = {} }
    end
  end
  return found
end

--- The code block under the cursor; from elsewhere, the last one.
---@return kova.CodeBlock?
local function meant()
  local all = blocks()
  if vim.api.nvim_get_current_buf() ~= view.buf then
    return all[#all]
  end
  local line = vim.fn.line(".")
  for _, block in ipairs(all) do
    if line >= block.first - 1 and line <= block.first + #block.lines then
      return block
    end
  end
end

local function none()
  local inside = vim.api.nvim_get_current_buf() == view.buf
  text.say(inside and t("Kova: there is no code block under the cursor.") or t("Kova: there is no code block in the conversation."))
end

---@param n integer
local function lines_of(n)
  return n == 1 and t("one line") or t("%d lines"):format(n)
end

--- Copy the code block into a register: the given one, else the unnamed one.
---@param register string?
function M.yank(register)
  local block = meant()
  if not block then
    return none()
  end
  local name = register ~= nil and register ~= "" and register or '"'
  if not pcall(vim.fn.setreg, name, block.lines, "V") then
    return text.say(t("Kova: %s is no register that can be written."):format(name), vim.log.levels.ERROR)
  end
  text.say(t("Kova: %s in register %s."):format(lines_of(#block.lines), name))
end

--- Put the code block below the cursor of the person's own window, as one undo step.
function M.insert()
  local block = meant()
  if not block then
    return none()
  end
  local win = require("kova.panels").own_window()
  local buf = win and vim.api.nvim_win_get_buf(win)
  if not buf or not vim.bo[buf].modifiable or vim.bo[buf].buftype ~= "" then
    return text.say(t("Kova: there is no window of a file to put it into; open one beside."), vim.log.levels.WARN)
  end
  local row = vim.api.nvim_win_get_cursor(win)[1]
  local only = vim.api.nvim_buf_get_lines(buf, 0, -1, false)
  local empty = #only == 1 and only[1] == ""
  vim.bo[buf].undolevels = vim.bo[buf].undolevels -- apart from what was typed
  vim.api.nvim_buf_set_lines(buf, empty and 0 or row, empty and 1 or row, false, block.lines)
  text.say(t("Kova: %s put into %s."):format(lines_of(#block.lines), vim.fn.fnamemodify(vim.api.nvim_buf_get_name(buf), ":t")))
end

return M
