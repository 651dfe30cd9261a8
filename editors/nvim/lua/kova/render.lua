--- Items and display blocks as lines of Markdown with highlights.
--- Invariant: pure but for path shortening; all foreign text leaves here made visible.
local config = require("kova.config")
local text = require("kova.text")
local t = require("kova.l10n").t

local M = {}

---@class kova.Mark
---@field line integer zero-based, within the lines
---@field col integer?
---@field end_col integer?
---@field hl string?
---@field line_hl string?
---@field virt table[]? shown at the end of the line

---@class kova.Rendered
---@field lines string[]
---@field marks kova.Mark[]
---@field fold boolean?

local function icon(name)
  return config.get().icons[name] or "•"
end

local STATUS_HL = {
  waiting = "KovaWaiting",
  running = "KovaRunning",
  ok = "KovaOk",
  error = "KovaError",
  blocked = "KovaError",
  cancelled = "KovaWaiting",
  interrupted = "KovaWaiting",
}

---@param out string[]
---@param lines string[]
---@param language string?
local function fenced(out, lines, language)
  local fence = text.fence(lines)
  table.insert(out, fence .. (language or ""))
  vim.list_extend(out, lines)
  table.insert(out, fence)
end

local function cell(value)
  return (text.line(tostring(value)):gsub("|", "\\|"))
end

--- A Markdown table with aligned columns.
---@param columns string[]
---@param rows string[][]
---@return string[]
function M.table(columns, rows)
  local widths, all = {}, { columns }
  vim.list_extend(all, rows)
  local cells = {}
  for r, row in ipairs(all) do
    cells[r] = {}
    for c = 1, #columns do
      cells[r][c] = cell(row[c] or "")
      widths[c] = math.max(widths[c] or 3, vim.fn.strdisplaywidth(cells[r][c]))
    end
  end
  local out = {}
  for r, row in ipairs(cells) do
    local padded = {}
    for c, value in ipairs(row) do
      padded[c] = value .. (" "):rep(widths[c] - vim.fn.strdisplaywidth(value))
    end
    table.insert(out, "| " .. table.concat(padded, " | ") .. " |")
    if r == 1 then
      local rule = {}
      for c, width in ipairs(widths) do
        rule[c] = ("-"):rep(width)
      end
      table.insert(out, "| " .. table.concat(rule, " | ") .. " |")
    end
  end
  return out
end

local TODO = { pending = "- [ ] ", in_progress = "- [~] ", done = "- [x] " }

local block_lines = {
  text = function(out, b)
    local lines = text.output(b.text or "")
    if b.language == "markdown" then
      vim.list_extend(out, lines)
    elseif #lines > 1 or lines[1] ~= "" then
      fenced(out, lines, b.language and text.line(b.language):gsub("%s", "") or "")
    end
  end,
  diff = function(out, b, root)
    table.insert(out, ("%s: %s"):format(b.change or "modify", text.path(b.uri or "", root)))
    fenced(out, text.output(b.diff or ""), "diff")
    if (b.hiddenLines or 0) > 0 then
      table.insert(out, t("… %d more lines of this diff; K opens the whole"):format(b.hiddenLines))
    end
  end,
  command = function(out, b)
    local lines = {}
    for i, line in ipairs(text.lines(b.command or "", true)) do
      table.insert(lines, (i == 1 and "$ " or "> ") .. line)
    end
    if b.output and b.output ~= "" then
      vim.list_extend(lines, text.output(b.output))
    end
    if b.exitCode and b.exitCode ~= 0 then
      table.insert(lines, t("[exit code %d]"):format(b.exitCode))
    end
    fenced(out, lines, "console")
    if (b.hiddenBytes or 0) > 0 then
      table.insert(out, t("… %s bytes more; K opens the whole"):format(text.count(b.hiddenBytes)))
    end
  end,
  todos = function(out, b)
    for _, todo in ipairs(b.todos or {}) do
      table.insert(out, (TODO[todo.status] or "- [?] ") .. text.line(todo.text or ""))
    end
  end,
  image = function(out, b, root)
    table.insert(out, ("![%s](%s)"):format(text.line(b.alt or ""), text.path(b.uri or "", root)))
  end,
  link = function(out, b)
    table.insert(out, ("[%s](%s)"):format(text.line(b.text or ""), text.line(b.uri or "")))
  end,
  table = function(out, b)
    vim.list_extend(out, M.table(b.columns or {}, b.rows or {}))
  end,
}

--- Lines of the display blocks.
---@param blocks table[]
---@param root string?
---@return string[]
function M.blocks(blocks, root)
  local out = {}
  for _, block in ipairs(blocks or {}) do
    local show = block_lines[block.type]
    if show then
      show(out, block, root)
    else
      fenced(out, text.output(vim.inspect(block)), "")
    end
  end
  return out
end

--- What a part of the input is called in one line.
---@param part table
---@param root string?
---@return string
function M.part(part, root)
  local path = part.uri and text.path(part.uri, root) or ""
  local range = part.range
  local where = range and (":%d"):format(range.start.line + 1) or ""
  if range and range["end"].line > range.start.line then
    where = ("%s-%d"):format(where, range["end"].line + 1)
  end
  if part.type == "file" then
    return "@" .. path .. where
  elseif part.type == "selection" then
    return "⧉ " .. path .. where
  elseif part.type == "image" then
    return "▣ " .. (path ~= "" and path or "picture")
  elseif part.type == "diagnostic" then
    return "! " .. path .. where .. " " .. text.line(part.message or "", 80)
  end
  return ""
end

local items = {} ---@type table<string, fun(item: table, root: string?): kova.Rendered>

