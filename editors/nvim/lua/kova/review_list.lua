--- What waits for review as a quickfix list, one entry per hunk, and as numbers.
--- Invariant: only our own list is ever changed.
local hunks = require("kova.hunks")
local text = require("kova.text")
local t = require("kova.l10n").t

local M = {}

local list_id ---@type integer?

--- The file of a change.
---@param change kova.Change
---@return string
function M.path_of(change)
  local ok, path = pcall(vim.uri_to_fname, change.uri)
  return ok and path or change.uri
end

--- How much waits.
---@param changes kova.Change[]
---@return integer hunks
---@return integer files
function M.counts(changes)
  local total = 0
  for _, change in ipairs(changes) do
    total = total + math.max(#change.hunks, 1)
  end
  return total, #changes
end

--- `3 files`, `1 file`.
---@param n integer
---@param word "change"|"file"
function M.some(n, word)
  local one, many = t("1 change"), t("%d changes")
  if word == "file" then
    one, many = t("1 file"), t("%d files")
  end
  return (n == 1 and one or many):format(n)
end

--- `2 changes in 1 file`.
---@param changes kova.Change[]
function M.words(changes)
  local total, files = M.counts(changes)
  return t("%s in %s"):format(M.some(total, "change"), M.some(files, "file"))
end

---@param changes kova.Change[]
local function entries(changes)
  local items = {}
  for _, change in ipairs(changes) do
    local path = M.path_of(change)
    for _, hunk in ipairs(change.hunks) do
      local lines = hunks.lines(hunk, hunk.lineCount > 0 and "+" or "-")
      local words = change.change == "create" and t("new file") or vim.trim(text.line(lines[1] or "", 80))
      table.insert(items, {
        filename = path,
        lnum = hunk.startLine + 1,
        end_lnum = hunk.startLine + math.max(hunk.lineCount, 1),
        text = ("%s  %s"):format(hunks.counts(hunk), words),
        user_data = { changeId = change.changeId, hunkId = hunk.hunkId },
      })
    end
    if #change.hunks == 0 then
      table.insert(items, {
        filename = path,
        text = text.line(change.conflict or change.change, 200),
        type = "W",
        user_data = { changeId = change.changeId },
      })
    end
  end
  return items
end

--- Put the changes into the list, making it where there is none.
---@param changes kova.Change[]
function M.fill(changes)
  local title = #changes == 0 and t("Kova: nothing waits for review") or "Kova: " .. M.words(changes)
  local old = list_id and vim.fn.getqflist({ id = list_id, idx = 0, title = 1 }) or { id = 0 }
  local items = entries(changes)
  if old.id ~= 0 then
    vim.fn.setqflist({}, "r", { id = list_id, items = items, title = title })
    if #items > 0 then
      vim.fn.setqflist({}, "a", { id = list_id, idx = math.min(math.max(old.idx, 1), #items) })
    end
  else
    vim.fn.setqflist({}, " ", { items = items, title = title })
    list_id = vim.fn.getqflist({ id = 0 }).id
  end
end

--- Bring the list up to date where there is one.
---@param changes kova.Change[]
function M.update(changes)
  if list_id and vim.fn.getqflist({ id = list_id }).id ~= 0 then
    M.fill(changes)
  else
    list_id = nil
  end
end

--- The change that a line of our quickfix list stands for.
---@param changes kova.Change[]
---@return kova.DrawnHunk?
function M.listed(changes)
  local info = vim.fn.getqflist({ id = 0, items = 0 })
  if vim.bo.buftype ~= "quickfix" or vim.fn.getloclist(0, { filewinid = 0 }).filewinid ~= 0 or info.id ~= list_id then
    return nil
  end
  local meant = (info.items[vim.fn.line(".")] or {}).user_data
  for _, change in ipairs(type(meant) == "table" and changes or {}) do
    if change.changeId == meant.changeId then
      for _, hunk in ipairs(change.hunks) do
        if hunk.hunkId == meant.hunkId then
          return { change = change, hunk = hunk }
        end
      end
      return not meant.hunkId and { change = change } or nil
    end
  end
end

--- Is our list the one that is shown?
function M.is_current()
  return list_id ~= nil and vim.fn.getqflist({ id = 0 }).id == list_id
end

--- Show the list.
---@param lines integer how high it may be
function M.open(lines)
  local nr = vim.fn.getqflist({ id = list_id, nr = 0 }).nr
  vim.cmd(("silent %dchistory"):format(nr))
  vim.cmd.stopinsert()
  vim.cmd(("botright copen %d"):format(math.min(math.max(lines, 3), 10)))
end

return M
