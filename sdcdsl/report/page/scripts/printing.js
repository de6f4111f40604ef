// Paper cannot scroll: what is unfolded when somebody prints goes there as plain tables, up to what fits a few pages.
const PAPER_ROWS = 120;
const PAPER_COLUMNS = 9;
const PAPER_PAIRS = 60;

function paperTable(browser) {
  const { rowAxis, columnAxis, cells } = browser;
  const rows = Array.from(rowAxis.shown.slice(0, PAPER_ROWS));
  const columns = Array.from(columnAxis.shown.slice(0, PAPER_COLUMNS));
  const write = (i, j) => (columnAxis instanceof PropertyAxis ? columnAxis.properties[j].write(browser.cellOf(i, j)) : paperText(browser, browser.cellOf(i, j)));
  const table = el('table', { class: 'paper' },
    el('thead', {}, el('tr', {}, el('th', { scope: 'col', text: browser.cornerText() }), ...columns.map((j) => el('th', { scope: 'col', text: columnAxis.label(j) })))),
    el('tbody', {}, ...rows.map((i) => el('tr', {}, el('th', { scope: 'row', text: '\u2003'.repeat(rowAxis.level(i) - 1) + rowAxis.label(i) }),
      ...columns.map((j) => el('td', { text: write(i, j) }))))));
  const left = [rowAxis.shown.length - rows.length, columnAxis.shown.length - columns.length];
  const fixed = cells.dimensions.map((dimension, d) => (d === browser.arranged.row || d === browser.arranged.column ? null : dimension.name + ' ' + named(dimension, browser.at[d]))).filter(Boolean);
  const notes = [
    fixed.length ? 'For ' + fixed.join(', ') + '.' : '',
    left[0] > 0 ? many(left[0], 'more row') + ' not printed.' : '',
    left[1] > 0 ? many(left[1], 'more column') + ' not printed.' : '',
  ].filter(Boolean);
  return el('div', { class: 'on-paper' }, table, notes.length ? el('p', { class: 'remark', text: notes.join(' ') }) : null);
}

function paperText(browser, cell) {
  const { cells, view } = browser;
  if (view === 'true') return cells.true(cell);
  if (view === 'difference') return cells.isTouched(cell) ? cells.difference(cell) : '·';
  const text = cells.published(cell);
  const mark = KINDS[cells.status[cell]].mark;
  const said = mark && mark !== text ? mark + ' ' + text : text;
  return view === 'both' && cells.isTouched(cell) ? said + ' (' + cells.true(cell) + ')' : said;
}

function paperPairs(list) {
  const shown = Array.from(list.shown.slice(0, PAPER_PAIRS), (i) => list.pair(i));
  const table = el('table', { class: 'paper' },
    el('thead', {}, el('tr', {}, ...['Cell', 'Attacker', 'True value', 'Needed', list.data.distance ? 'Published' : 'Interval', 'Plot', 'Verdict'].map((text) => el('th', { scope: 'col', text })))),
    el('tbody', {}, ...shown.map((p) => el('tr', {}, el('th', { scope: 'row', text: p.cell }), el('td', { class: 'word', text: p.attacker }), el('td', { text: figure(p.true, list.data.decimals) }),
      el('td', { text: p.needed }), el('td', { text: p.how + p.told }), el('td', {}, plot(p, list.data.distance)), el('td', { class: 'word', text: (list.data.distance ? DISTANCES : VERDICTS)[p.verdict][1] })))));
  const left = list.shown.length - shown.length;
  return el('div', { class: 'on-paper' }, table, left > 0 ? el('p', { class: 'remark', text: many(left, 'more pair') + ' not printed.' }) : null);
}

function preparePaper(parts) {
  window.addEventListener('beforeprint', () => {
    for (const { place, made } of parts) place.append(made instanceof PairList ? paperPairs(made) : paperTable(made));
    for (const details of document.querySelectorAll('details')) details.open = true;
  });
  window.addEventListener('afterprint', () => {
    for (const sheet of document.querySelectorAll('.on-paper')) sheet.remove();
  });
}
