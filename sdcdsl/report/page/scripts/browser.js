// One table to walk through: which dimension stands in the rows, which in the columns, and where the others stand.
const FEW_ROWS = 60;

// How wide a digit is on this screen.
function letter() {
  if (!letter.width) {
    const pen = document.createElement('canvas').getContext('2d');
    pen.font = '600 14.72px ' + getComputedStyle(document.body).fontFamily;
    letter.width = Math.max(pen.measureText('0000000000').width / 10, 6);
  }
  return letter.width;
}

class TableBrowser {
  constructor(block, number, dimensions, pairs) {
    this.block = block;
    this.number = number;
    this.cells = new Cells(block.tables[number], dimensions);
    this.pairs = pairs;
    this.tree = this.cells.dimensions.length > 0;
    this.view = 'published';
    this.kind = '';
    this.at = this.cells.dimensions.map((dimension) => dimension.trees[0].code[0]);
    this.axes = new Map();
    this.grid = new Grid(this, 'Table ' + this.cells.data.name);
    this.finder = new Finder(this);
    this.details = new Details(this);
    this.said = el('output', { class: 'said', 'aria-live': 'polite' });
    this.controls = el('div', { class: 'controls' });
    this.folds = el('div', { class: 'folds' },
      el('button', { type: 'button', class: 'quiet', text: 'Unfold all', onclick: () => this.foldAll(Infinity) }),
      el('button', { type: 'button', class: 'quiet', text: 'Fold all', onclick: () => this.foldAll(0) }));
    this.element = el('div', { class: 'browser' }, this.controls,
      el('div', { class: 'second' }, statusChips(this.cells, (kind) => this.filter(kind)), this.folds),
      this.said, el('div', { class: 'beside' }, this.grid.box, this.details.element));
    this.arrange(0, this.cells.dimensions.length > 1 ? 1 : -1);
  }

  hint() {
    if (!this.tree) return 'number of a cell';
    return this.cells.dimensions.slice(0, 2).map((x) => x.codes[x.codes.length - 1]).join(' ').slice(0, 24);
  }

  // ---- axes --------------------------------------------------------------------------------------------

  axis(dimension, tree) {
    const key = dimension + ':' + tree;
    if (!this.axes.has(key)) {
      const one = this.cells.dimensions[dimension];
      const made = new TreeAxis(one, one.trees[tree]);
      if (made.size > FEW_ROWS) made.foldFrom(1);
      this.axes.set(key, made);
    }
    return this.axes.get(key);
  }

  arrange(row, column, rowTree = 0, columnTree = 0) {
    this.arranged = { row, column, rowTree, columnTree };
    if (!this.tree) this.rowAxis = new ListAxis(this.cells.data.numbers);
    else this.rowAxis = this.axis(row, rowTree);
    this.columnAxis = column >= 0 ? this.axis(column, columnTree) : new PropertyAxis(this.properties());
    this.writeControls();
    this.filter(this.kind);
  }

  properties() {
    const { cells } = this;
    const out = [
      { label: 'published', write: (cell) => cells.published(cell) },
      { label: 'status', write: (cell) => KINDS[cells.status[cell]].word },
    ];
    if (cells.counts.v && cells.data.low.at.length) out.push({ label: 'lies in', write: (cell) => cells.extent(cell) });
    if (cells.internal) {
      out.push({ label: 'true value', write: (cell) => cells.true(cell) });
      out.push({ label: 'difference', write: (cell) => cells.difference(cell) });
    }
    return out;
  }

  cellOf(rowNode, columnNode) {
    const { cells, arranged } = this;
    if (!this.tree) return rowNode;
    let cell = 0;
    for (let d = 0; d < this.at.length; d += 1) {
      let code = this.at[d];
      if (d === arranged.row) code = this.rowAxis.codes[rowNode];
      else if (d === arranged.column) code = this.columnAxis.codes[columnNode];
      cell += code * cells.strides[d];
    }
    return cell;
  }

  // ---- controls ----------------------------------------------------------------------------------------

