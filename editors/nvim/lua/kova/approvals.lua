--- What an approval card shows and which keys answer it.
--- Invariant: only the card's own `decisions` get a key.
--- Invariant: while a part is hidden and not yet opened, no key says yes.
local client = require("kova.client")
local text = require("kova.text")
local t = require("kova.l10n").t

local M = {}

local KEYS = {
  tool = { deny = "d", once = "o", remember = "r" },
  plan = { approve = "a", reject = "n", rejectAndExit = "x", revise = "v" },
  adopt = { deny = "d", adopt = "a" },
}
local LABELS = {
  deny = t("deny"),
  once = t("allow once"),
  remember = t("remember"),
  approve = t("approve"),
  reject = t("reject"),
  rejectAndExit = t("reject and leave plan mode"),
  revise = t("revise…"),
  adopt = t("adopt"),
}
local SAFE = { deny = true, reject = true, rejectAndExit = true, revise = true }
local TAKES_FEEDBACK = { revise = true }

---@class kova.CardPage
---@field lines string[]
---@field marks kova.Mark[]
---@field first integer? line to put the cursor on

---@class kova.CardKey
---@field key string
---@field label string
---@field run fun()
---@field locked string? why it cannot be used now

---@class kova.Page
local Page = {}
Page.__index = Page

---@return kova.Page
function M.page()
  return setmetatable({ lines = {}, marks = {} }, Page)
end

