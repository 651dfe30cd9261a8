--- Diagnostics: told to the engine when it asks, and as context of a prompt only when the person
--- points at them.
local text = require("kova.text")
local t = require("kova.l10n").t

local M = {}

---@param buf integer
---@return table[]
local function of_buffer(buf)
  local found = {}
  local function position(lnum, col)
    local line = vim.api.nvim_buf_get_lines(buf, lnum, lnum + 1, false)[1] or ""
    return { line = lnum, character = text.utf16(line, col) }
  end
  local all = vim.diagnostic.get(buf)
  table.sort(all, function(a, b)
    return a.lnum < b.lnum or (a.lnum == b.lnum and a.col < b.col)
  end)
  for _, diagnostic in ipairs(all) do
    table.insert(found, {
      range = {
        start = position(diagnostic.lnum, diagnostic.col),
        ["end"] = position(diagnostic.end_lnum or diagnostic.lnum, diagnostic.end_col or diagnostic.col),
      },
      severity = diagnostic.severity,
      message = diagnostic.message,
      source = diagnostic.source,
      code = diagnostic.code and tostring(diagnostic.code) or nil,
    })
  end
  return found
end

--- Wait until no diagnostics came for a while. Runs in the coroutine of the request.
---@param settle_ms integer
---@return boolean settled
local function settle(settle_ms)
  local routine = coroutine.running()
  if not routine or settle_ms <= 0 then
    return true
  end
  local timer = assert(vim.uv.new_timer())
  local last, began = vim.uv.now(), vim.uv.now()
  local watch = vim.api.nvim_create_autocmd("DiagnosticChanged", {
    callback = function()
      last = vim.uv.now()
    end,
  })
  local settled
  timer:start(settle_ms, math.max(math.floor(settle_ms / 5), 10), vim.schedule_wrap(function()
    local now = vim.uv.now()
    if settled ~= nil or (now - last < settle_ms and now - began < 5 * settle_ms) then
      return
    end
    settled = now - last >= settle_ms
    timer:stop()
    timer:close()
    vim.api.nvim_del_autocmd(watch)
    coroutine.resume(routine)
  end))
  coroutine.yield()
  return settled
end

--- `kova/editor/diagnostics`.
---@param params table
---@param client_id integer?
function M.answer(params, client_id)
  local settled = settle(params.settleMs or 1000)
  local asked = #(params.uris or {}) > 0
  local found = {}
  for _, buf in ipairs(vim.api.nvim_list_bufs()) do
    local uri = vim.uri_from_bufnr(buf)
    local wanted = asked and vim.tbl_contains(params.uris, uri)
    if wanted or (not asked and client_id and vim.lsp.buf_is_attached(buf, client_id)) then
      local list = of_buffer(buf)
      if wanted or #list > 0 then
        table.insert(found, { uri = uri, version = require("kova.documents").version_of(buf), diagnostics = list })
      end
    end
  end
  return { documents = found, settled = settled }
end

--- Diagnostics that touch some lines, as input parts.
---@param buf integer
---@param first integer zero-based
---@param last integer zero-based
---@return table[]
local function parts(buf, first, last)
  local found = {}
  for _, diagnostic in ipairs(of_buffer(buf)) do
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

--- Attach the diagnostics of the buffer, or of some lines, to the prompt.
---@param first integer? one-based
---@param last integer? one-based
function M.attach(first, last)
  local buf = vim.api.nvim_get_current_buf()
  local found = parts(buf, (first or 1) - 1, (first and last or vim.api.nvim_buf_line_count(buf)) - 1)
  if #found == 0 then
    return text.say(first and t("Kova: there is no diagnostic on these lines.") or t("Kova: there is no diagnostic in this buffer."))
  elseif vim.api.nvim_buf_get_name(buf) == "" then
    return text.say(t("Kova: this buffer has no file yet; write it first."))
  end
  require("kova").open()
  for _, part in ipairs(found) do
    require("kova.prompt").attach(part)
  end
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
    return text.say(first and t("Kova: there is no diagnostic on these lines.") or t("Kova: there is no diagnostic on this line."))
  elseif vim.api.nvim_buf_get_name(buf) == "" then
    return text.say(t("Kova: this buffer has no file yet; write it first."))
  end
  if not prompt or prompt == "" then
    prompt = #found == 1 and "Fix this problem." or ("Fix these %d problems."):format(#found)
  end
  require("kova").ask(prompt, found)
end

return M