  writeControls() {
    const { cells, arranged } = this;
    const parts = [];
    const names = cells.dimensions.flatMap((dimension, d) => dimension.trees.map((tree, t) => [d + ':' + t, dimension.name + (tree.name ? ' · ' + tree.name : '')]));
    if (cells.dimensions.length > 1) {
      const pick = (label, chosen, act) => field(label, choice(names, chosen, (value) => act(...value.split(':').map(Number))));
      parts.push(pick('Rows', arranged.row + ':' + arranged.rowTree, (d, t) => (d === arranged.column
        ? this.arrange(d, arranged.row, t, arranged.rowTree) : this.arrange(d, arranged.column, t, arranged.columnTree))));
      parts.push(pick('Columns', arranged.column + ':' + arranged.columnTree, (d, t) => (d === arranged.row
        ? this.arrange(arranged.column, d, arranged.columnTree, t) : this.arrange(arranged.row, d, arranged.rowTree, t))));
    } else if (names.length > 1) {
      parts.push(field('Rows', choice(names, '0:' + arranged.rowTree, (value) => this.arrange(0, -1, Number(value.split(':')[1])))));
    }
    cells.dimensions.forEach((dimension, d) => {
      if (d === arranged.row || d === arranged.column) return;
      const axis = this.axis(d, 0);
      const options = axis.codes.map((code, node) => [String(code), '\u2003'.repeat(axis.depth[node]) + named(dimension, code)]);
      const select = choice(options, String(this.at[d]), (value) => {
        this.at[d] = Number(value);
        this.filter(this.kind);
      });
      parts.push(field(dimension.name, select));
    });
    if (cells.internal && arranged.column >= 0) {
      const views = [['published', 'published'], ['both', 'published and true'], ['true', 'true values'], ['difference', 'published − true']];
      parts.push(field('Show', choice(views, this.view, (value) => {
        this.view = value;
        this.grid.renew();
      })));
    }
    parts.push(this.finder.field);
    this.folds.hidden = !(this.rowAxis.deepest > 0 || this.columnAxis.deepest > 0);
    this.controls.replaceChildren(...parts);
  }

  foldAll(depth) {
    this.rowAxis.foldFrom(depth);
    this.columnAxis.foldFrom(depth === 0 ? 1 : depth);
    this.grid.renew();
  }

  filter(kind) {
    this.kind = kind;
    const found = kind ? matching(this, kind) : null;
    this.rowAxis.filter(found ? found.rows : null);
    this.columnAxis.filter(found ? found.columns : null);
    this.said.textContent = '';
    if (found) {
      const word = kind === 'sensitive' ? 'sensitive' : KINDS[kind].word;
      const total = kind === 'sensitive' ? this.cells.data.sensitive.length : this.cells.counts[kind];
      const rest = total > found.count ? ', ' + counted(total - found.count) + ' more elsewhere in the table' : '';
      this.said.textContent = many(found.count, 'cell') + ' ' + word + ' here' + rest + '.';
    }
    this.grid.marked = null;
    this.grid.renew();
  }

  // ---- jumping ------------------------------------------------------------------------------------------

  showPlace(place) {
    const { arranged, cells } = this;
    if (this.kind) {
      this.element.querySelector('.chip').click(); // what is looked for may be filtered away
    }
    let row = -1;
    let column = -1;
    const codes = place.cell === undefined ? { [place.dimension]: place.code }
      : Object.fromEntries(this.at.map((_, d) => [d, cells.codeAt(place.cell, d)]));
    if (!this.tree) row = place.cell;
    let moved = false;
    for (const [name, code] of Object.entries(codes)) {
      const d = Number(name);
      if (d === arranged.row) row = this.rowAxis.nodeOf[code];
      else if (d === arranged.column) column = this.columnAxis.nodeOf[code];
      else if (this.at[d] !== code) {
        this.at[d] = code;
        moved = true;
      }
    }
    if (moved) this.writeSelectors();
    if (row >= 0) this.rowAxis.reveal(row);
    if (column >= 0) this.columnAxis.reveal(column);
    this.grid.renew();
    const i = row >= 0 ? positionIn(this.rowAxis.shown, row) : -1;
    const j = column >= 0 ? positionIn(this.columnAxis.shown, column) : -1;
    this.grid.point(i, j);
    if (place.cell !== undefined) this.details.show(place.cell);
  }

  // Like `writeControls`, but who types in the search field goes on typing.
  writeSelectors() {
    const typing = document.activeElement === this.finder.input;
    this.writeControls();
    if (typing) this.finder.input.focus();
  }

  // ---- what the grid asks for --------------------------------------------------------------------------------

  rowCount() { return this.rowAxis.shown.length; }
  columnCount() { return this.columnAxis.shown.length; }
  rowHeight() { return this.cells.stacked ? 46 : 32; }

  headWidth() {
    const { dimension } = this.rowAxis;
    const names = this.tree ? dimension.codes.map((_, code) => named(dimension, code)) : ['cell 000000'];
    const longest = names.reduce((most, name) => Math.max(most, name.length), 0);
    const wish = 44 + this.rowAxis.deepest * 16 + Math.min(longest, 40) * letter();
    return Math.round(Math.max(112, Math.min(wish, 340, this.element.clientWidth * 0.42 || 340)));
  }

  columnWidth() {
    this.wide = this.wide || {};
    if (!this.wide[this.view]) {
      const figures = this.cells.widest(this.view === 'difference' ? 'both' : this.view);
      const heads = this.columnAxis instanceof PropertyAxis ? 12 : 7;
      this.wide[this.view] = Math.max(figures, heads) * letter() + 30;
    }
    const least = this.columnAxis.dimension ? this.columnAxis.dimension.codes.reduce((m, c) => Math.max(m, Math.min(c.length, 16)), 0) * letter() + 34 : 0;
    return Math.round(Math.max(this.wide[this.view], least));
  }

