--- Diagnostics as context: only those that the person points at, and only when asked.
local text = require("kova.text")

local M = {}

--- Diagnostics that touch some lines, as input parts.
---@param buf integer
---@param first integer zero-based
---@param last integer zero-based
---@return table[]
local function parts(buf, first, last)
  local found = {}
  for _, diagnostic in ipairs(require("kova.documents").diagnostics_of(buf)) do
    local start, stop = diagnostic.range.start, diagnostic.range["end"]
    -- A range that ends before the first character of a line does not touch it.
    local final = stop.character == 0 and math.max(stop.line - 1, start.line) or stop.line
    if start.line <= last and final >= first then
      table.insert(found, {
        type = "diagnostic",
        uri = vim.uri_from_bufnr(buf),
        range = diagnostic.range,
        message = diagnostic.message,
        severity = diagnostic.severity,
        source = diagnostic.source,
      })
    end
  end
  return found
end

--- Ask to fix what the editor reports on the cursor line, or on the given lines.
---@param prompt string? instead of "Fix this problem."
---@param first integer? one-based
---@param last integer? one-based
function M.fix(prompt, first, last)
  local buf = vim.api.nvim_get_current_buf()
  local line = vim.fn.line(".")
  local found = parts(buf, (first or line) - 1, (last or line) - 1)
  if #found == 0 then
    return text.say(("Kova: there is no diagnostic on %s."):format(first and "these lines" or "this line"))
  elseif vim.api.nvim_buf_get_name(buf) == "" then
    return text.say("Kova: this buffer has no file yet; write it first.")
  end
  if not prompt or prompt == "" then
    prompt = #found == 1 and "Fix this problem." or ("Fix these %d problems."):format(#found)
  end
  require("kova").ask(prompt, found)
end

return M
