--- `@path` in the prompt: completion, and the input parts that are sent for it.
--- Invariant: listing files never blocks; what is typed stays as typed.
local client = require("kova.client")
local text = require("kova.text")

local M = {}

local FRESH_MS = 5000
local MOST_FILES = 50000
local files = {} ---@type string[]
local listed_at = -FRESH_MS
local listing = false
local waiting = {} ---@type fun()[]

---@param found string[]
local function listed(found)
  files = found
  listed_at = vim.uv.now()
  listing = false
  local callbacks = waiting
  waiting = {}
  for _, callback in ipairs(callbacks) do
    callback()
  end
end

--- Walk the folder in small pieces, without ripgrep.
local function walk(root)
  local found = {}
  local walker = coroutine.wrap(function()
    local skip = { [".git"] = true, ["node_modules"] = true, [".venv"] = true, ["__pycache__"] = true }
    local iterator = vim.fs.dir(root, {
      depth = 12,
      skip = function(dir)
        return not skip[vim.fs.basename(dir)]
      end,
    })
    for name, kind in iterator do
      if kind == "file" then
        table.insert(found, name)
      end
      if #found >= MOST_FILES then
        break
      end
      if #found % 500 == 0 then
        coroutine.yield(false)
      end
    end
    return true
  end)
  local function step()
    if walker() then
      listed(found)
    else
      vim.schedule(step)
    end
  end
  step()
end

--- List the workspace's files, then call back; a fresh list is used as it is.
---@param callback fun()
local function with_files(callback)
  if vim.uv.now() - listed_at < FRESH_MS then
    return callback()
  end
  table.insert(waiting, callback)
  if listing then
    return
  end
  listing = true
  local root = client.root or client.find_root()
  if vim.fn.executable("rg") == 0 then
    return walk(root)
  end
  local arguments = { "rg", "--files", "--hidden", "--glob", "!.git", "--no-messages", "--no-config" }
  vim.system(arguments, { cwd = root, text = true }, function(result)
    vim.schedule(function()
      local found = vim.split(result.stdout or "", "\n", { trimempty = true })
      if #found == 0 then
        return walk(root)
      end
      listed(found)
    end)
  end)
end

--- The mention that ends at the cursor.
---@param line string up to the cursor
---@return integer? start byte of the `@`, zero-based
---@return string? query
local function unfinished(line)
  local start, _, query = line:find('@"?([^%s"@]*)$')
  if not start then
    return nil
  end
  if start > 1 and not line:sub(start - 1, start - 1):match("[%s%(%[,;:]") then
    return nil
  end
  return start - 1, query
end

---@param query string
---@return table[]
local function candidates(query)
  local found = query == "" and vim.list_slice(files, 1, 60)
    or vim.list_slice(vim.fn.matchfuzzy(files, query), 1, 60)
  local items = {}
  for _, path in ipairs(found) do
    local word = path:find("%s") and ('@"%s"'):format(path) or "@" .. path
    if not path:find("[%c]") then
      table.insert(items, { word = word, abbr = text.line(path), menu = "file", dup = 0 })
    end
  end
  return items
end

--- Offer files after an `@`, as it is typed.
function M.offer()
  local line = vim.api.nvim_get_current_line():sub(1, vim.api.nvim_win_get_cursor(0)[2])
  local start = unfinished(line)
  if not start then
    return
  end
  local buf = vim.api.nvim_get_current_buf()
  with_files(function()
    if vim.api.nvim_get_current_buf() ~= buf or vim.api.nvim_get_mode().mode:sub(1, 1) ~= "i" then
      return
    end
    local now = vim.api.nvim_get_current_line():sub(1, vim.api.nvim_win_get_cursor(0)[2])
    local from, query = unfinished(now)
    if from and query then
      local items = candidates(query)
      local whole = #items > 0 and items[1].word == "@" .. query
      if #items > 0 and not whole then
        vim.fn.complete(from + 1, items)
      end
    end
  end)
end

