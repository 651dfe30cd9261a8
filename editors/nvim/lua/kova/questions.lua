--- What a question card shows and which keys answer it: one question a page.
local approvals = require("kova.approvals")
local text = require("kova.text")
local t = require("kova.l10n").t

local M = {}

---@param card kova.Card
local function current(card)
  return card.request.questions[card.index]
end

---@param card kova.Card
---@return table
local function answer_of(card)
  local question = current(card)
  card.answers[question.id] = card.answers[question.id] or { id = question.id, selected = {} }
  return card.answers[question.id]
end

--- Lay out the page of the current question.
---@param card kova.Card
---@return kova.Page
function M.render(card)
  local question = current(card)
  local answer = answer_of(card)
  local page = approvals.page()
  local total = #card.request.questions
  if total > 1 and question.header and question.header ~= "" then
    page:add(text.line(question.header), "KovaCardHeading")
  end
  for _, line in ipairs(text.lines(question.question or "", true)) do
    page:add(line)
  end
  page:gap()
  card.rows = {}
  for i, option in ipairs(question.options or {}) do
    local chosen = vim.tbl_contains(answer.selected, option.label)
    local box = question.multiSelect and (chosen and "[x]" or "[ ]") or (chosen and "◉" or "○")
    local line = ("%s %d  %s"):format(box, i, text.line(option.label))
    page:add(line, chosen and "KovaOk" or nil)
    card.rows[#page.lines] = i
    if i == 1 then
      page.first = #page.lines
    end
    if (option.description or "") ~= "" then
      page:add("     " .. text.line(option.description), "KovaCardDim")
    end
  end
  if answer.other then
    page:gap()
    page:add(t("own words: ") .. text.line(answer.other), "KovaOk")
  end
  if total > 1 then
    page:gap()
    page:add(t("question %d of %d"):format(card.index, total), "KovaCardDim")
  end
  return page
end

--- The keys of the current page.
---@param card kova.Card
---@param answer fun(params: table)
---@param refresh fun()
---@return kova.CardKey[]
function M.keys(card, answer, refresh)
  local question = current(card)
  local given = answer_of(card)
  local total = #card.request.questions
  local keys = {}

  local function go_on()
    if #given.selected == 0 and not given.other then
      return text.say(t("Kova: choose an answer, write your own with i, or decline with D."))
    end
    if card.index < total then
      card.index = card.index + 1
      return refresh()
    end
    local answers = {}
    for _, q in ipairs(card.request.questions) do
      table.insert(answers, card.answers[q.id])
    end
    answer({ questionId = card.request.questionId, answers = answers })
  end

  local function choose(i)
    local option = (question.options or {})[i]
    if not option then
      return
    end
    if question.multiSelect then
      if vim.tbl_contains(given.selected, option.label) then
        given.selected = vim.tbl_filter(function(label)
          return label ~= option.label
        end, given.selected)
      else
        table.insert(given.selected, option.label)
      end
      return refresh()
    end
    given.selected, given.other = { option.label }, nil
    go_on()
  end

  local function under_cursor()
    return card.rows and card.rows[vim.api.nvim_win_get_cursor(0)[1]]
  end

  local count = #(question.options or {})
  if count > 0 then
    for i = 1, math.min(count, 9) do
      table.insert(keys, {
        key = tostring(i),
        label = count > 1 and t("to %d choose"):format(math.min(count, 9)) or t("choose"),
        silent = i > 1,
        run = function()
          choose(i)
        end,
      })
    end
    if question.multiSelect then
      table.insert(keys, {
        key = "<Space>",
        label = t("choose"),
        run = function()
          local row = under_cursor()
          if row then
            choose(row)
          end
        end,
      })
      table.insert(keys, { key = "<CR>", label = card.index < total and t("next") or t("send"), run = go_on })
    else
      table.insert(keys, {
        key = "<CR>",
        label = t("the one at the cursor"),
        run = function()
          local row = under_cursor()
          if row then
            choose(row)
          elseif given.other then
            go_on()
          end
        end,
      })
    end
  elseif given.other then
    table.insert(keys, { key = "<CR>", label = card.index < total and t("next") or t("send"), run = go_on })
  end
  if question.allowOther ~= false then
    table.insert(keys, {
      key = "i",
      label = t("own words"),
      run = function()
        vim.ui.input({ prompt = t("Your answer: "), default = given.other }, function(words)
          if words and vim.trim(words) ~= "" then
            given.other = words
            if not question.multiSelect then
              given.selected = {}
              return go_on()
            end
            refresh()
          end
        end)
      end,
    })
  end
  if card.index > 1 then
    table.insert(keys, {
      key = "<BS>",
      label = t("back"),
      run = function()
        card.index = card.index - 1
        refresh()
      end,
    })
  end
  table.insert(keys, {
    key = "D",
    label = t("decline"),
    run = function()
      answer({ questionId = card.request.questionId, declined = true })
    end,
  })
  return keys
end

--- One line for notifications and the head of the card.
---@param request table
function M.title(request)
  local question = request.questions[1] or {}
  return t("Question: ") .. text.line(question.header or question.question or "", 100)
end

return M
