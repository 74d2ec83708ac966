-- Neovim as the client: nvim --headless -u NONE -c 'luafile lspclient.lua', in the tree, with PROGRAM set.
-- It prints what a person would see.
local rules = '.policyscan/rules/boundaries.yml'

local function say(what, value)
  io.stdout:write(what .. ' ' .. vim.json.encode(value) .. '\n')
end

local function wait(what, is)
  if not vim.wait(20000, is, 20) then
    say('timeout', what)
    vim.cmd('cquit!')
  end
end

local function codes(buffer)
  return vim.tbl_map(function(d) return d.code end, vim.diagnostic.get(buffer))
end

-- The lines of the screen, without the empty ones.
local function screen()
  vim.cmd('redraw!')
  local lines = {}
  for row = 1, vim.o.lines do
    local line = ''
    for column = 1, vim.o.columns do
      line = line .. vim.fn.screenstring(row, column)
    end
    line = line:gsub('%s+$', '')
    if line ~= '' and line ~= '~' then table.insert(lines, line) end
  end
  return lines
end

vim.o.columns, vim.o.lines = 120, 12
local client
vim.cmd('edit main.tf')
client = vim.lsp.start_client({
  name = 'policyscan', cmd = { vim.env.PROGRAM, 'lsp' }, root_dir = vim.fn.getcwd(),
  on_exit = function(status, signal) say('status', { status, signal }) end,
})
local main = vim.api.nvim_get_current_buf()
vim.lsp.buf_attach_client(main, client)
wait('a violation', function() return #vim.diagnostic.get(main) == 1 end)
local found = vim.diagnostic.get(main)[1]
say('found', { found.code, found.severity, found.lnum, found.col, found.end_col, found.message })
say('screen', screen())

vim.api.nvim_buf_set_text(main, 0, found.col, 0, found.end_col, { '10.0.0.0/8' })
wait('no violation', function() return #vim.diagnostic.get(main) == 0 end)
say('mended', screen())
vim.api.nvim_buf_set_lines(main, 0, 0, false, { '# é🎉 0.0.0.0/0' })
wait('a violation after a wide character', function() return #vim.diagnostic.get(main) == 1 end)
say('wide', vim.diagnostic.get(main)[1].col)

vim.cmd('edit ' .. rules)
local buffer = vim.api.nvim_get_current_buf()
vim.lsp.buf_attach_client(buffer, client)
local line = vim.fn.search('title:') - 1
local hover = vim.lsp.buf_request_sync(buffer, 'textDocument/hover', {
  textDocument = vim.lsp.util.make_text_document_params(buffer), position = { line = line, character = 5 },
}, 20000)
say('hover', hover[client].result.contents.value)
vim.cmd('%s/NET-1/NET-2/ | silent write')
wait('the new name', function() return vim.deep_equal(codes(main), { 'NET-2' }) end)
say('renamed', codes(main))
vim.cmd('%s/title:/tilte:/')
wait('a mistake', function() return vim.deep_equal(codes(buffer), { 'E_POLICY_KEY' }) end)
say('mistake', codes(buffer))
vim.lsp.stop_client(client)
wait('the end', function() return vim.lsp.client_is_stopped(client) end)
vim.cmd('qall!')
