--- The cards that wait for the person: a queue, one of them shown in a float.
--- Invariant: a card takes no key before it has stood there, undisturbed, for `card.arm_ms`.
--- Invariant: the float never takes the focus from someone who types; it covers the person's own
--- windows only after they went to it.
--- Invariant: a card goes when the engine says that it was resolved, not when a key is pressed.
local approvals = require("kova.approvals")
local client = require("kova.client")
local config = require("kova.config")
local layout = require("kova.card_layout")
local questions = require("kova.questions")
local text = require("kova.text")

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
---@field sent boolean? an answer is on its way

local ns = vim.api.nvim_create_namespace("kova.cards")
local queue = {} ---@type kova.Card[]
local win ---@type integer?
local buf ---@type integer?
local back ---@type integer? window to go back to
local back_to_insert = false
local returning = false -- insert mode is on its way back
local armed = false
local armed_timer = assert(vim.uv.new_timer())
local mapped = {} ---@type string[]
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
  return "Trust this folder?"
end

local function view(card)
  if card.kind == "approval" then
    return approvals
  elseif card.kind == "question" then
    return questions
  end
  return require("kova.trust_card")
end

local function is_open()
  return win ~= nil and vim.api.nvim_win_is_valid(win)
end

local function is_focused()
  return is_open() and vim.api.nvim_get_current_win() == win
end
M.is_focused = is_focused

local function unmap()
  for _, key in ipairs(mapped) do
    pcall(vim.keymap.del, "n", key, { buffer = buf })
  end
  mapped = {}
end

local show

local function close_window()
  local target = win
  win = nil
  if target and vim.api.nvim_win_is_valid(target) then
    local focused = vim.api.nvim_get_current_win() == target
    if focused and back and vim.api.nvim_win_is_valid(back) then
      vim.api.nvim_set_current_win(back)
      if back_to_insert then
        returning = true
        vim.cmd("startinsert!")
      end
    end
    pcall(vim.api.nvim_win_close, target, true)
  end
end

--- Whether the card takes keys now, and how long it stood before it did.
function M.is_armed()
  return armed
end
---@type number?
M.armed_after = nil

local function disarm()
  armed = false
  armed_timer:stop()
  local since = vim.uv.hrtime()
  local pause = config.get().card.arm_ms
  local function arm()
    local stood = (vim.uv.hrtime() - since) / 1e6
    if stood < pause then
      armed_timer:start(math.ceil(pause - stood), 0, vim.schedule_wrap(arm))
      return
    end
    armed = true
    M.armed_after = stood
    if is_open() then
      show()
    end
  end
  armed_timer:start(pause, 0, vim.schedule_wrap(arm))
end

---@param card kova.Card
local function answer(card)
  return function(params)
    if card.sent then
      return
    end
    card.sent = true
    show()
    client.request(card.method, params, function(problem, result)
      if problem then
        card.sent = false
        text.say("Kova: " .. problem, vim.log.levels.ERROR)
        return show()
      end
      if result.status == "alreadyResolved" then
        local what = result.decision or result.outcome or "answered"
        text.say(("Kova: already answered (%s) by %s"):format(what, result.resolvedBy or "someone"))
      end
    end)
  end
end

local function leave()
  if is_focused() then
    close_window()
    show()
  end
end
M.leave = leave

