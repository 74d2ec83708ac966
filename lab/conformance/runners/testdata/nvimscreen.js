// Neovim's screen as a terminal shows it: node nvimscreen.js NODE_MODULES PROGRAM FILE TEXT BY
// Neovim edits FILE in the current directory, replaces TEXT at the end of a line BY another, and shows the diagnostic.
const {spawn} = require('child_process')
const [modules, program, file, text, by] = process.argv.slice(2)
const {attach} = require(modules + '/neovim')

const width = 104, height = 16
const nvim = attach({proc: spawn('nvim', ['--embed', '-u', 'NONE'], {stdio: ['pipe', 'pipe', 'inherit']})})
const grid = Array.from({length: height}, () => Array.from({length: width}, () => [' ', 0]))
const looks = {0: {}}

const events = {
  hl_attr_define: ([id, rgb]) => { looks[id] = rgb },
  grid_clear: () => grid.forEach(line => line.fill([' ', 0])),
  grid_line: ([, row, column, cells]) => {
    let look = 0
    for (const [cell, id = look, times = 1] of cells) {
      look = id
      for (let i = 0; i < times; i++) grid[row][column++] = [cell, id]
    }
  },
  grid_scroll: ([, top, bottom, left, right, rows]) => {
    const from = grid.map(line => [...line])
    for (let row = top; row < bottom; row++) {
      const line = from[row + rows]
      if (line && row + rows >= top && row + rows < bottom) for (let i = left; i < right; i++) grid[row][i] = line[i]
    }
  },
}

// The colour of a cell, as a number of the sequence that sets it.
function colour(id) {
  const {foreground, bold, reverse, underline} = looks[id]
  if (foreground === 0xff0000) return 31
  if (foreground === 0xffff00) return 2 // numbers of lines
  if (underline) return 4
  return bold || reverse ? 1 : 0
}

function line(cells) {
  let out = '', now = 0
  for (const [cell, id] of cells) {
    const next = cell === ' ' ? now : colour(id)
    if (next !== now) out += (now ? '\x1b[0m' : '') + (next ? `\x1b[${next}m` : '')
    now = next
    out += cell
  }
  return out.trimEnd() + (now ? '\x1b[0m' : '')
}

async function main() {
  nvim.on('notification', (method, args) => {
    if (method === 'redraw') for (const [name, ...all] of args) all.forEach(one => events[name]?.(one))
  })
  await nvim.uiAttach(width, height, {rgb: true, ext_linegrid: true})
  const found = await nvim.executeLua(`
    local program, file, text, by = ...
    vim.o.number, vim.o.signcolumn, vim.o.termguicolors, vim.o.ruler = true, 'yes', true, false
    vim.cmd('edit ' .. file)
    vim.lsp.buf_attach_client(0, vim.lsp.start_client({
      name = 'policyscan', cmd = { program, 'lsp' }, root_dir = vim.fn.getcwd() }))
    local line = vim.fn.search(text .. '$')
    vim.fn.setline(line, (vim.fn.getline(line):gsub(vim.pesc(text) .. '$', by)))
    local found = vim.wait(20000, function() return #vim.diagnostic.get(0) > 0 end, 20)
    local at = vim.diagnostic.get(0)[1]
    vim.api.nvim_win_set_cursor(0, { at.lnum + 1, at.col })
    vim.cmd('normal! zt3k3j')
    vim.diagnostic.open_float({ border = 'single', header = '', prefix = '', max_width = 88 })
    return found`, [program, file, text, by])
  if (!found) throw new Error('no diagnostic')
  await nvim.command('redraw!')
  await new Promise(done => setTimeout(done, 500)) // the last events are on their way
  process.stdout.write(grid.map(line).join('\n') + '\n')
  await nvim.command('qall!').catch(() => {})
}

main().then(() => process.exit(0), err => { process.stderr.write(err + '\n'); process.exit(1) })
