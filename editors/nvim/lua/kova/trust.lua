--- Which folders the person trusts. Neovim has no workspace trust, so this keeps its own list.
--- Invariant: a folder is untrusted until the person says otherwise.
local M = {}

local function file()
  return vim.fs.joinpath(vim.fn.stdpath("state"), "kova", "trust.json")
end

---@return table<string, boolean>
local function load()
  local handle = io.open(file(), "r")
  if not handle then
    return {}
  end
  local text = handle:read("*a")
  handle:close()
  local ok, data = pcall(vim.json.decode, text)
  return ok and type(data) == "table" and type(data.folders) == "table" and data.folders or {}
end

--- The real path: a link to a trusted folder is that folder, and nothing else is.
local function key(root)
  return vim.uv.fs_realpath(root) or root
end

--- What the person said of the folder; nil when never asked.
---@param root string
---@return boolean?
function M.get(root)
  local answer = load()[key(root)]
  if type(answer) ~= "boolean" then
    return nil
  end
  return answer
end

---@param root string
---@param trusted boolean
---@return string? problem
function M.set(root, trusted)
  local folders = load()
  folders[key(root)] = trusted
  local path = file()
  vim.fn.mkdir(vim.fs.dirname(path), "p", "0700")
  local handle, problem = io.open(path .. ".new", "w")
  if not handle then
    return problem
  end
  handle:write(vim.json.encode({ folders = folders }))
  handle:close()
  local ok, failure = vim.uv.fs_rename(path .. ".new", path)
  return not ok and failure or nil
end

return M
