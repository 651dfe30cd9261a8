--- Highlight groups, all linked to standard ones so that every colour scheme fits.
local M = {}

M.links = {
  KovaUser = "Title",
  KovaUserLine = "CursorLine",
  KovaTool = "Function",
  KovaToolDim = "Comment",
  KovaOk = "DiagnosticOk",
  KovaRunning = "DiagnosticInfo",
  KovaWaiting = "DiagnosticWarn",
  KovaError = "DiagnosticError",
  KovaReasoning = "Comment",
  KovaNotice = "DiagnosticInfo",
  KovaHint = "Comment",
  KovaAdded = "Added",
  KovaRemoved = "Removed",
  KovaHunk = "Changed",
  KovaCommand = "String",
  KovaCardTitle = "Title",
  KovaCardHeading = "Label",
  KovaCardKey = "Special",
  KovaCardDim = "Comment",
  KovaCardBorder = "FloatBorder",
  KovaCardBorderWaiting = "DiagnosticWarn",
  KovaBar = "WinBar",
  KovaBarDim = "Comment",
  KovaMode = "Identifier",
  KovaLevelAsk = "DiagnosticOk",
  KovaLevelEdit = "DiagnosticInfo",
  KovaLevelAuto = "DiagnosticWarn",
  KovaMention = "Underlined",
}

local done = false

--- Define the groups that no colour scheme has defined, once.
function M.setup()
  if done then
    return
  end
  done = true
  local function define()
    for name, target in pairs(M.links) do
      vim.api.nvim_set_hl(0, name, { link = target, default = true })
    end
  end
  define()
  vim.api.nvim_create_autocmd("ColorScheme", {
    group = vim.api.nvim_create_augroup("kova.highlights", {}),
    callback = define,
  })
end

return M