--- Every plain key means nothing here unless it is one of the card's: an edit command must not
--- raise an error under someone who types ahead, and it restarts the wait: who types "no" must not
--- have allowed anything by the "o".
local function map_keys(card, keys)
  unmap()
  local function map(key, run)
    vim.keymap.set("n", key, run, { buffer = buf, nowait = true, silent = true })
    table.insert(mapped, key)
  end
  local function wait_anew()
    disarm()
    show()
  end
  for inert in ("a c d f i m o p q r s t u v x y A C D I J O P R S U X Y <CR> <Space>"):gmatch("%S+") do
    map(inert, wait_anew)
  end
  for _, search in ipairs({ "n", "N" }) do
    map(search, function()
      pcall(vim.cmd.normal, { search, bang = true })
      wait_anew()
    end)
  end
  for _, key in ipairs(keys) do
    map(key.key, function()
      if card.sent or queue[1] ~= card then
        return
      end
      if not armed then
        return disarm()
      end
      if key.locked then
        return text.say("Kova: " .. key.locked)
      end
      key.run()
    end)
  end
  map("q", leave)
  map("<Esc>", leave)
  for _, key in ipairs(config.get().keys.card) do
    map(key, function() end)
  end
  for _, key in ipairs(config.get().keys.stop) do
    map(key, function()
      require("kova.session").interrupt()
    end)
  end
end

local function buffer()
  if buf and vim.api.nvim_buf_is_valid(buf) then
    return buf
  end
  buf = vim.api.nvim_create_buf(false, true)
  vim.api.nvim_buf_set_name(buf, "kova://card")
  vim.bo[buf].bufhidden = "hide"
  vim.bo[buf].filetype = "kova-card"
  vim.bo[buf].undolevels = -1
  return buf
end

local shown_card ---@type kova.Card?
local head_end = " "

--- The title of the card in front, cut so that what is behind it keeps its place in the border.
local function head_of(room)
  return " " .. text.line(M.title() or "", math.max(room - vim.fn.strdisplaywidth(head_end) - 1, 6)) .. head_end
end

