// Everything the page knows of one cell, beside the table; below it where there is no room.
class Details {
  constructor(browser) {
    this.browser = browser;
    this.element = el('div', { class: 'details', role: 'status' },
      el('p', { class: 'hint', text: 'Choose a cell to read more about it.' }));
  }

  show(cell) {
    const { cells, block, number, pairs } = this.browser;
    const kind = KINDS[cells.status[cell]].word;
    const unit = cells.data.unit ? ' ' + cells.data.unit : '';
    const facts = [];
    const say = (name, ...texts) => facts.push(el('div', {}, el('dt', { text: name }), el('dd', {}, ...texts)));
    const hidden = cells.status[cell] === 'x' && Number.isNaN(cells.value[cell]) && !cells.ranged[cell];
    say('Published', hidden ? 'nothing' : cells.published(cell, fullFigure) + unit);
    if (cells.status[cell] === 'v' && cells.ranged[cell]) say('So it lies in', cells.extent(cell, fullFigure));
    if (cells.internal) {
      say('True value', fullFigure(cells.truth[cell]) + unit);
      const why = cells.data.marks.filter(([, at]) => sortedHas(at, cell)).map(([i]) => block.marks[i]);
      if (cells.sensitive[cell]) {
        const list = el('ul', {});
        for (const [what, anchor] of why) list.append(el('li', {}, anchor ? el('a', { href: '#' + anchor, text: what }) : what));
        say('Sensitive', why.length ? list : 'yes');
      }
      const own = pairs ? pairs.ofCell(number, cell) : null;
      if (own) {
        say('Audit', many(own.count, 'attacker') + ', the tightest has ' + own.tightest + ' of what is needed ',
          el('button', { type: 'button', class: 'quiet', text: 'show', onclick: () => pairs.find(cells.label(cell)) }));
      }
    }
    this.element.replaceChildren(
      el('p', { class: 'name' }, el('bdi', { text: cells.label(cell) }), ' ', el('span', { class: 'tag kind-' + kind, text: kind })),
      el('dl', { class: 'facts' }, ...facts),
    );
  }
}

function sortedHas(list, x) {
  return positionIn(list, x) >= 0;
}
