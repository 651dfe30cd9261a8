--- `:Kova permissions`: what is allowed and denied by whom, what files ask for, and deciding on it.
--- Invariant: nothing comes into force or leaves it without a key pressed on the line that says it.
local client = require("kova.client")
local session = require("kova.session")
local text = require("kova.text")
local t = require("kova.l10n").t

local M = {}

local ns = vim.api.nvim_create_namespace("kova.permissions")

---@class kova.PermissionLine
---@field remove { method: string, params: table, what: string }?
---@field accept { method: string, params: table }?
---@field why string? why neither can be done

local page = {} ---@type table<integer, kova.PermissionLine> by line

local function where(source, path)
  return ("%s%s"):format(source, path ~= "" and "  " .. text.path(path, client.root) or "")
end

---@param result kova.PermissionListResult
---@return string[] lines
---@return table<integer, kova.PermissionLine>
---@return { line: integer, hl: string }[]
local function layout(result)
  local lines, acts, marks = {}, {}, {}
  local function add(line, hl, act)
    table.insert(lines, line)
    acts[#lines] = act
    if hl then
      table.insert(marks, { line = #lines - 1, hl = hl })
    end
  end
  local function heading(words)
    if #lines > 0 then
      add("")
    end
    add(words, "KovaCardHeading")
  end
  for _, file in ipairs(result.pending or {}) do
    heading(t("Not confirmed: %s was changed by something else than Kova"):format(text.path(file.path, client.root)))
    local act = { accept = { method = "kova/permission/adopt", params = { layer = file.layer, digest = file.digest } } }
    for _, line in ipairs(file.lines) do
      add("  ? " .. text.line(line), "KovaWaiting", act)
    end
    add(t("  a on one of these lines confirms all of them"), "KovaHint", act)
  end
  if #(result.proposed or {}) > 0 then
    heading(t("Asked for, not in force"))
    for _, entry in ipairs(result.proposed) do
      local act = { why = entry.refusal }
      if not entry.refusal then
        act.accept = { method = "kova/permission/accept", params = { proposalId = entry.proposalId } }
      end
      add("  ? " .. text.line(entry.sentence), "KovaWaiting", act)
      if entry.refusal then
        add(t("    cannot be accepted: ") .. text.line(entry.refusal), "KovaHint", act)
      end
    end
  end
  local function rules(title, list, kind, empty)
    heading(title)
    for _, entry in ipairs(list) do
      local rule = text.line(entry.rule)
      local act
      if entry.source == "user" or entry.source == "local" then
        local params = { layer = entry.source, rule = entry.rule, kind = kind }
        act = { remove = { method = "kova/permission/removeRule", params = params, what = ("%s %s"):format(kind, rule) } }
      else
        act = { why = t("it comes from: %s"):format(where(entry.source, entry.path)) }
      end
      add(("  %s %-32s  %s"):format(kind == "allow" and "✓" or "⊘", rule, where(entry.source, entry.path)), nil, act)
      if entry.isFreePass then
        add(t("    a free pass for good: whatever this program is told to do"), "KovaWaiting", act)
      end
    end
    if #list == 0 then
      add("  " .. empty, "KovaHint")
    end
  end
  rules(t("Allowed without a question"), result.allow, "allow", t("nothing; a card's r adds to it"))
  rules(t("Never allowed"), result.deny, "deny", t("nothing"))
  heading(t("Folders that may be changed besides the workspace"))
  for _, root in ipairs(result.roots) do
    local path = text.path(root.uri, nil)
    local act
    if root.source == "user" or root.source == "local" then
      local params = { layer = root.source, root = vim.uri_to_fname(root.uri) }
      act = { remove = { method = "kova/permission/removeRoot", params = params, what = t("the folder ") .. path } }
    else
      act = { why = t("it is a folder of this editor's workspace") }
    end
    add(("  ✓ %-32s  %s"):format(path, root.source), nil, act)
  end
  if #result.roots == 0 then
    add("  none", "KovaHint")
  end
  if #(result.problems or {}) > 0 then
    heading(t("What is wrong with the files"))
    for _, problem in ipairs(result.problems) do
      add("  " .. text.line(problem), "KovaError")
    end
  end
  return lines, acts, marks
end

---@param focus boolean
local function show(focus)
  session.ensure(function(problem, s)
    if problem or not s then
      return text.say("Kova: " .. (problem or t("there is no conversation")), vim.log.levels.ERROR)
    end
    client.request("kova/permission/list", { sessionId = s.id }, function(failure, result)
      if failure then
        return text.say("Kova: " .. failure, vim.log.levels.ERROR)
      end
      local lines, acts, marks = layout(result)
      local win = require("kova.panels").show_text("permissions", "Permissions", lines, "", focus, true)
      local buf = vim.api.nvim_win_get_buf(win)
      page = acts
      vim.wo[win].wrap = false
      vim.wo[win].cursorline = true
      vim.wo[win].winbar = t(" Permissions%=a accepts  x removes  R reads anew  q closes ")
      vim.api.nvim_buf_clear_namespace(buf, ns, 0, -1)
      for _, mark in ipairs(marks) do
        vim.api.nvim_buf_set_extmark(buf, ns, mark.line, 0, { end_row = mark.line + 1, hl_group = mark.hl })
      end
      M.map(buf)
      local rows = vim.tbl_keys(acts)
      if focus and #rows > 0 then
        vim.api.nvim_win_set_cursor(win, { math.min(unpack(rows)), 0 })
      end
    end)
  end)
end

---@param act { method: string, params: table }
local function send(act)
  local s = session.current
  if not s then
    return text.say(t("Kova: the conversation is gone; :Kova permissions lists them anew."))
  end
  local params = vim.tbl_extend("force", act.params, { sessionId = s.id })
  client.request(act.method, params, function(problem, result)
    if problem then
      text.say("Kova: " .. problem, vim.log.levels.ERROR)
      return
    end
    local said = vim.list_extend(vim.deepcopy(result.changed), result.notices or {})
    text.say("Kova: " .. (#said > 0 and table.concat(said, "; ") or t("nothing changed")))
    show(false)
  end)
end

local function accept()
  local act = page[vim.fn.line(".")] or {}
  if act.accept then
    return send(act.accept)
  end
  text.say("Kova: " .. (act.why or t("there is nothing to accept on this line.")))
end

local function remove()
  local act = page[vim.fn.line(".")] or {}
  if not act.remove then
    return text.say("Kova: " .. (act.why or t("there is nothing to remove on this line.")))
  end
  vim.ui.select({ t("keep it"), t("remove it") }, { prompt = t("Remove %s?"):format(act.remove.what) }, function(_, index)
    if index == 2 then
      send(act.remove)
    end
  end)
end

---@param buf integer
function M.map(buf)
  local function map(key, run, desc)
    vim.keymap.set("n", key, run, { buffer = buf, nowait = true, desc = "Kova: " .. desc })
  end
  map("a", accept, t("accept what this line asks for"))
  map("x", remove, t("remove the rule or folder of this line"))
  map("R", function()
    show(true)
  end, t("read anew"))
end

--- List rules and folders, and what files ask for.
function M.open()
  require("kova.chat").connect()
  require("kova.highlights").setup()
  show(true)
end

return M
