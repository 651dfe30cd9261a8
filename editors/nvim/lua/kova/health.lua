--- `:checkhealth kova`.
local M = {}

local health = vim.health

local function check_server(cmd)
  if type(cmd) == "function" then
    return health.info("`cmd` is a function; the server is reached through it")
  end
  local path = vim.fn.exepath(cmd[1])
  if path == "" then
    return health.error(("%s was not found"):format(cmd[1]), {
      "Install it, for example with: uv tool install kova-ls",
      "In a clone `.ci/setup package` makes .venv/bin/kova-ls; put that folder on the PATH",
      "or set `cmd` to where it is: require('kova').setup({ cmd = { '/path/to/kova-ls' } })",
    })
  end
  health.ok(("server: %s"):format(path))
  local function run(arguments)
    local full = vim.list_extend(vim.deepcopy(cmd), arguments)
    local ok, result = pcall(function()
      return vim.system(full, { text = true, env = require("kova.config").get().env, timeout = 10000 }):wait()
    end)
    return ok and result or { code = -1, stdout = "", stderr = tostring(result) }
  end
  local version = run({ "--version" })
  if version.code == 0 then
    health.ok(vim.trim(version.stdout))
  else
    health.warn("its version could not be read: " .. vim.trim(version.stderr or ""))
  end
  local doctor = run({ "doctor" })
  local said = vim.trim((doctor.stdout or "") .. "\n" .. (doctor.stderr or ""))
  local report = doctor.code == 0 and health.info or health.warn
  report("kova-ls doctor:\n" .. table.concat(require("kova.text").output(said), "\n"))
end

local function check_connection()
  local client = require("kova.client")
  if client.state == "ready" then
    health.ok(("connected, protocol %s, workspace %s (%s)"):format(
      tostring((client.server or {}).version),
      tostring(client.root),
      client.trusted and "trusted" or "not trusted"
    ))
  elseif client.state == "failed" then
    health.error(client.problem or "not connected", { ":Kova reconnect tries again" })
  else
    health.info(("connection: %s; :Kova opens it"):format(client.state))
  end
  local s = require("kova.session").current
  if s then
    health.info(("conversation: model %s, mode %s, level %s, %s"):format(s.model, s.mode, s.level, s.state))
    local files = #require("kova.review").changes
    health.info(files == 0 and "nothing waits for review" or ("%d changed file(s) wait for review; :Kova changes"):format(files))
  end
end

local function check_help()
  local doc = vim.api.nvim_get_runtime_file("doc/kova.txt", false)[1]
  if doc and #vim.fn.getcompletion("kova-start", "help") == 0 then
    health.warn("`:help kova` finds nothing yet", { (":helptags %s"):format(vim.fs.dirname(doc)) })
  end
end

function M.check()
  health.start("kova")
  if vim.fn.has("nvim-0.10") == 1 then
    health.ok("Neovim " .. tostring(vim.version()))
  else
    health.error("Neovim 0.10 or newer is needed")
  end
  local settings = require("kova.config").get()
  local problems = require("kova.config").problems
  if #problems == 0 then
    health.ok("settings")
  else
    health.error("settings: " .. table.concat(problems, "; "), { "see :help kova-settings" })
  end
  if vim.fn.executable("rg") == 1 then
    health.ok("ripgrep, for @ completion")
  else
    health.info("ripgrep was not found; @ completion walks the folder by itself, ignored files included")
  end
  check_help()
  check_server(settings.cmd)
  require("kova.chat")
  check_connection()
end

return M
