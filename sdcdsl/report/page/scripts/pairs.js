// Pairs of attacker and sensitive cell: sorted, searched, and drawn only where they are seen.
const VERDICTS = { p: ['✓', 'protected', 'good'], e: ['✕', 'exposed', 'bad'], n: ['?', 'not proven', 'open'] };
const DISTANCES = { p: ['✓', 'far enough', 'good'], e: ['✕', 'too near', 'bad'], n: ['?', 'not proven', 'open'] };
const PAIR_COLUMNS = [
  ['cell', 'Cell'], ['attacker', 'Attacker'], ['true', 'True value'], ['needed', 'Needed'], ['told', 'Feasibility interval'],
  ['plot', 'Plot'], ['tight', 'Tightness'], ['verdict', 'Verdict'],
];
const SORTED = { cell: 'cell', attacker: 'attacker', true: 'value', tight: 'tightness', verdict: 'verdict' };

/** What is proved of an interval whose ends are exact (e), reached at least (l) or not passed (m). */
function proved(below, above) {
  const both = below + above;
  if (both === 'ee') return 'exactly ';
  if (!both.includes('m')) return 'at least ';
  if (!both.includes('l')) return 'at most ';
  return below === 'm' ? 'below at most, above at least ' : 'below at least, above at most ';
}

class PairList {
  constructor(data, tables) {
    this.data = data;
    this.tables = tables; // Cells of the block's tables
    this.n = data.cell.length;
    this.names = data.cells.table.map((table, i) => (table < 0 ? 'sum ' + data.cells.label[i] : tables[table].label(data.cells.at[i])));
    // In rows, which are narrow: of two cells the codes that tell them apart come after the label of the first.
    this.short = data.cells.table.map((table, i) => (table < 0 ? this.names[i] : tables[table].codes(data.cells.at[i])));
    this.lower = this.names.map((name) => name.toLowerCase());
    this.lowerAttackers = data.attackers.map((name) => name.toLowerCase());
    this.by = 'tight';
    this.down = false;
    this.kind = '';
    this.shown = Int32Array.from({ length: this.n }, (_, i) => i);
    this.rows = new Map();
    this.build();
    this.places = data.places.map((place) => new Map(place.at.map((at, i) => [at, place.cell[i]])));
    this.refresh();
  }

  build() {
    const { data } = this;
    this.input = el('input', { type: 'search', autocomplete: 'off', spellcheck: 'false' });
    this.input.addEventListener('input', later(() => this.refresh(), 120));
    this.said = el('output', { class: 'said', 'aria-live': 'polite' });
    const words = data.distance ? DISTANCES : VERDICTS;
    const kinds = [['', 'all'], ...Object.entries(words).filter(([letter]) => data.verdict.includes(letter)).map(([letter, word]) => [letter, word[1]])];
    const verdict = choice(kinds, '', (value) => {
      this.kind = value;
      this.refresh();
    });
    this.sorting = choice(Object.entries(SORTED), this.by, (value) => this.sort(value));
    this.head = el('div', { class: 'pair heads', role: 'row', 'aria-rowindex': 1 });
    this.size = el('div', { class: 'size', role: 'rowgroup' });
    this.box = el('div', { class: data.distance ? 'pairs far' : data.exact ? 'pairs sure' : 'pairs', role: 'table', tabindex: 0, 'aria-label': 'Attackers and sensitive cells', 'aria-colcount': PAIR_COLUMNS.length },
      el('div', { role: 'rowgroup', class: 'sticky' }, this.head), this.size);
    const soon = once(() => this.draw());
    this.box.addEventListener('scroll', soon, { passive: true });
    new ResizeObserver(once(() => {
      this.window = null;
      this.draw();
    })).observe(this.box);
    this.element = el('div', { class: 'browser' },
      el('div', { class: 'controls' }, field('Find a cell or an attacker', this.input, 'find'), field('Sort by', this.sorting, 'sorting'),
        kinds.length > 2 ? field('Verdict', verdict) : null),
      plotLegend(data.distance, data.exact, data.cells.low.some((x) => x !== null) || data.cells.high.some((x) => x !== null)), this.said, this.box);
  }

  heads() {
    this.head.replaceChildren(...PAIR_COLUMNS.map(([name, title], i) => {
      const text = name === 'told' ? this.toldTitle() : title;
      const own = { class: 'col-' + name, role: 'columnheader', 'aria-colindex': i + 1 };
      if (!SORTED[name]) return el('div', own, el('span', { text }));
      const order = this.by === name ? (this.down ? 'descending' : 'ascending') : 'none';
      const mark = this.by === name ? (this.down ? ' ↓' : ' ↑') : '';
      return el('div', { ...own, 'aria-sort': order }, el('button', { type: 'button', class: 'sort', text: text + mark, onclick: () => this.sort(name) }));
    }));
  }

  toldTitle() {
    if (this.data.distance) return 'Published';
    return this.data.exact ? 'Feasibility interval' : 'Feasibility interval, at least';
  }

  sort(name) {
    this.down = this.by === name ? !this.down : false;
    this.by = name;
    this.sorting.value = name;
    this.refresh();
  }

  key(name) {
    const { data } = this;
    if (name === 'tight') return (i) => (data.tight[i] === null ? Infinity : data.tight[i]);
    if (name === 'true') return (i) => data.cells.true[data.cell[i]];
    if (name === 'verdict') return (i) => 'enp'.indexOf(data.verdict[i]);
    if (name === 'attacker') return (i) => data.attacker[i];
    return (i) => data.cells.number[data.cell[i]];
  }

