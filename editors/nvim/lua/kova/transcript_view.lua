--- The transcript's buffer and the windows that show it: highlighting, marks, following its end.
local config = require("kova.config")

local M = {}

M.ns = vim.api.nvim_create_namespace("kova.transcript")
M.buf = nil ---@type integer?
M.treesitter = nil ---@type boolean? whether it highlights the buffer

---@return boolean
function M.is_valid()
  return M.buf ~= nil and vim.api.nvim_buf_is_valid(M.buf)
end

function M.create()
  local buf = vim.api.nvim_create_buf(false, true)
  M.buf = buf
  M.treesitter = nil
  vim.api.nvim_buf_set_name(buf, "kova://conversation")
  vim.bo[buf].buftype = "nofile"
  vim.bo[buf].bufhidden = "hide"
  vim.bo[buf].swapfile = false
  vim.bo[buf].undolevels = -1
  vim.bo[buf].filetype = "markdown"
  vim.bo[buf].modifiable = false
  M.highlight()
end

--- Use treesitter while the transcript is short, regex syntax when it has grown.
function M.highlight()
  if not M.buf then
    return
  end
  local want = vim.api.nvim_buf_line_count(M.buf) <= config.get().transcript.treesitter_max_lines
  if want == M.treesitter then
    return
  end
  M.treesitter = want
  if want then
    if not pcall(vim.treesitter.start, M.buf, "markdown") then
      M.treesitter = false
    end
  else
    pcall(vim.treesitter.stop, M.buf)
    vim.bo[M.buf].syntax = "markdown"
  end
end

function M.windows()
  return M.buf and vim.fn.win_findbuf(M.buf) or {}
end

--- Windows whose cursor stands on the last line: they follow what is added.
function M.followers()
  local last = vim.api.nvim_buf_line_count(M.buf)
  local following = {}
  for _, win in ipairs(M.windows()) do
    if vim.api.nvim_win_get_cursor(win)[1] >= last then
      table.insert(following, win)
    end
  end
  return following
end

function M.follow(following)
  local last = vim.api.nvim_buf_line_count(M.buf)
  for _, win in ipairs(following) do
    if vim.api.nvim_win_is_valid(win) then
      -- A paragraph that is taller than the window shows its end only where the cursor is there.
      local is_tall = vim.api.nvim_win_text_height(win, { start_row = last - 1 }).all
        > vim.api.nvim_win_get_height(win)
      pcall(vim.api.nvim_win_set_cursor, win, { last, is_tall and vim.fn.col({ last, "$" }, win) - 1 or 0 })
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

--- Where lines go, some versions of the highlighter draw what stood in them and fail in a prompt
--- that blocks: it has to begin anew.
local function forget_tree()
  local ok, parser = pcall(vim.treesitter.get_parser, M.buf, "markdown")
  if ok and parser then
    parser:invalidate(true)
  end
end

function M.edit(change)
  local before = vim.api.nvim_buf_line_count(M.buf)
  vim.bo[M.buf].modifiable = true
  change()
  if M.treesitter and vim.api.nvim_buf_line_count(M.buf) < before then
    forget_tree()
  end
  vim.bo[M.buf].modifiable = false
  vim.bo[M.buf].modified = false
end

---@param row integer
---@param marks kova.Mark[]
function M.place(row, marks)
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
    pcall(vim.api.nvim_buf_set_extmark, M.buf, M.ns, row + mark.line, mark.col or 0, opts)
  end
end

return M
