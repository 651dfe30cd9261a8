--- Settings: defaults, validation, merging.
--- Invariant: `get()` works without `setup()`; then `vim.g.kova` is read.
local M = {}

---@class kova.config.Layout
---@field position "right"|"left"|"bottom"|"tab" where the conversation opens
---@field width number share of the columns, or columns when above 1
---@field height number share of the lines for "bottom", or lines when above 1
---@field prompt_height integer lines of the prompt window
---@field start_insert boolean begin typing at once

---@class kova.config.Transcript
---@field treesitter_max_lines integer above this length highlighting falls back to regex syntax
---@field conceallevel integer 0 shows the Markdown as it was written
---@field fold boolean fold finished tool calls
---@field live_lines integer lines of a running command's output that are shown

---@class kova.config.Card
---@field arm_ms integer an unhurried pause before a card takes keys
---@field border string|string[]
---@field max_width integer
---@field max_height number share of the screen

---@class kova.config.Review
---@field signs boolean signs beside lines that wait for review
---@field lines boolean highlight those lines
---@field deleted integer removed lines that are shown of a hunk; 0 for none

---@class kova.config.Keys a list of keys per action; an empty list switches it off
---@field send string[] normal mode of the prompt
---@field send_insert string[] insert mode of the prompt
---@field steer string[]
---@field stop string[]
---@field cycle_level string[]
---@field card string[]
---@field history_up string[]
---@field history_down string[]
---@field yank_code string[] in the transcript
---@field insert_code string[] in the transcript
---@field close string[]
---@field help string[]

---@class kova.Config
---@field cmd string[]|fun(dispatchers: table): table the server, or a function as `vim.lsp.start` takes it
---@field env table<string, string> environment of the server, added to Neovim's
---@field root string|fun(): string|nil the workspace; by default the repository of the current folder
---@field locale string|nil the language the server speaks to you, such as "zh-cn"; by default `v:lang`
---@field resume "active"|"last"|"never" what `:Kova` opens first
---@field documents boolean let the server see open buffers, unsaved text included
---@field notify boolean say it when something waits outside the Kova windows
---@field reconnect_attempts integer
---@field layout kova.config.Layout
---@field transcript kova.config.Transcript
---@field card kova.config.Card
---@field review kova.config.Review
---@field keys kova.config.Keys
---@field icons table<string, string>
M.defaults = {
  cmd = { "kova-ls" },
  env = {},
  root = nil,
  locale = nil,
  resume = "active",
  documents = true,
  notify = true,
  reconnect_attempts = 6,
  layout = {
    position = "right",
    width = 0.45,
    height = 0.4,
    prompt_height = 5,
    start_insert = true,
  },
  transcript = { treesitter_max_lines = 2000, conceallevel = 0, fold = true, live_lines = 200 },
  card = { arm_ms = 300, border = "rounded", max_width = 100, max_height = 0.8 },
  review = { signs = true, lines = true, deleted = 20 },
  keys = {
    send = { "<CR>" },
    send_insert = { "<C-s>", "<C-CR>" },
    steer = { "<M-CR>" },
    stop = { "<C-c>" },
    cycle_level = { "<S-Tab>" },
    card = { "<C-g>" },
    history_up = { "<M-Up>" },
    history_down = { "<M-Down>" },
    yank_code = { "gy" },
    insert_code = { "gp" },
    close = { "q" },
    help = { "g?" },
  },
  icons = {
    user = "❯",
    waiting = "◔",
    running = "●",
    ok = "✓",
    error = "✗",
    blocked = "⊘",
    cancelled = "⊘",
    interrupted = "■",
    reasoning = "∴",
    notice = "ℹ",
    warning = "⚠",
    hunk = "▎",
    removed = "▔",
    removed_below = "▁",
  },
}

local OPEN = { env = true, icons = true }
local OPTIONAL = { root = { "string", "function" }, locale = { "string" } }
local CHOICES = {
  resume = { "active", "last", "never" },
  ["layout.position"] = { "right", "left", "bottom", "tab" },
}

--- Say what is wrong with the given settings.
---@return string[] problems
local function problems_of(given, defaults, prefix)
  local problems = {}
  for key, value in pairs(given) do
    local path = prefix .. tostring(key)
    local default = defaults[key]
    if OPTIONAL[path] then
      if not vim.tbl_contains(OPTIONAL[path], type(value)) then
        table.insert(problems, ("%s must be a %s"):format(path, table.concat(OPTIONAL[path], " or ")))
      end
    elseif default == nil then
      table.insert(problems, ("%s is not a setting; see :help kova-settings"):format(path))
    elseif path == "cmd" then
      local is_list = type(value) == "table" and vim.islist(value) and #value > 0
      if not is_list and type(value) ~= "function" then
        table.insert(problems, "cmd must be a list such as { 'kova-ls' }, or a function")
      end
    elseif path == "card.border" then
      if type(value) ~= "string" and type(value) ~= "table" then
        table.insert(problems, "card.border must be what nvim_open_win() takes")
      end
    elseif type(value) ~= type(default) then
      table.insert(problems, ("%s must be a %s"):format(path, type(default)))
    elseif CHOICES[path] and not vim.tbl_contains(CHOICES[path], value) then
      table.insert(problems, ("%s must be one of %s"):format(path, table.concat(CHOICES[path], ", ")))
    elseif type(default) == "table" and not vim.islist(default) and not OPEN[path] then
      vim.list_extend(problems, problems_of(value, default, path .. "."))
    end
  end
  table.sort(problems)
  return problems
end

---@type kova.Config?
local merged
---@type string[]
M.problems = {}

--- Take settings; a wrong one is reported and its default kept only if the rest cannot be used.
---@param given table?
---@return kova.Config
function M.set(given)
  given = given or {}
  M.problems = problems_of(given, M.defaults, "")
  if #M.problems > 0 then
    vim.schedule(function() -- a message while Neovim starts would wait for a key
      require("kova.text").say("Kova settings: " .. table.concat(M.problems, "; "), vim.log.levels.ERROR)
    end)
    merged = vim.deepcopy(M.defaults)
  else
    merged = vim.tbl_deep_extend("force", vim.deepcopy(M.defaults), given)
  end
  return merged
end

---@return kova.Config
function M.get()
  return merged or M.set(vim.g.kova)
end

return M
