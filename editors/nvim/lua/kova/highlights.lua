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
  KovaSignAdded = "Added",
  KovaSignChanged = "Changed",
  KovaSignRemoved = "Removed",
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

--- Whole lines on a ground that has a little of a standard colour, so that they can be read.
M.tinted = {
  KovaLineAdded = { of = "Added", plain = "DiffAdd" },
  KovaLineRemoved = { of = "Removed", plain = "DiffDelete", fg = "Comment" },
}

local SHARE = 0.16

---@param ground integer
---@param colour integer
local function mixed(ground, colour)
  local out = 0
  for _, place in ipairs({ 0x10000, 0x100, 1 }) do
    local from, to = math.floor(ground / place) % 256, math.floor(colour / place) % 256
    out = out + math.floor(from + (to - from) * SHARE + 0.5) * place
  end
  return out
end

local function tint()
  local function look(name)
    return vim.api.nvim_get_hl(0, { name = name, link = false })
  end
  local ground = look("Normal").bg or (vim.o.background == "light" and 0xFFFFFF or 0x000000)
  for name, how in pairs(M.tinted) do
    local colour = vim.o.termguicolors and look(how.of).fg
    if colour then
      local fg = how.fg and look(how.fg).fg or nil
      vim.api.nvim_set_hl(0, name, { bg = mixed(ground, colour), fg = fg, default = true })
    else
      vim.api.nvim_set_hl(0, name, { link = how.plain, default = true })
    end
  end
end

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
    tint()
  end
  define()
  vim.api.nvim_create_autocmd("ColorScheme", {
    group = vim.api.nvim_create_augroup("kova.highlights", {}),
    callback = define,
  })
end

return M
