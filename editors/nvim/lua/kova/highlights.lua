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
  KovaCardHeading = "Label",
  KovaCardDim = "Comment",
  KovaCardBorder = "FloatBorder",
  KovaBar = "WinBar",
  KovaBarDim = "Comment",
  KovaMode = "Identifier",
  KovaLevelAsk = "DiagnosticOk",
  KovaLevelEdit = "DiagnosticInfo",
  KovaLevelAuto = "DiagnosticWarn",
  KovaMention = "Underlined",
}

--- Groups in the border of a float: the standard one's colour on the float's ground.
M.in_border = {
  KovaCardTitle = "Title",
  KovaCardKey = "Special",
  KovaCardKeyOff = "Comment",
  KovaCardBorderWaiting = "DiagnosticWarn",
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
    local ground = vim.api.nvim_get_hl(0, { name = "NormalFloat", link = false })
    for name, target in pairs(M.in_border) do
      local look = vim.api.nvim_get_hl(0, { name = target, link = false })
      look.bg, look.ctermbg, look.default = ground.bg, ground.ctermbg, true
      vim.api.nvim_set_hl(0, name, look)
    end
  end
  define()
  vim.api.nvim_create_autocmd("ColorScheme", {
    group = vim.api.nvim_create_augroup("kova.highlights", {}),
    callback = define,
  })
end

return M
