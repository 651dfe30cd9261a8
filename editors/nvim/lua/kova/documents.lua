--- The open buffers of the workspace, as the engine sees and changes them.
--- Invariant: an edit computed from another text is refused, and nothing is changed.
--- Invariant: one edit is one undo step, apart from what the person typed.
--- Invariant: nothing here asks the person anything; a file changed on disk is never overwritten.
local config = require("kova.config")
local text = require("kova.text")

local M = {}

local TYPING_MS = 300
local EOLS = { unix = "\n", dos = "\r\n", mac = "\r" }

local client_id ---@type integer?
local root ---@type string?
local typed = { buf = -1, at = 0 }
local mtimes = {} ---@type table<integer, string> of the file when buffer and file were last the same

---@return vim.lsp.Client?
local function client()
  return client_id and vim.lsp.get_client_by_id(client_id) or nil
end

---@param uri string
---@return integer?
local function buffer_of(uri)
  local ok, path = pcall(vim.uri_to_fname, uri)
  local buf = ok and vim.fn.bufnr("^" .. vim.fn.escape(path, [[\*?[{`$%#'"|!<^]]) .. "$") or -1
  for _, candidate in ipairs(buf ~= -1 and { buf } or vim.api.nvim_list_bufs()) do
    if ok and vim.api.nvim_buf_is_loaded(candidate) and vim.api.nvim_buf_get_name(candidate) == path then
      if client_id and vim.lsp.buf_is_attached(candidate, client_id) then
        return candidate
      end
    end
  end
end

--- The text as text sync gives it.
---@param buf integer
local function text_of(buf)
  local eol = EOLS[vim.bo[buf].fileformat] or "\n"
  local lines = table.concat(vim.api.nvim_buf_get_lines(buf, 0, -1, true), eol)
  return vim.bo[buf].eol and lines .. eol or lines
end

---@param buf integer
---@return string
local function hash_of(buf)
  return vim.fn.sha256(text_of(buf))
end

--- Is this the text, with or without a last line end?
---@param buf integer
---@param hash string
local function is_text(buf, hash)
  local now = text_of(buf)
  if vim.fn.sha256(now) == hash then
    return true
  end
  local other = now:sub(-1) == "\n" and now:gsub("\r?\n$", "") or now .. "\n"
  return vim.fn.sha256(other) == hash
end

local function is_typing(buf)
  return typed.buf == buf and vim.uv.now() - typed.at < TYPING_MS
end

local function mtime_of(buf)
  local stat = vim.uv.fs_stat(vim.api.nvim_buf_get_name(buf))
  return stat and ("%d.%d.%d"):format(stat.mtime.sec, stat.mtime.nsec, stat.size) or "none"
end

--- The version as text sync counts it.
---@param buf integer
---@return integer
function M.version_of(buf)
  return vim.lsp.util.buf_versions[buf] or vim.api.nvim_buf_get_changedtick(buf)
end

---@param uris string[]
---@return table<string, integer>
local function opened(uris)
  local found = {}
  for _, uri in ipairs(uris or {}) do
    found[uri] = buffer_of(uri)
  end
  return found
end

---@param buf integer
local function is_readonly(buf)
  return vim.bo[buf].readonly or not vim.bo[buf].modifiable
end

local function state(_, params)
  local documents = {}
  for uri, buf in pairs(opened(params.uris)) do
    local bo = vim.bo[buf]
    table.insert(documents, {
      uri = uri,
      version = M.version_of(buf),
      dirty = bo.modified,
      encoding = bo.fileencoding ~= "" and bo.fileencoding or "utf-8",
      eol = EOLS[bo.fileformat] or "\n",
      bom = bo.bomb,
      readonly = is_readonly(buf),
      textHash = hash_of(buf),
      isTyping = is_typing(buf),
    })
  end
  return { documents = documents }
end

--- Text after the last line, said as text at its end: Neovim would add an empty line to it.
---@param edits table[]
---@param buf integer
---@param encoding string
local function within(edits, buf, encoding)
  local count = vim.api.nvim_buf_line_count(buf)
  local line = vim.api.nvim_buf_get_lines(buf, -2, -1, true)[1]
  local units = encoding == "utf-8" and #line or encoding == "utf-32" and text.chars(line) or text.utf16(line, #line)
  local stop = { line = count - 1, character = units }
  return vim.tbl_map(function(edit)
    if edit.range.start.line < count then
      return edit
    end
    return { range = { start = stop, ["end"] = stop }, newText = "\n" .. edit.newText:gsub("\r?\n$", "") }
  end, edits)
end

---@param edits table[]
---@param buf integer
local function apply(edits, buf)
  local encoding = client() and client().offset_encoding or "utf-16"
  -- Setting 'undolevels' closes the undo step: typing before and after stays apart.
  vim.bo[buf].undolevels = vim.bo[buf].undolevels
  local ok, problem = pcall(vim.lsp.util.apply_text_edits, within(edits, buf, encoding), buf, encoding)
  vim.bo[buf].undolevels = vim.bo[buf].undolevels
  return ok, problem
end

--- Say whether a buffer is dirty; Neovim itself only notices it of the current one.
---@param buf integer
local function tell_dirty(buf)
  local now = client()
  if now and vim.lsp.buf_is_attached(buf, client_id) then
    local params = { uri = vim.uri_from_bufnr(buf), version = M.version_of(buf), dirty = vim.bo[buf].modified }
    if vim.fn.has("nvim-0.11") == 1 then
      now:notify("kova/editor/documentChanged", params)
    else
      now.notify("kova/editor/documentChanged", params)
    end
  end
end

local function apply_edit(err, params, context)
  local guard = params.kova
  if type(guard) ~= "table" then
    return vim.lsp.handlers["workspace/applyEdit"](err, params, context)
  end
  local changes = (params.edit or {}).documentChanges or {}
  local change = changes[1] or {}
  local buf = change.textDocument and buffer_of(change.textDocument.uri)
  local reason
  if #changes ~= 1 or not change.edits or not buf then
    reason = "closed"
  elseif is_readonly(buf) then
    reason = "readonly"
  elseif is_typing(buf) then
    reason = "typing"
  elseif not is_text(buf, guard.textHash) then
    reason = "stale"
  else
    local ok, problem = apply(change.edits, buf)
    if not ok then
      return { applied = false, failureReason = text.line(tostring(problem), 200) }
    end
    tell_dirty(buf)
  end
  return {
    applied = reason == nil,
    failureReason = reason,
    kova = {
      version = buf and M.version_of(buf) or 0,
      textHash = buf and hash_of(buf) or "",
      reason = reason,
    },
  }
end

--- Can the file's encoding hold the text? Neovim would write other bytes for what it cannot.
---@param buf integer
local function fits(buf)
  local encoding = vim.bo[buf].fileencoding
  if encoding == "" or encoding:match("^utf") or encoding:match("^ucs") then
    return true
  end
  local now = table.concat(vim.api.nvim_buf_get_lines(buf, 0, -1, true), "\n")
  return vim.fn.iconv(vim.fn.iconv(now, "utf-8", encoding), encoding, "utf-8") == now
end

local function save(_, params)
  local saved, failed = {}, {}
  for uri, buf in pairs(opened(params.uris)) do
    local conflicts = mtimes[buf] and mtimes[buf] ~= mtime_of(buf)
    if vim.bo[buf].modified and not conflicts and fits(buf) then
      pcall(vim.api.nvim_buf_call, buf, function()
        vim.cmd("silent update")
      end)
    end
    table.insert(vim.bo[buf].modified and failed or saved, uri)
  end
  return { saved = saved, failed = failed }
end

--- Read a clean buffer anew from its file, hidden or not, without a question.
---@param buf integer
function M.reload(buf)
  local own = vim.api.nvim_get_option_value("autoread", { scope = "local", buf = buf })
  vim.bo[buf].autoread = true
  pcall(vim.cmd, ("silent! checktime %d"):format(buf))
  vim.bo[buf].autoread = own
end

local function reload(_, params)
  local reloaded, dirty = {}, {}
  for uri, buf in pairs(opened(params.uris)) do
    if vim.bo[buf].modified then
      table.insert(dirty, uri)
    else
      M.reload(buf)
      table.insert(reloaded, uri)
    end
  end
  return { reloaded = reloaded, dirty = dirty }
end

--- Buffers of files that a call has changed are read again when nothing is unsaved in them.
function M.reread_after(item)
  local touched = {}
  for _, block in ipairs(item.display or {}) do
    if block.type == "diff" then
      local ok, path = pcall(vim.uri_to_fname, block.uri)
      if ok then
        touched[path] = true
      end
    elseif block.type == "command" then
      touched.all = true
    end
  end
  if not next(touched) then
    return
  end
  for _, b in ipairs(vim.api.nvim_list_bufs()) do
    local bo = vim.bo[b]
    if vim.api.nvim_buf_is_loaded(b) and bo.buftype == "" and not bo.modified then
      local name = vim.api.nvim_buf_get_name(b)
      if name ~= "" and (touched.all or touched[name]) and vim.uv.fs_stat(name) then
        M.reload(b)
      end
    end
  end
end

--- Handlers of what the engine asks about documents.
---@return table<string, function>
function M.handlers()
  return {
    ["workspace/applyEdit"] = apply_edit,
    ["kova/editor/state"] = state,
    ["kova/editor/save"] = save,
    ["kova/editor/reload"] = reload,
    ["kova/editor/diagnostics"] = function(_, params)
      return require("kova.diagnostics").answer(params, client_id)
    end,
  }
end

---@param buf integer
local function attach(buf)
  if not client_id or not vim.api.nvim_buf_is_loaded(buf) then
    return
  end
  local name = vim.api.nvim_buf_get_name(buf)
  local bo = vim.bo[buf]
  if name == "" or bo.buftype ~= "" or not bo.buflisted or name:match("^%a[%w+.-]*://") then
    return
  end
  if name:sub(1, #root + 1) == root .. "/" and not vim.lsp.buf_is_attached(buf, client_id) then
    mtimes[buf] = mtimes[buf] or mtime_of(buf)
    vim.lsp.buf_attach_client(buf, client_id)
  end
end

--- Let the server see the workspace's open buffers, from now on.
---@param id integer
---@param workspace string
function M.follow(id, workspace)
  client_id, root = id, workspace
  if not config.get().documents then
    return
  end
  for _, buf in ipairs(vim.api.nvim_list_bufs()) do
    attach(buf)
  end
  local group = vim.api.nvim_create_augroup("kova.documents", { clear = true })
  vim.api.nvim_create_autocmd({ "BufReadPost", "BufNewFile", "BufFilePost", "BufWritePost", "FileChangedShellPost" }, {
    group = group,
    callback = function(args)
      if args.event ~= "BufNewFile" then
        mtimes[args.buf] = mtime_of(args.buf)
      end
      attach(args.buf)
    end,
  })
  local has_event = vim.fn.exists("##BufModifiedSet") == 1 -- later versions have an option's event
  vim.api.nvim_create_autocmd(has_event and "BufModifiedSet" or "OptionSet", {
    group = group,
    pattern = has_event and "*" or "modified",
    callback = function(args)
      tell_dirty(args.buf)
    end,
  })
  vim.api.nvim_create_autocmd("BufWipeout", {
    group = group,
    callback = function(args)
      mtimes[args.buf] = nil
    end,
  })
  vim.on_key(function(_, keys)
    if keys == nil or keys ~= "" then
      typed.buf, typed.at = vim.api.nvim_get_current_buf(), vim.uv.now()
    end
  end, vim.api.nvim_create_namespace("kova.documents"))
end

return M