function items.userMessage(item, root)
  local out, marks = {}, {}
  local prefix = icon("user") .. " "
  local pad = (" "):rep(vim.fn.strdisplaywidth(prefix))
  local spoken = {}
  for _, part in ipairs(item.input or {}) do
    if part.type == "text" then
      table.insert(spoken, part.text)
    end
  end
  for _, line in ipairs(text.lines(vim.trim(table.concat(spoken, "\n")))) do
    table.insert(out, (#out == 0 and prefix or pad) .. line)
  end
  for _, part in ipairs(item.input or {}) do
    if part.type ~= "text" then
      table.insert(out, pad .. M.part(part, root))
      table.insert(marks, { line = #out - 1, col = #pad, end_col = #out[#out], hl = "KovaMention" })
    end
  end
  for i = 0, #out - 1 do
    table.insert(marks, { line = i, line_hl = "KovaUserLine" })
  end
  table.insert(marks, { line = 0, col = 0, end_col = #prefix, hl = "KovaUser" })
  if item.goalId then
    table.insert(marks, { line = 0, virt = { { t("begun by itself"), "KovaHint" } } })
  end
  if item.steered then
    table.insert(marks, { line = 0, virt = { { t("into the running turn"), "KovaHint" } } })
  end
  return { lines = out, marks = marks }
end

function items.reply(item)
  local out = text.lines(item.text or "")
  local marks = {}
  if item.status and item.status ~= "ok" and item.status ~= "running" and item.status ~= "waiting" then
    local hl = STATUS_HL[item.status] or "KovaError"
    table.insert(marks, { line = #out - 1, virt = { { icon("interrupted") .. " " .. item.status, hl } } })
  end
  return { lines = out, marks = marks }
end

function items.reasoning(item)
  local running = item.status == "running"
  local thoughts = text.lines(vim.trim(item.text or ""))
  local first = text.line((thoughts[1]:gsub("%*%*", "")), 72)
  local head = icon("reasoning") .. (running and t(" thinking") or first ~= "" and " " .. first or t(" thought"))
  local out = { head }
  if #thoughts > 1 or vim.fn.strdisplaywidth(thoughts[1]) > 72 then
    vim.list_extend(out, thoughts)
  end
  local marks = {}
  for i, line in ipairs(out) do
    marks[i] = { line = i - 1, col = 0, end_col = #line, hl = "KovaReasoning" }
  end
  return { lines = out, marks = marks, fold = not running }
end

function items.toolCall(item, root)
  local status = item.status or "running"
  local sign = icon(status)
  local head = ("%s %s"):format(sign, text.line(item.title or item.tool or "", 200))
  local out = { head }
  local hl = STATUS_HL[status] or "KovaToolDim"
  local aside = {}
  local verdict = item.verdict or {}
  if status == "waiting" then
    table.insert(aside, { t("waits for you"), "KovaWaiting" })
  elseif status ~= "ok" and status ~= "running" then
    table.insert(aside, { text.line(status), hl })
  end
  local tool = text.line(item.tool or "", 40)
  if #aside == 0 and tool ~= "" and not (item.title or ""):lower():find(tool:lower(), 1, true) then
    table.insert(aside, 1, { tool .. " ", "KovaToolDim" })
  end
  local marks = {
    { line = 0, col = 0, end_col = #sign, hl = hl },
    { line = 0, col = #sign, end_col = #head, hl = "KovaTool" },
  }
  if #aside > 0 then
    table.insert(marks, { line = 0, virt = aside })
  end
  if item.error and item.error ~= "" then
    for _, line in ipairs(text.lines(item.error)) do
      table.insert(out, line)
      table.insert(marks, { line = #out - 1, col = 0, end_col = #line, hl = "KovaError" })
    end
  end
  if status ~= "waiting" and status ~= "running" and verdict.decision then
    for _, reason in ipairs(verdict.reasons or {}) do
      local line = ("%s: %s"):format(text.line(verdict.decision), text.line(reason.text or reason.code or ""))
      table.insert(out, line)
      table.insert(marks, { line = #out - 1, col = 0, end_col = #line, hl = "KovaToolDim" })
    end
  end
  if status ~= "waiting" then
    vim.list_extend(out, M.blocks(item.display or {}, root))
  end
  if item.outputRef then
    table.insert(out, t("(K opens the whole output)"))
    table.insert(marks, { line = #out - 1, col = 0, end_col = #out[#out], hl = "KovaToolDim" })
  end
  return { lines = out, marks = marks, fold = status ~= "running" and status ~= "waiting" }
end

function items.notice(item)
  local sign = item.level == "info" and icon("notice") or icon("warning")
  local hl = item.level == "error" and "KovaError" or (item.level == "warning" and "KovaWaiting" or "KovaNotice")
  local out, marks = {}, {}
  for i, line in ipairs(text.lines(item.text or "")) do
    out[i] = (i == 1 and sign .. " " or "  ") .. line
    marks[i] = { line = i - 1, col = 0, end_col = #out[i], hl = hl }
  end
  return { lines = out, marks = marks }
end

function items.compaction(item)
  local out = { t("── earlier turns, in short ──") }
  vim.list_extend(out, text.lines(item.summary or ""))
  return {
    lines = out,
    marks = { { line = 0, col = 0, end_col = #out[1], hl = "KovaHint" } },
    fold = true,
  }
end

--- An item as lines; a kind that is not known is shown as data.
---@param item table
---@param root string?
---@return kova.Rendered
function M.item(item, root)
  local show = items[item.kind]
  if show then
    return show(item, root)
  end
  local out = {}
  fenced(out, text.output(vim.inspect(item)), "")
  return { lines = out, marks = {} }
end

--- Kinds that stand close together, without a blank line between them.
---@param kind string
function M.is_compact(kind)
  return kind == "toolCall" or kind == "reasoning"
end

return M