---@param line string already safe
---@param hl string?
function Page:add(line, hl)
  table.insert(self.lines, line)
  if hl then
    table.insert(self.marks, { line = #self.lines - 1, col = 0, end_col = #line, hl = hl })
  end
end

---@param line string
---@param col integer
---@param end_col integer
---@param hl string
function Page:mark(line, col, end_col, hl)
  self:add(line)
  table.insert(self.marks, { line = #self.lines - 1, col = col, end_col = end_col, hl = hl })
end

function Page:gap()
  if #self.lines > 0 and self.lines[#self.lines] ~= "" then
    self:add("")
  end
end

---@param heading string
function Page:heading(heading)
  self:gap()
  self:add(heading, "KovaCardHeading")
end

---@param diff string
function Page:diff(diff)
  for _, line in ipairs(text.lines((diff:gsub("\n$", "")), true)) do
    local first = line:sub(1, 1)
    local hl = first == "+" and "KovaAdded" or first == "-" and "KovaRemoved" or nil
    if line:sub(1, 2) == "@@" then
      hl = "KovaHunk"
    elseif line:sub(1, 4) == "+++ " or line:sub(1, 4) == "--- " then
      hl = "KovaCardDim"
    end
    self:add(line, hl)
  end
end

local subjects = {} ---@type table<string, fun(page: kova.Page, s: table, card: kova.Card)>

function subjects.command(page, s, card)
  card.hidden = {}
  local whole = card.opened and card.opened.command
  local command = text.lines(whole or s.command or "", true)
  for i, line in ipairs(command) do
    page:add((i == 1 and "$ " or "⏎ ") .. line, "KovaCommand")
  end
  if (s.hiddenChars or 0) > 0 and not whole then
    table.insert(card.hidden, { index = "command", file = { outputRef = s.outputRef, diff = s.command } })
    page:add(t("▼ %d more characters are not shown here: e opens them"):format(s.hiddenChars), "KovaWaiting")
  end
  page:add(t("in ") .. text.path(s.cwd or "", nil), "KovaCardDim")
  local segments = s.segments or {}
  if #segments == 1 and segments[1].text == s.command then
    local segment = segments[1]
    page:gap()
    if segment.rule then
      page:add(t("✓ rule: ") .. text.line(segment.rule), "KovaOk")
    else
      page:add("? " .. text.line(segment.reason or t("no rule matches it")), "KovaWaiting")
    end
  elseif #segments > 0 then
    page:heading(#segments == 1 and t("It is made of one command") or t("It is made of %d commands"):format(#segments))
    for i, segment in ipairs(segments) do
      local head = ("%d  "):format(i)
      for n, line in ipairs(text.lines(segment.text or "", true)) do
        page:mark((n == 1 and head or (" "):rep(#head - 2) .. "⏎ ") .. line, #head, math.huge, "KovaCommand")
      end
      if segment.rule then
        page:add(t("   ✓ rule: ") .. text.line(segment.rule), "KovaOk")
      else
        page:add("   ? " .. text.line(segment.reason or t("no rule matches it")), "KovaWaiting")
      end
    end
  end
end

local SIGN = { create = t("new file"), modify = t("change"), delete = t("DELETE") }

function subjects.edit(page, s, card)
  card.hidden = {}
  for i, file in ipairs(s.files or {}) do
    if i > 1 then
      page:gap()
    end
    local head = ("%s  %s"):format(SIGN[file.change] or text.line(file.change or ""), text.path(file.uri or "", client.root))
    page:add(head, file.change == "delete" and "KovaError" or "KovaCardHeading")
    local whole = card.opened and card.opened[i]
    page:diff(whole or file.diff or "")
    if (file.hiddenLines or 0) > 0 and not whole then
      table.insert(card.hidden, { index = i, file = file })
      page:add(t("▼ %d more lines are not shown here: e opens them"):format(file.hiddenLines), "KovaWaiting")
    end
  end
end

function subjects.network(page, s)
  page:add(("%s %s"):format(text.line(s.method or ""), text.visible(s.url or "", true):gsub("\n", "⏎")), "KovaCommand")
end

function subjects.plan(page, s, card)
  for _, line in ipairs(text.lines(s.markdown or "", true)) do
    page:add(line, line:match("^#+ ") and "KovaCardHeading" or nil)
  end
  local options = s.options or {}
  if #options > 0 then
    page:heading(t("Approaches (a number chooses)"))
    for i, option in ipairs(options) do
      local chosen = card.option == option.label
      local line = ("%s %d  %s"):format(chosen and "◉" or "○", i, text.line(option.label))
      page:add(line, chosen and "KovaOk" or nil)
      if (option.description or "") ~= "" then
        page:add("     " .. text.line(option.description), "KovaCardDim")
      end
    end
  end
end

function subjects.other(page, s)
  for _, line in ipairs(text.lines(s.summary or "", true)) do
    page:add(line)
  end
end

--- Lay out the card.
---@param card kova.Card
---@return kova.Page
function M.render(card)
  local approval = card.approval
  local page = M.page()
  local subject = approval.subject or {}
  for _, notice in ipairs(approval.notices or {}) do
    page:add("⚠ " .. text.line(notice), "KovaWaiting")
  end
  page:gap()
  local show = subjects[subject.type]
  if show then
    show(page, subject, card)
  else
    for _, line in ipairs(text.lines(vim.inspect(subject), true)) do
      page:add(line)
    end
  end
  local said = {}
  for _, segment in ipairs(subject.segments or {}) do
    said[segment.reason or ""] = true
  end
  local reasons = vim.tbl_filter(function(reason)
    return not said[reason.text or ""]
  end, approval.reasons or {})
  if #reasons > 0 then
    page:heading(t("Why it asks"))
    for _, reason in ipairs(reasons) do
      page:add("• " .. text.line(reason.text or reason.code or ""))
    end
  end
  local rules = approval.rules or {}
  if #rules > 0 and vim.tbl_contains(approval.decisions or {}, "remember") then
    page:heading(t("Remember would write to ") .. M.rules_path(approval))
    for _, rule in ipairs(rules) do
      page:add("+ " .. text.line(rule), "KovaAdded")
    end
  end
  return page
end

function M.rules_path(approval)
  local path = approval.rulesPath
  if not path then
    return t("the permission file")
  end
  return text.path(path:match("^file:") and path or vim.uri_from_fname(path), client.root)
end

--- Read the hidden parts; afterwards yes can be said.
---@param card kova.Card
---@param done fun()
local function open_hidden(card, done)
  local hidden = card.hidden or {}
  if #hidden == 0 then
    return
  end
  card.opened = card.opened or {}
  local left = #hidden
  local function settled()
    left = left - 1
    if left == 0 then
      done()
    end
  end
  for _, part in ipairs(hidden) do
    local ref = part.file.outputRef
    if not ref then
      card.opened[part.index] = (part.file.diff or "") .. t("\n… the rest is not kept anywhere; deny it if you are not sure")
      settled()
    else
      require("kova.panels").read_output(ref, function(problem, whole)
        if problem then
          text.say("Kova: " .. problem, vim.log.levels.ERROR)
        else
          card.opened[part.index] = whole
        end
        settled()
      end)
    end
  end
end

--- The keys of the card, safest first as the engine lists them.
---@param card kova.Card
---@param answer fun(params: table)
---@param refresh fun()
---@return kova.CardKey[]
function M.keys(card, answer, refresh)
  local approval = card.approval
  local known = KEYS[approval.kind] or KEYS.tool
  local keys, used = {}, {}
  local function respond(decision, feedback)
    answer({
      approvalId = approval.approvalId,
      decision = decision,
      feedback = feedback,
      option = card.option,
    })
  end
  local function with_feedback(decision, prompt)
    return function()
      vim.ui.input({ prompt = prompt }, function(feedback)
        if feedback and vim.trim(feedback) ~= "" then
          respond(decision, feedback)
        end
      end)
    end
  end
  local hidden = #(card.hidden or {}) > 0 and t("first open what is hidden with e") or nil
  for i, decision in ipairs(approval.decisions or {}) do
    local key = known[decision] or tostring(i)
    used[key] = true
    table.insert(keys, {
      key = key,
      label = LABELS[decision] or text.line(decision, 30),
      locked = not SAFE[decision] and hidden or nil,
      run = TAKES_FEEDBACK[decision] and with_feedback(decision, t("What should be different? ")) or function()
        respond(decision)
      end,
    })
  end
  if vim.tbl_contains(approval.decisions or {}, "deny") then
    table.insert(keys, { key = "f", label = t("deny and say why"), run = with_feedback("deny", t("Why not? ")) })
  end
  if hidden then
    table.insert(keys, {
      key = "e",
      label = t("open what is hidden"),
      run = function()
        open_hidden(card, function()
          refresh()
          require("kova.card_window").disarm() -- what is now shown has not been looked at yet
        end)
      end,
    })
  end
  for i, option in ipairs((approval.subject or {}).options or {}) do
    local key = tostring(i)
    if i <= 9 and not used[key] then
      table.insert(keys, {
        key = key,
        silent = true,
        label = "",
        run = function()
          card.option = option.label
          refresh()
        end,
      })
    end
  end
  return keys
end

--- One line for notifications and the head of the card.
---@param approval table
function M.title(approval)
  local verb = approval.kind == "plan" and t("Plan: ") or approval.kind == "adopt" and t("Adopt: ") or ""
  return verb .. text.line(approval.title or approval.tool or "Approval", 120)
end

return M
