--- The float that shows the first card: drawn, armed, focused, left.
--- Invariant: it takes no key before it has stood there, undisturbed, for `card.arm_ms`.
--- Invariant: who leaves it is where they were, insert mode included.
local config = require("kova.config")
local layout = require("kova.card_layout")
local text = require("kova.text")
local t = require("kova.l10n").t

local M = {}

---@class kova.CardWindow.Owner
---@field first fun(): kova.Card?
---@field count fun(): integer
---@field title fun(): string?
---@field view fun(card: kova.Card): table
---@field answer fun(card: kova.Card): fun(params: table)
---@field changed fun()
local owner ---@type kova.CardWindow.Owner

--- Show the cards of this queue.
---@param queue kova.CardWindow.Owner
function M.of(queue)
  owner = queue
end

local ns = vim.api.nvim_create_namespace("kova.cards")
local win ---@type integer?
local buf ---@type integer?
local back ---@type integer? window to go back to
local armed = false
local armed_timer = assert(vim.uv.new_timer())
local mapped = {} ---@type string[]

M.back_to_insert = false -- who goes into the card came from insert mode
M.returning = false -- insert mode is on its way back

function M.is_open()
  return win ~= nil and vim.api.nvim_win_is_valid(win)
end

function M.is_focused()
  return M.is_open() and vim.api.nvim_get_current_win() == win
end

local function unmap()
  for _, key in ipairs(mapped) do
    pcall(vim.keymap.del, "n", key, { buffer = buf })
  end
  mapped = {}
end

function M.close()
  local target = win
  win = nil
  if target and vim.api.nvim_win_is_valid(target) then
    local focused = vim.api.nvim_get_current_win() == target
    if focused and back and vim.api.nvim_win_is_valid(back) then
      vim.api.nvim_set_current_win(back)
      if M.back_to_insert then
        M.returning = true
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

function M.disarm()
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
    if M.is_open() then
      M.show()
    end
  end
  armed_timer:start(pause, 0, vim.schedule_wrap(arm))
end

function M.leave()
  if M.is_focused() then
    M.close()
    M.show()
  end
end

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
    M.disarm()
    M.show()
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
      if card.sent or owner.first() ~= card then
        return
      end
      if not armed then
        return M.disarm()
      end
      if key.locked then
        return text.say("Kova: " .. key.locked)
      end
      key.run()
    end)
  end
  map("q", M.leave)
  map("<Esc>", M.leave)
  for _, key in ipairs(config.get().keys.card) do
    map(key, function() end)
  end
  for _, key in ipairs(config.get().keys.stop) do
    map(key, function()
      require("kova.session").interrupt()
    end)
  end
end

local drawn ---@type kova.CardPage? what the buffer holds

local function buffer()
  if buf and vim.api.nvim_buf_is_valid(buf) then
    return buf
  end
  buf = vim.api.nvim_create_buf(false, true)
  drawn = nil
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
  return " " .. text.line(owner.title() or "", math.max(room - vim.fn.strdisplaywidth(head_end) - 1, 6)) .. head_end
end

--- What a card shows, made anew only when something of it changed: it may be megabytes.
---@param card kova.Card
---@param module table
---@param width integer
---@return kova.CardPage
local function page_of(card, module, width)
  if not card.page or card.page_width ~= width then
    local page = module.render(card)
    card.page, card.page_width = card.kind == "approval" and layout.wrap(page, width) or page, width
  end
  return card.page
end

---@param b integer
---@param page kova.CardPage
local function draw(b, page)
  if drawn == page then
    return
  end
  drawn = page
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
end

--- Draw the first card; open, resize or close the float as needed.
---@param focus boolean? go into it
function M.show(focus)
  local card = owner.first()
  if not card then
    shown_card = nil
    M.close()
    return owner.changed()
  end
  local focused = focus or M.is_focused()
  local b = buffer()
  local module = owner.view(card)
  local place, page = layout.place(focused, function(width)
    return page_of(card, module, width)
  end)
  if not place or not page then
    M.close()
    return owner.changed()
  end
  local keys = module.keys(card, owner.answer(card), function()
    card.page = nil
    M.show()
  end)
  draw(b, page)
  local more = owner.count() > 1 and t(" (1 of %d)"):format(owner.count()) or ""
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
  if M.is_open() then
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
    M.disarm()
  end
  map_keys(card, keys)
  if focus and not M.is_focused() then
    back = vim.api.nvim_get_current_win()
    vim.api.nvim_set_current_win(win)
    M.disarm()
  end
  M.show_position()
  owner.changed()
end

--- Say in the border how much is above and below.
function M.show_position()
  if not M.is_open() or config.get().card.border == "none" then
    return
  end
  local last = vim.fn.line("w$", win)
  local total = vim.api.nvim_buf_line_count(buf)
  local first = vim.fn.line("w0", win)
  local hint = ""
  if last < total or first > 1 then
    hint = t(" lines %d-%d of %d%s "):format(first, last, total, last < total and " ▼" or "")
  end
  local room = vim.api.nvim_win_get_width(win) - vim.fn.strdisplaywidth(hint)
  local head = { head_of(room), "KovaCardTitle" }
  vim.api.nvim_win_set_config(win, { title = hint ~= "" and { head, { hint, "KovaCardBorderWaiting" } } or { head }, title_pos = "left" })
end

return M
