// Cells of one status: the chips are legend, count and filter in one.
function statusChips(cells, onchange) {
  const kinds = ['.', 'x', 'i', 'v', 'a'].filter((kind) => cells.counts[kind]);
  const chips = [['', 'all', cells.n], ...kinds.map((kind) => [kind, KINDS[kind].word, cells.counts[kind]])];
  const marked = cells.internal ? cells.data.sensitive.length : 0;
  if (marked) chips.push(['sensitive', 'sensitive', marked]);
  const group = el('div', { class: 'chips', role: 'group', 'aria-label': 'Show only cells of one status' });
  for (const [kind, word, count] of chips) {
    const mark = kind === 'sensitive' ? '●' : kind && KINDS[kind].mark;
    group.append(el('button', {
      type: 'button',
      class: 'chip kind-' + (kind === '.' ? 'published' : KINDS[kind]?.word || word),
      'aria-pressed': kind === '' ? 'true' : 'false',
      'data-kind': kind,
      onclick: (event) => {
        for (const chip of group.children) chip.setAttribute('aria-pressed', chip === event.currentTarget ? 'true' : 'false');
        onchange(kind);
      },
    }, mark ? el('span', { class: 'mark', 'aria-hidden': 'true', text: mark }) : null, el('span', { text: word }),
    el('span', { class: 'count', text: counted(count) })));
  }
  return group;
}

// Which rows and columns hold a cell of this kind in what is looked at, and how many such cells there are.
function matching(browser, kind) {
  const { rowAxis, columnAxis } = browser;
  const rows = new Uint8Array(rowAxis.size);
  const columns = new Uint8Array(columnAxis.size);
  let count = 0;
  const list = columnAxis instanceof PropertyAxis;
  for (let i = 0; i < rowAxis.size; i += 1) {
    for (let j = 0; j < (list ? 1 : columnAxis.size); j += 1) {
      if (!browser.cells.matches(browser.cellOf(i, j), kind)) continue;
      count += 1;
      rows[i] = 1;
      columns[j] = 1;
    }
  }
  return { rows, columns: list ? null : columns, count };
}
