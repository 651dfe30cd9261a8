--- Choosing, naming and removing conversations.
local client = require("kova.client")
local session = require("kova.session")
local text = require("kova.text")
local t = require("kova.l10n").t

local M = {}

---@type integer? how many conversations this folder has
M.recent = nil

local function fail(problem)
  text.say("Kova: " .. problem, vim.log.levels.ERROR)
end

local function workspace()
  return vim.uri_from_fname(client.root)
end

---@param seconds number
local function ago(seconds)
  local passed = math.max(os.time() - seconds, 0)
  if passed < 60 then
    return t("now")
  elseif passed < 3600 then
    return t("%d min ago"):format(passed / 60)
  elseif passed < 86400 then
    return t("%d h ago"):format(passed / 3600)
  end
  return os.date("%Y-%m-%d", math.floor(seconds))
end

local function describe(entry)
  local state = entry.state == "idle" and "" or ("  [%s]"):format(text.line(entry.state))
  local title = text.line(entry.title ~= "" and entry.title or t("untitled"), 60)
  local current = session.current and session.current.id == entry.sessionId and "* " or "  "
  return ("%s%s  %s%s"):format(current, title, ago(entry.updatedAt), state)
end

---@param everywhere boolean
---@param callback fun(entries: table[])
local function list(everywhere, callback)
  client.start(function(problem)
    if problem then
      return fail(problem)
    end
    local params = { limit = 100, workspace = not everywhere and workspace() or nil }
    client.request("kova/session/list", params, function(failure, result)
      if failure then
        return fail(failure)
      end
      callback(result.sessions or {})
    end)
  end)
end

--- Choose a conversation and follow it.
---@param everywhere boolean? of all folders
function M.pick(everywhere)
  list(everywhere or false, function(entries)
    if #entries == 0 then
      return text.say(t("Kova: there is no conversation in this folder yet."))
    end
    vim.ui.select(entries, { prompt = t("Conversations"), format_item = describe, kind = "kova.session" }, function(entry)
      if not entry then
        return
      end
      require("kova.chat").open()
      session.attach(entry.sessionId, function(problem)
        if problem then
          fail(problem)
        end
      end)
    end)
  end)
end

--- What `:Kova` follows first, according to the setting `resume`.
---@param wish "active"|"last"|"never"
function M.resume(wish)
  list(false, function(entries)
    M.recent = #entries
    require("kova.transcript").refresh_empty()
    if session.current then
      return
    end
    local review = require("kova.review")
    for _, entry in ipairs(wish == "never" and {} or entries) do
      if wish == "last" or entry.state ~= "idle" then
        return session.attach(entry.sessionId, function(problem)
          if problem then
            return fail(problem)
          end
          review.remind(entries)
        end)
      end
    end
    review.remind(entries)
  end)
end

---@param title string?
function M.rename(title)
  local s = session.current
  if not s then
    return text.say(t("Kova: there is no conversation yet."))
  end
  local function rename(name)
    if not name or vim.trim(name) == "" then
      return
    end
    client.request("kova/session/rename", { sessionId = s.id, title = vim.trim(name) }, function(problem)
      if problem then
        fail(problem)
      end
    end)
  end
  if title and title ~= "" then
    return rename(title)
  end
  vim.ui.input({ prompt = t("Title: "), default = s.title }, rename)
end

--- Take the current conversation out of the list.
function M.archive()
  local s = session.current
  if not s then
    return text.say(t("Kova: there is no conversation yet."))
  end
  client.request("kova/session/archive", { sessionId = s.id, archived = true }, function(problem)
    if problem then
      return fail(problem)
    end
    if session.current == s then
      session.new()
    end
    text.say(t("Kova: archived ") .. text.line(s.title ~= "" and s.title or t("untitled"), 50))
  end)
end

--- Remove the current conversation for good, after a confirmation.
function M.delete()
  local s = session.current
  if not s then
    return text.say(t("Kova: there is no conversation yet."))
  end
  local title = text.line(s.title ~= "" and s.title or t("untitled"), 50)
  vim.ui.select({ t("keep it"), t("delete it for good") }, { prompt = t("Delete %s?"):format(title) }, function(_, index)
    if index ~= 2 then
      return
    end
    client.request("kova/session/delete", { sessionId = s.id }, function(problem)
      if problem then
        return fail(problem)
      end
      if session.current == s then
        session.current = nil
        session.new()
      end
      text.say(t("Kova: deleted ") .. title)
    end)
  end)
end

--- Choose the model, now or for the next conversation.
---@param name string?
function M.model(name)
  if name and name ~= "" then
    return session.configure({ model = name })
  end
  client.start(function(problem)
    if problem then
      return fail(problem)
    end
    local params = { sessionId = session.current and session.current.id or nil }
    client.request("kova/model/list", params, function(failure, result)
      if failure then
        return fail(failure)
      end
      vim.ui.select(result.models or {}, {
        prompt = t("Model"),
        kind = "kova.model",
        format_item = function(entry)
          local window = (entry.contextWindow or 0) > 0 and "  " .. text.count(entry.contextWindow) or ""
          local default = entry.name == result.default and t("  (default)") or ""
          local problem_text = entry.ready and "" or "  ✗ " .. text.line(entry.problem or t("not ready"), 60)
          return ("%s  %s%s%s%s"):format(text.line(entry.name), text.line(entry.model), window, default, problem_text)
        end,
      }, function(entry)
        if entry then
          session.configure({ model = entry.name })
        end
      end)
    end)
  end)
end

return M
