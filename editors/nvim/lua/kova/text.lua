--- Text that others wrote, made safe to show; and counting in it.
--- Invariant: what leaves `visible` holds no control, no bidirectional and no zero-width character
--- except newline and tab; nothing is dropped, all of it is shown as ⟨U+XXXX⟩.
local M = {}

---@param cp integer
---@param strict boolean
local function is_hidden(cp, strict)
  if cp < 0x20 then
    return cp ~= 0x0A and cp ~= 0x09
  end
  if cp < 0x7F then
    return false
  end
  if cp <= 0x9F or cp == 0xAD or cp == 0x034F or cp == 0x061C or cp == 0x115F or cp == 0x1160 then
    return true
  end
  if not strict and (cp == 0x200D or cp == 0x200C or (cp >= 0xFE00 and cp <= 0xFE0F)) then
    return false -- joiners and variation selectors: emoji and many scripts need them in prose
  end
  return (cp >= 0x17B4 and cp <= 0x17B5)
    or (cp >= 0x180B and cp <= 0x180F)
    or (cp >= 0x200B and cp <= 0x200F)
    or (cp >= 0x2028 and cp <= 0x202E)
    or (cp >= 0x2060 and cp <= 0x206F)
    or cp == 0x2800
    or cp == 0x3164
    or (cp >= 0xFE00 and cp <= 0xFE0F)
    or cp == 0xFEFF
    or cp == 0xFFA0
    or (cp >= 0xFFF0 and cp <= 0xFFFB)
    or (cp >= 0xE0000 and cp <= 0xE0FFF)
    or (strict and (cp == 0xA0 or cp == 0x1680 or (cp >= 0x2000 and cp <= 0x200A) or cp == 0x202F or cp == 0x205F or cp == 0x3000))
end

local caches = { [true] = {}, [false] = {} } ---@type table<boolean, table<string, string>>

local function shown(char, strict)
  local cache = caches[strict]
  local known = cache[char]
  if known == nil then
    local cp = vim.fn.char2nr(char)
    known = is_hidden(cp, strict) and ("⟨U+%04X⟩"):format(cp) or char
    cache[char] = known
  end
  return known
end

--- Make every character that could deceive visible.
---@param text string
---@param strict boolean? also joiners, variation selectors and odd spaces: for what is approved
---@return string
function M.visible(text, strict)
  strict = strict or false
  if text:find("%z") then
    text = text:gsub("%z", "⟨U+0000⟩")
  end
  if text:find("[\1-\8\11-\31\127]") then
    text = text:gsub("[\1-\8\11-\31\127]", function(char)
      return shown(char, strict)
    end)
  end
  if text:find("[\194-\244]") then
    text = text:gsub("[\194-\244][\128-\191]*", function(char)
      return shown(char, strict)
    end)
  end
  return text
end

--- One line of safe text; line breaks become ⏎.
---@param text string
---@param max integer? cut to so many cells, with an ellipsis
function M.line(text, max)
  local line = M.visible(text, true):gsub("\n", "⏎"):gsub("\t", " ")
  if max and vim.fn.strdisplaywidth(line) > max then
    line = vim.fn.strcharpart(line, 0, math.max(max - 1, 1)) .. "…"
    while vim.fn.strdisplaywidth(line) > max and vim.fn.strchars(line) > 1 do
      line = vim.fn.strcharpart(line, 0, vim.fn.strchars(line) - 2) .. "…"
    end
  end
  return line
end

--- Break a line of safe text between words; a word wider than `width` is broken within.
---@param line string
---@param width integer
---@return string[]
function M.wrap(line, width)
  local out, current = {}, ""
  for gap, word in line:gmatch("( *)([^ ]+)") do
    if current ~= "" and vim.fn.strdisplaywidth(current .. gap .. word) > width then
      table.insert(out, current)
      current = word
    else
      current = current .. gap .. word
    end
    while vim.fn.strdisplaywidth(current) > width do
      local room = math.max(width, 2)
      local count = vim.fn.strchars(current)
      while count > 1 and vim.fn.strdisplaywidth(vim.fn.strcharpart(current, 0, count)) > room do
        count = count - 1
      end
      if count == vim.fn.strchars(current) then
        break
      end
      table.insert(out, vim.fn.strcharpart(current, 0, count))
      current = vim.fn.strcharpart(current, count)
    end
  end
  table.insert(out, current)
  return out
end

--- Lines of safe text.
---@param text string
---@param strict boolean?
---@return string[]
function M.lines(text, strict)
  return vim.split(M.visible(text, strict), "\n", { plain = true })
end

--- Lines of a program's output: plain colour codes go, CR LF counts as a line end.
---@param text string
---@return string[]
function M.output(text)
  text = text:gsub("\27%[[%d;]*m", ""):gsub("\r\n", "\n")
  if text:sub(-1) == "\n" then
    text = text:sub(1, -2)
  end
  return M.lines(text)
end

--- A fence longer than any run of backticks in the lines.
---@param lines string[]
---@return string
function M.fence(lines)
  local longest = 2
  for _, line in ipairs(lines) do
    for run in line:gmatch("`+") do
      longest = math.max(longest, #run)
    end
  end
  return ("`"):rep(longest + 1)
end

--- Characters (code points) in the text, as the server counts offsets.
---@param text string
---@return integer
function M.chars(text)
  return vim.fn.strchars(text)
end

--- UTF-16 code units before a byte, as LSP counts.
---@param line string
---@param byte integer zero-based
---@return integer
function M.utf16(line, byte)
  local units = 0
  for char in line:sub(1, byte):gmatch("[%z\1-\127\194-\244][\128-\191]*") do
    units = units + (#char == 4 and 2 or 1)
  end
  return units
end

--- `1234567` as `1.2M`.
---@param n number
function M.count(n)
  if n >= 1e6 then
    return ("%.1fM"):format(n / 1e6)
  elseif n >= 1e4 then
    return ("%dk"):format(n / 1e3)
  elseif n >= 1e3 then
    return ("%.1fk"):format(n / 1e3)
  end
  return tostring(math.floor(n))
end

--- A path as people read it: relative to the root where it is inside.
---@param uri string
---@param root string?
---@return string
function M.path(uri, root)
  local ok, path = pcall(vim.uri_to_fname, uri)
  if not ok then
    return M.line(uri)
  end
  if root and path:sub(1, #root + 1) == root .. "/" then
    path = path:sub(#root + 2)
  else
    path = vim.fn.fnamemodify(path, ":~")
  end
  return M.line(path)
end

--- Also shows what is said in the Kova windows, where no mode message can cover it.
---@type fun(line: string, level: integer)?
M.also = nil

local SPACING_MS = 100
local waiting ---@type { line: string, level: integer }?
local pausing = false

--- Two messages without a redraw between them would wait for a key: the last one is shown.
local function speak()
  local now = waiting
  waiting = nil
  if not now then
    pausing = false
    return
  end
  vim.cmd.redraw()
  vim.notify(now.line, now.level)
  vim.defer_fn(speak, SPACING_MS)
end

--- Say something without ever causing a hit-enter prompt.
---@param message string
---@param level integer?
function M.say(message, level)
  level = level or vim.log.levels.INFO
  local line = M.line(message, math.max(vim.o.columns - 14, 20))
  waiting = { line = line, level = level }
  if not pausing then
    pausing = true
    vim.schedule(speak) -- raised within a command, an error message would be its failure
  end
  if M.also then
    M.also(M.line(message, 300), level)
  end
end

return M