--- 'completefunc' of the prompt.
---@param findstart integer
---@param base string
function M.complete(findstart, base)
  if findstart == 1 then
    local line = vim.api.nvim_get_current_line():sub(1, vim.api.nvim_win_get_cursor(0)[2])
    return unfinished(line) or -3
  end
  with_files(function() end)
  return candidates((base:gsub('^@"?', "")))
end

---@param path string
---@return string? absolute when it exists
local function resolve(path)
  local root = client.root or client.find_root()
  local absolute = path
  if path:sub(1, 1) == "~" then
    absolute = vim.fs.normalize(path)
  elseif path:sub(1, 1) ~= "/" and not path:match("^%a:[/\\]") then
    absolute = vim.fs.joinpath(root, path)
  end
  return vim.uv.fs_stat(absolute) and vim.fs.normalize(absolute) or nil
end

---@param token string
---@return table? part
local function part_of(token)
  local absolute, first, last
  while true do
    absolute = resolve(token)
    if not absolute then
      local path
      path, first, last = token:match("^(.-):(%d+)%-?(%d*)$")
      absolute = path and resolve(path)
    end
    if absolute or not token:match(".[%.,;:!%?%)%]]$") then
      break
    end
    token = token:sub(1, -2) -- "see @main.py."
  end
  if not absolute then
    return nil
  end
  local part = { type = "file", uri = vim.uri_from_fname(absolute) }
  if first then
    local from = math.max(tonumber(first) - 1, 0)
    local to = tonumber(last) or from + 1
    part.range = { start = { line = from, character = 0 }, ["end"] = { line = math.max(to, from + 1), character = 0 } }
  end
  return part
end

--- The parts for a prompt: the text as typed, then a file part per mention that exists.
---@param prompt string
---@return table[]
function M.parts(prompt)
  local parts = {}
  if vim.trim(prompt) ~= "" then
    table.insert(parts, { type = "text", text = prompt })
  end
  local seen = {}
  local function take(token)
    local part = part_of(token)
    local key = part and vim.inspect(part)
    if part and not seen[key] then
      seen[key] = true
      table.insert(parts, part)
    end
  end
  local spaced = " " .. prompt
  for token in spaced:gmatch('[%s%(%[,;:]@"([^"\n]+)"') do
    take(token)
  end
  for token in spaced:gmatch('[%s%(%[,;:]@([^%s"@]+)') do
    take(token)
  end
  return parts
end

--- The selected text as an input part.
---@param buf integer
---@param first integer one-based
---@param last integer
---@return table
function M.selection(buf, first, last)
  local from, to = { first, 0 }, { last, -1 }
  local a, b = vim.api.nvim_buf_get_mark(buf, "<"), vim.api.nvim_buf_get_mark(buf, ">")
  if vim.fn.visualmode() == "v" and a[1] == first and b[1] == last then
    from = a
    local line = vim.api.nvim_buf_get_lines(buf, last - 1, last, true)[1]
    if b[2] < #line then
      local char = vim.str_utf_end(line, b[2] + 1)
      to = { last, b[2] + 1 + char }
    end
  end
  local lines = vim.api.nvim_buf_get_lines(buf, first - 1, last, true)
  local start = { line = first - 1, character = text.utf16(lines[1], from[2]) }
  local stop
  if to[2] < 0 then
    stop = { line = last, character = 0 }
    lines[1] = lines[1]:sub(from[2] + 1)
  else
    stop = { line = last - 1, character = text.utf16(lines[#lines], to[2]) }
    lines[#lines] = lines[#lines]:sub(1, to[2])
    lines[1] = lines[1]:sub(from[2] + 1)
  end
  local content = table.concat(lines, "\n")
  local name = vim.api.nvim_buf_get_name(buf)
  if name == "" or name:match("^%a[%w+.-]*://") then
    local fence = text.fence(lines)
    return { type = "text", text = ("%s%s\n%s\n%s"):format(fence, vim.bo[buf].filetype, content, fence) }
  end
  return {
    type = "selection",
    uri = vim.uri_from_bufnr(buf),
    range = { start = start, ["end"] = stop },
    text = content,
  }
end

return M
