--- The card that asks, once per folder, whether the person trusts it.
local approvals = require("kova.approvals")
local text = require("kova.text")
local t = require("kova.l10n").t

local M = {}

---@param card kova.Card
---@return kova.Page
function M.render(card)
  local page = approvals.page()
  page:add(t("Do you trust the files in this folder?"), "KovaCardHeading")
  page:add(text.line(vim.fn.fnamemodify(card.id, ":~")))
  page:gap()
  page:add(t("Trusted: instruction files of the project are read, edits inside it need no card."))
  page:add(t("Not trusted: everything that changes something asks first."))
  page:gap()
  page:add(t("Until you answer it is not trusted. :Kova trust and :Kova untrust change it."), "KovaCardDim")
  return page
end

---@return kova.CardKey[]
function M.keys()
  return {
    {
      key = "n",
      label = t("not trusted"),
      run = function()
        require("kova").untrust()
      end,
    },
    {
      key = "t",
      label = t("trust"),
      run = function()
        require("kova").trust()
      end,
    },
  }
end

return M
