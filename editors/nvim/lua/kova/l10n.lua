--- The client's own words in the person's language; what the server says comes in it already.
--- Invariant: a word that has no entry is shown in English, never left out.
local M = {}

local TRADITIONAL = { hant = true, tw = true, hk = true, mo = true }

--- Is a locale such as `zh-cn`, `zh-Hans-SG` or `zh_CN.UTF-8` Simplified Chinese? As the server tells it.
---@param locale string
---@return boolean
function M.is_chinese(locale)
  local parts = vim.split(locale:lower():gsub("[.@].*", ""):gsub("_", "-"), "-", { plain = true })
  if parts[1] ~= "zh" or vim.tbl_contains(parts, "hans") then
    return parts[1] == "zh"
  end
  for _, part in ipairs(parts) do
    if TRADITIONAL[part] then
      return false
    end
  end
  return true
end

--- One of our texts, or the template of one, in the person's language.
---@param english string
---@return string
function M.t(english)
  if not M.is_chinese(require("kova.config").get().locale or vim.v.lang) then
    return english
  end
  return require("kova.l10n_zh_cn")[english] or english
end

return M