--- Draw the first card; open, resize or close the float as needed.
---@param focus boolean? go into it
function show(focus)
  local card = queue[1]
  if not card then
    shown_card = nil
    close_window()
    return changed()
  end
  local focused = focus or is_focused()
  local b = buffer()
  local module = view(card)
  local page = module.render(card)
  local keys = module.keys(card, answer(card), function()
    show()
  end)
  local place = layout.place(focused, page.lines)
  if not place then
    close_window()
    return changed()
  end
  vim.bo[b].modifiable = true
  vim.api.nvim_buf_set_lines(b, 0, -1, false, page.lines)
  vim.bo[b].modifiable = false
  vim.api.nvim_buf_clear_namespace(b, ns, 0, -1)
  for _, mark in ipairs(page.marks) do
    pcall(vim.api.nvim_buf_set_extmark, b, ns, mark.line, mark.col or 0, {
      end_col = math.min(mark.end_col or 0, #(page.lines[mark.line + 1] or "")),
      hl_group = mark.hl,
    })
  end
  local more = #queue > 1 and (" (1 of %d)"):format(#queue) or ""
  head_end = more .. " "
  local title = head_of(place.width - 2)
  local most = place.most
  place.most = nil
  local options = vim.tbl_extend("force", place, {
    style = "minimal",
    border = config.get().card.border,
    title = { { title, "KovaCardTitle" } },
    title_pos = "left",
    footer = layout.footer(keys, focused, armed, card.sent, place.width),
    footer_pos = "left",
    zindex = 60,
    focusable = true,
  })
  if config.get().card.border == "none" then
    options.title, options.title_pos, options.footer, options.footer_pos = nil, nil, nil, nil
  end
  local fresh = shown_card ~= card
  if is_open() then
    vim.api.nvim_win_set_config(win, options)
  else
    options.noautocmd = false
    win = vim.api.nvim_open_win(b, false, options)
    fresh = true
  end
  vim.wo[win].wrap = true
  vim.wo[win].linebreak = true
  vim.wo[win].foldcolumn = tostring(layout.PADDING)
  local height = math.max(1, math.min(vim.api.nvim_win_text_height(win, {}).all, most))
  if height ~= place.height then
    place.row = math.max(0, place.row - (focused and math.floor((height - place.height) / 2) or height - place.height))
    place.height = height
    vim.api.nvim_win_set_config(win, place)
  end
  vim.wo[win].winhighlight = focused and "FloatBorder:KovaCardBorder,FoldColumn:NormalFloat"
    or "FloatBorder:KovaCardBorderWaiting,FoldColumn:NormalFloat"
  vim.wo[win].cursorline = focused and card.kind == "question"
  if fresh then
    vim.api.nvim_win_set_cursor(win, { page.first or 1, 0 })
    shown_card = card
    disarm()
  end
  map_keys(card, keys)
  if focus and not is_focused() then
    back = vim.api.nvim_get_current_win()
    vim.api.nvim_set_current_win(win)
    disarm()
  end
  M.show_position()
  changed()
end

--- Say in the border how much is above and below.
function M.show_position()
  if not is_open() or config.get().card.border == "none" then
    return
  end
  local last = vim.fn.line("w$", win)
  local total = vim.api.nvim_buf_line_count(buf)
  local first = vim.fn.line("w0", win)
  local hint = ""
  if last < total or first > 1 then
    hint = (" lines %d-%d of %d%s "):format(first, last, total, last < total and " ▼" or "")
  end
  local room = vim.api.nvim_win_get_width(win) - vim.fn.strdisplaywidth(hint)
  local head = { head_of(room), "KovaCardTitle" }
  vim.api.nvim_win_set_config(win, { title = hint ~= "" and { head, { hint, "KovaCardBorderWaiting" } } or { head }, title_pos = "left" })
end

--- May the float take the focus? Only from someone who rests in the conversation.
local function may_take_focus()
  local mode = vim.api.nvim_get_mode()
  if returning then
    return false
  end
  if mode.mode ~= "n" or mode.blocking or vim.fn.getcmdwintype() ~= "" or vim.fn.reg_recording() ~= "" then
    return false
  end
  return require("kova.chat").is_resting()
end

local function announce()
  local title = M.title()
  if not title or not config.get().notify or require("kova.chat").is_inside() or is_focused() then
    return
  end
  text.say(("Kova waits: %s  (:Kova card)"):format(title), vim.log.levels.WARN)
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
  local behind = last and last.kind == "trust" and not (#queue == 1 and is_focused())
  if place then
    replaced[call_id] = nil
    table.insert(queue, math.min(place.at, #queue + 1), card)
    focus = place.focused and place.at == 1 and not returning
  elseif behind then
    table.insert(queue, #queue, card) -- what the engine asks comes before what we ask
  else
    table.insert(queue, card)
  end
  if queue[1] == card then
    if not focus and may_take_focus() then
      focus = true
      back_to_insert = false
    end
    show(focus or nil)
    announce()
  else
    show()
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
      local focused = i == 1 and is_focused()
      if decision == "superseded" and card.approval then
        replaced[card.approval.callId] = { at = i, focused = focused }
      elseif not card.sent and by and card.kind ~= "trust" then
        text.say(("Kova: %s by %s"):format(decision or "resolved", by))
      end
      table.remove(queue, i)
      if focused and #queue == 0 and decision ~= "superseded" then
        close_window()
      end
      show()
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
  show()
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
    return text.say("Kova: nothing waits for an answer.")
  end
  if is_focused() then
    return
  end
  back_to_insert = vim.api.nvim_get_mode().mode:sub(1, 1) == "i"
  if back_to_insert then
    vim.cmd.stopinsert()
  end
  show(true)
end

--- Draw again after the windows changed.
function M.refresh()
  if #queue > 0 then
    show()
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
    if is_open() and is_focused() then
      M.show_position()
    end
  end,
})
vim.api.nvim_create_autocmd({ "InsertEnter", "WinEnter" }, {
  group = group,
  callback = function(args)
    if args.event == "InsertEnter" or not require("kova.chat").is_inside() then
      returning = false
    end
  end,
})
vim.api.nvim_create_autocmd("WinLeave", {
  group = group,
  callback = function()
    if is_focused() then
      vim.schedule(function()
        if is_open() and not is_focused() then
          show()
        end
      end)
    end
  end,
})

return M