  refresh() {
    const { data } = this;
    const words = this.input.value.toLowerCase().split(/\s+/).filter(Boolean);
    const has = (names) => words.map((word) => names.map((name) => name.includes(word)));
    const inCell = has(this.lower);
    const inAttacker = has(this.lowerAttackers);
    const out = [];
    for (let i = 0; i < this.n; i += 1) {
      if (this.kind && data.verdict[i] !== this.kind) continue;
      if (words.every((_, w) => inCell[w][data.cell[i]] || inAttacker[w][data.attacker[i]])) out.push(i);
    }
    const key = this.key(this.by);
    const sign = this.down ? -1 : 1;
    out.sort((a, b) => { const x = key(a); const y = key(b); return (x < y ? -sign : x > y ? sign : a - b); });
    this.shown = Int32Array.from(out);
    const all = data.all > this.n ? 'the ' + counted(this.n) + ' tightest of ' + many(data.all, 'pair') : many(this.n, 'pair');
    this.said.textContent = out.length === this.n ? all : out.length ? counted(out.length) + ' of ' + all : 'No pair matches.';
    this.heads();
    this.box.setAttribute('aria-rowcount', out.length + 1);
    this.box.scrollTop = 0;
    this.window = null;
    this.draw();
  }

  find(text) {
    this.input.value = text;
    this.refresh();
    this.element.scrollIntoView({ block: 'start' });
    this.input.focus({ preventScroll: true });
  }

  // Of the table's own number of a cell: how many attackers, and the tightest of them.
  ofCell(table, cell) {
    const number = this.places[table] ? this.places[table].get(cell) : undefined;
    if (number === undefined) return null;
    let count = 0;
    let tight = Infinity;
    for (let i = 0; i < this.n; i += 1) {
      if (this.data.cell[i] !== number) continue;
      count += 1;
      if (this.data.tight[i] !== null) tight = Math.min(tight, this.data.tight[i]);
    }
    return { count, tightest: this.times(tight) };
  }

  times(x) {
    if (x === null || !Number.isFinite(x)) return 'any multiple';
    return figure(Math.floor(x * 100 + 1e-6) / 100, 2) + '×';
  }

  draw() {
    const height = parseFloat(getComputedStyle(this.box).getPropertyValue('--pair')) || 44;
    const top = Math.max(Math.floor(this.box.scrollTop / height) - 4, 0);
    const end = Math.min(top + Math.ceil(this.box.clientHeight / height) + 8, this.shown.length);
    if (this.window && this.window[0] === top && this.window[1] === end && this.window[2] === height) return;
    if (!this.window || this.window[2] !== height) {
      this.size.replaceChildren();
      this.rows.clear();
      this.size.style.height = this.shown.length * height + 'px';
    }
    this.window = [top, end, height];
    for (const [i, row] of this.rows) {
      if (i < top || i >= end) {
        row.remove();
        this.rows.delete(i);
      }
    }
    const parts = document.createDocumentFragment();
    for (let i = top; i < end; i += 1) {
      if (this.rows.has(i)) continue;
      const row = this.row(i);
      row.style.transform = 'translateY(' + i * height + 'px)';
      this.rows.set(i, row);
      parts.append(row);
    }
    this.size.append(parts);
  }

  pair(i) {
    const { data } = this;
    const c = data.cell[i];
    const p = {
      cell: this.names[c], short: this.short[c], attacker: data.attackers[data.attacker[i]], true: data.cells.true[c], value: data.cells.value[c],
      lpl: data.lpl[i], upl: data.upl[i], spl: data.spl[i], verdict: data.verdict[i],
      low: data.low ? data.low[i] : null, high: data.high ? data.high[i] : null,
      publishedLow: data.cells.low[c], publishedHigh: data.cells.high[c], tight: data.tight[i],
    };
    const write = (x) => figure(x, data.decimals);
    p.needed = p.lpl || p.upl ? rangeText(p.true - p.lpl, p.true + p.upl, write) : '';
    if (data.distance) p.needed = [p.lpl ? '≤ ' + write(p.true - p.lpl) : '', p.upl ? '≥ ' + write(p.true + p.upl) : ''].filter(Boolean).join(' or ');
    if (p.spl && !data.distance) p.needed += (p.needed ? ', ' : '') + 'width ' + write(p.spl);
    p.told = data.distance ? write(p.value) : rangeText(p.low, p.high, write);
    const how = data.distance || data.exact ? '' : proved(data.lowIs[i], data.highIs[i]);
    p.text = 'True value ' + write(p.true) + ', needed ' + p.needed + ', '
      + (data.distance ? 'published ' : 'feasibility interval ' + how) + p.told + ': ' + (data.distance ? DISTANCES : VERDICTS)[p.verdict][1];
    p.how = how;
    return p;
  }

  row(i) {
    const { data } = this;
    const p = this.pair(this.shown[i]);
    const [mark, word, kind] = (data.distance ? DISTANCES : VERDICTS)[p.verdict];
    const cell = (name, ...content) => el('div', { class: 'col-' + name, role: 'cell', 'aria-colindex': PAIR_COLUMNS.findIndex((c) => c[0] === name) + 1 }, ...content);
    return el('div', { class: 'pair', role: 'row', 'aria-rowindex': i + 2 },
      cell('cell', el('bdi', { text: p.short, title: p.cell })),
      cell('attacker', el('bdi', { text: p.attacker, title: p.attacker })),
      cell('true', figure(p.true, data.decimals)),
      cell('needed', p.needed),
      cell('told', p.how && p.how !== 'at least ' ? el('span', { class: 'how', text: p.how }) : null, p.told),
      cell('plot', plot(p, data.distance)),
      cell('tight', this.times(p.tight)),
      cell('verdict', el('span', { class: 'verdict small ' + kind }, el('span', { class: 'mark', 'aria-hidden': 'true', text: mark }), el('span', { class: 'word', text: word }))));
  }
}
