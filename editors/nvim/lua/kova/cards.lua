--- The cards that wait for the person: a queue, one of them shown in a float.
--- Invariant: the float never takes the focus from someone who types; it covers the person's own
--- windows only after they went to it.
--- Invariant: a card goes when the engine says that it was resolved, not when a key is pressed.
local approvals = require("kova.approvals")
local client = require("kova.client")
local config = require("kova.config")
local questions = require("kova.questions")
local text = require("kova.text")
local window = require("kova.card_window")
local t = require("kova.l10n").t

local M = {}

---@class kova.Card
---@field id string
---@field kind "approval"|"question"|"trust"
---@field approval table?
---@field request table?
---@field method string?
---@field index integer? question shown
---@field answers table<string, table>?
---@field rows table<integer, integer>?
---@field option string?
---@field hidden table[]?
---@field opened table<integer, string>?
---@field page kova.CardPage? what it shows
---@field page_width integer? for so many columns
---@field sent boolean? an answer is on its way

local queue = {} ---@type kova.Card[]
local replaced = {} ---@type table<string, { at: integer, focused: boolean }>
local changed = function() end

--- Be told when cards come and go.
---@param listener fun()
function M.on_change(listener)
  changed = listener
end

---@return integer
function M.count()
  return #queue
end

--- Title of the card that waits longest.
---@return string?
function M.title()
  local card = queue[1]
  if not card then
    return nil
  end
  if card.kind == "approval" then
    return approvals.title(card.approval)
  elseif card.kind == "question" then
    return questions.title(card.request)
  end
  return t("Trust this folder?")
end

local function view(card)
  if card.kind == "approval" then
    return approvals
  elseif card.kind == "question" then
    return questions
  end
  return require("kova.trust_card")
end

---@param card kova.Card
local function answer(card)
  return function(params)
    if card.sent then
      return
    end
    card.sent = true
    window.show()
    client.request(card.method, params, function(problem, result)
      if problem then
        card.sent = false
        text.say("Kova: " .. problem, vim.log.levels.ERROR)
        return window.show()
      end
      if result.status == "alreadyResolved" then
        local what = result.decision or result.outcome or "answered"
        text.say(t("Kova: already answered (%s) by %s"):format(what, result.resolvedBy or t("someone")))
      end
    end)
  end
end

--- May the float take the focus? Only from someone who rests in the conversation.
local function may_take_focus()
  local mode = vim.api.nvim_get_mode()
  if window.returning then
    return false
  end
  if mode.mode ~= "n" or mode.blocking or vim.fn.getcmdwintype() ~= "" or vim.fn.reg_recording() ~= "" then
    return false
  end
  return require("kova.chat").is_resting()
end

local function announce()
  local title = M.title()
  if not title or not config.get().notify or require("kova.chat").is_inside() or window.is_focused() then
    return
  end
  text.say(t("Kova waits: %s  (:Kova card)"):format(title), vim.log.levels.WARN)
end

---@param card kova.Card
---@param call_id string?
local function add(card, call_id)
  for _, known in ipairs(queue) do
    if known.id == card.id then
      return
    end
  end
  local place = call_id and replaced[call_id]
  local focus = false
  local last = queue[#queue]
  local behind = last and last.kind == "trust" and not (#queue == 1 and window.is_focused())
  if place then
    replaced[call_id] = nil
    table.insert(queue, math.min(place.at, #queue + 1), card)
    focus = place.focused and place.at == 1 and not window.returning
  elseif behind then
    table.insert(queue, #queue, card) -- what the engine asks comes before what we ask
  else
    table.insert(queue, card)
  end
  if queue[1] == card then
    if not focus and may_take_focus() then
      focus = true
      window.back_to_insert = false
    end
    window.show(focus or nil)
    announce()
  else
    window.show()
  end
end

function M.add_approval(approval)
  add({
    id = approval.approvalId,
    kind = "approval",
    approval = approval,
    method = "kova/approval/respond",
  }, approval.callId)
end

function M.add_question(request)
  add({
    id = request.questionId,
    kind = "question",
    request = request,
    method = "kova/question/respond",
    index = 1,
    answers = {},
  }, request.callId)
end

--- A card that is ours, not the engine's.
---@param card kova.Card
function M.add_own(card)
  add(card)
end

--- The engine says that a card was answered, withdrawn or replaced.
---@param id string
---@param decision string?
---@param by string?
function M.resolved(id, decision, by)
  for i, card in ipairs(queue) do
    if card.id == id then
      local focused = i == 1 and window.is_focused()
      if decision == "superseded" and card.approval then
        replaced[card.approval.callId] = { at = i, focused = focused }
      elseif not card.sent and by and card.kind ~= "trust" then
        text.say(t("Kova: %s by %s"):format(decision or "resolved", by))
      end
      table.remove(queue, i)
      if focused and #queue == 0 and decision ~= "superseded" then
        window.close()
      end
      window.show()
      return
    end
  end
end

--- Make the queue what the engine says is open.
---@param open_approvals table[]
---@param open_questions table[]
function M.reconcile(open_approvals, open_questions)
  local open = {}
  for _, approval in ipairs(open_approvals) do
    open[approval.approvalId] = true
  end
  for _, request in ipairs(open_questions) do
    open[request.questionId] = true
  end
  queue = vim.tbl_filter(function(card)
    if card.kind ~= "trust" and open[card.id] then
      card.sent = false -- the engine never got that answer
    end
    return card.kind == "trust" or open[card.id]
  end, queue)
  window.show()
  for _, approval in ipairs(open_approvals) do
    M.add_approval(approval)
  end
  for _, request in ipairs(open_questions) do
    M.add_question(request)
  end
end

--- Go to the card.
function M.focus()
  if #queue == 0 then
    return text.say(t("Kova: nothing waits for an answer."))
  end
  if window.is_focused() then
    return
  end
  window.back_to_insert = vim.api.nvim_get_mode().mode:sub(1, 1) == "i"
  if window.back_to_insert then
    vim.cmd.stopinsert()
  end
  window.show(true)
end

--- Draw again after the windows changed.
function M.refresh()
  if #queue > 0 then
    window.show()
  end
end

local group = vim.api.nvim_create_augroup("kova.cards", {})
vim.api.nvim_create_autocmd({ "VimResized", "TabEnter" }, {
  group = group,
  callback = function()
    vim.schedule(M.refresh)
  end,
})
vim.api.nvim_create_autocmd({ "WinScrolled", "CursorMoved" }, {
  group = group,
  callback = function()
    if window.is_open() and window.is_focused() then
      window.show_position()
    end
  end,
})
vim.api.nvim_create_autocmd({ "InsertEnter", "WinEnter" }, {
  group = group,
  callback = function(args)
    if args.event == "InsertEnter" or not require("kova.chat").is_inside() then
      window.returning = false
    end
  end,
})
vim.api.nvim_create_autocmd("WinLeave", {
  group = group,
  callback = function()
    if window.is_focused() then
      vim.schedule(function()
        if window.is_open() and not window.is_focused() then
          window.show()
        end
      end)
    end
  end,
})

window.of({
  first = function()
    return queue[1]
  end,
  count = M.count,
  title = M.title,
  view = view,
  answer = answer,
  changed = function()
    changed()
  end,
})

M.is_focused = window.is_focused
M.leave = window.leave

return M