  cornerText() {
    if (!this.tree) return 'cell';
    const names = [this.arranged.row, this.arranged.column].filter((d) => d >= 0).map((d) => this.cells.dimensions[d].name);
    return names.join(' \\ ');
  }

  writeRow(row, head, i) {
    const axis = this.rowAxis;
    const node = axis.shown[i];
    if (this.tree) {
      row.setAttribute('aria-level', axis.level(node));
      row.setAttribute('aria-setsize', axis.siblings[node]);
      row.setAttribute('aria-posinset', axis.place[node]);
      row.classList.add('level-' + Math.min(axis.level(node), 6));
      if (axis.hasChildren(node)) row.setAttribute('aria-expanded', axis.isFolded(node) ? 'false' : 'true');
      head.style.paddingLeft = 8 + axis.depth[node] * 16 + 'px';
    }
    head.append(foldMark(axis, node), el('bdi', { class: 'code', text: axis.label(node) }));
    head.title = axis.label(node);
  }

  writeColumn(head, j) {
    const axis = this.columnAxis;
    const node = axis.shown[j];
    if (axis.hasChildren(node)) head.setAttribute('aria-expanded', axis.isFolded(node) ? 'false' : 'true');
    if (axis.depth) head.classList.add('level-' + Math.min(axis.level(node), 6));
    head.append(foldMark(axis, node), el('bdi', { class: 'code', text: axis.label(node) }));
    head.title = axis.label(node);
  }

  writeCell(element, i, j) {
    const { cells } = this;
    const rowNode = this.rowAxis.shown[i];
    const columnNode = this.columnAxis.shown[j];
    const cell = this.cellOf(rowNode, columnNode);
    const kind = KINDS[cells.status[cell]].word;
    element.classList.add('kind-' + kind);
    if (this.kind && !cells.matches(cell, this.kind)) element.classList.add('dim');
    if (this.columnAxis instanceof PropertyAxis) {
      element.append(el('span', { class: 'figure', text: this.columnAxis.properties[columnNode].write(cell) }));
      if (j === 0 && cells.sensitive[cell]) element.prepend(el('span', { class: 'dot', text: '●', role: 'img', 'aria-label': 'sensitive' }));
      return;
    }
    this.writeFigure(element, cell, kind);
  }

  writeFigure(element, cell, kind) {
    const { cells, view } = this;
    if (cells.sensitive[cell]) element.append(el('span', { class: 'dot', text: '●', role: 'img', 'aria-label': 'sensitive' }));
    const touched = cells.isTouched(cell);
    if (view === 'true') {
      element.append(el('span', { class: 'figure', text: cells.true(cell) }));
      return;
    }
    if (view === 'difference') {
      element.append(el('span', { class: 'figure', text: touched ? cells.difference(cell) : '·' }));
      return;
    }
    const text = cells.published(cell);
    if (touched && text !== KINDS[cells.status[cell]].mark) {
      element.append(el('span', { class: 'mark', text: KINDS[cells.status[cell]].mark, role: 'img', 'aria-label': kind }));
      element.append(stacked(cells, cell, text));
    } else if (touched) {
      element.append(el('span', { class: 'figure mark', text, role: 'img', 'aria-label': kind }));
    } else {
      element.append(el('span', { class: 'figure', text }));
    }
    if (view === 'both' && touched) element.append(el('span', { class: 'truth', text: cells.true(cell), 'aria-label': 'true value ' + cells.true(cell), role: 'img' }));
  }

  toggleRow(i) {
    const node = this.rowAxis.shown[i];
    if (!this.rowAxis.hasChildren(node)) return false;
    this.rowAxis.toggle(node);
    return true;
  }

  toggleColumn(j) {
    const node = this.columnAxis.shown[j];
    if (!this.columnAxis.hasChildren(node)) return false;
    this.columnAxis.toggle(node);
    return true;
  }

  rowFolds(i) {
    const node = this.rowAxis.shown[i];
    if (!this.rowAxis.hasChildren(node)) return 'leaf';
    return this.rowAxis.isFolded(node) ? 'folded' : 'open';
  }

  rowAbove(i) {
    const parent = this.rowAxis.parentOf(this.rowAxis.shown[i]);
    return parent < 0 ? -1 : positionIn(this.rowAxis.shown, parent);
  }

  visited(i, j) {
    if (j < 0) return;
    this.details.show(this.cellOf(this.rowAxis.shown[i], this.columnAxis.shown[j]));
  }
}

// A range in two lines; where one side is open, in one.
function stacked(cells, cell, text) {
  const [low, high] = text.split(' – ');
  if (high === undefined || !Number.isNaN(cells.value[cell])) return el('span', { class: 'figure', text });
  return el('span', { class: 'figure range' }, el('span', { text: low + ' –' }), el('span', { text: high }));
}

function foldMark(axis, node) {
  if (!axis.hasChildren(node)) return el('span', { class: 'nofold', 'aria-hidden': 'true' });
  return el('span', { class: 'fold', 'aria-hidden': 'true', text: axis.isFolded(node) ? '▸' : '▾' });
}
