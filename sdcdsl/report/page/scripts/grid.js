// A grid of which only what is seen exists: rows and columns come and go as it is scrolled. It holds no figures itself;
// its model says how many rows and columns there are and writes one head or cell at a time.
const BEYOND_ROWS = 4;
const BEYOND_COLUMNS = 2;

class Grid {
  constructor(model, label) {
    this.model = model;
    this.rows = new Map();
    this.active = { row: 0, column: -1 };
    this.marked = null;
    this.corner = el('div', { class: 'head corner', role: 'columnheader', 'aria-colindex': 1 });
    this.top = el('div', { class: 'row top', role: 'row', 'aria-rowindex': 1 }, this.corner);
    this.size = el('div', { class: 'size', role: 'rowgroup' }, this.top);
    this.box = el('div', { class: 'grid', role: model.tree ? 'treegrid' : 'grid', 'aria-label': label, 'aria-readonly': 'true' }, this.size);
    const soon = once(() => this.draw());
    this.box.addEventListener('scroll', soon, { passive: true });
    this.box.addEventListener('click', (event) => this.clicked(event));
    this.box.addEventListener('keydown', (event) => this.pressed(event));
    this.box.addEventListener('focusin', (event) => this.focused(event));
    new ResizeObserver(soon).observe(this.box);
  }

  // Everything may be different now.
  renew() {
    const { model } = this;
    this.rowCount = model.rowCount();
    this.columnCount = model.columnCount();
    this.rowHeight = model.rowHeight();
    this.headWidth = model.headWidth();
    this.columnWidth = model.columnWidth();
    this.box.style.setProperty('--head', this.headWidth + 'px');
    this.box.style.setProperty('--column', this.columnWidth + 'px');
    this.box.style.setProperty('--row', this.rowHeight + 'px');
    this.size.style.height = (this.rowCount + 1) * this.rowHeight + 'px';
    this.size.style.width = this.headWidth + this.columnCount * this.columnWidth + 'px';
    this.box.setAttribute('aria-rowcount', this.rowCount + 1);
    this.box.setAttribute('aria-colcount', this.columnCount + 1);
    this.corner.textContent = model.cornerText();
    this.active.row = Math.min(this.active.row, this.rowCount - 1);
    this.active.column = Math.min(this.active.column, this.columnCount - 1);
    this.window = null;
    this.draw();
  }

  seen() {
    const { scrollTop, scrollLeft, clientHeight, clientWidth } = this.box;
    const row = Math.floor(scrollTop / this.rowHeight) - BEYOND_ROWS;
    const column = Math.floor(scrollLeft / this.columnWidth) - BEYOND_COLUMNS;
    const high = Math.ceil(clientHeight / this.rowHeight) + 2 * BEYOND_ROWS;
    const wide = Math.ceil(Math.max(clientWidth - this.headWidth, 1) / this.columnWidth) + 2 * BEYOND_COLUMNS;
    return {
      row: Math.max(row, 0),
      rowEnd: Math.min(Math.max(row, 0) + high, this.rowCount),
      column: Math.max(column, 0),
      columnEnd: Math.min(Math.max(column, 0) + wide, this.columnCount),
    };
  }

  draw() {
    const now = this.seen();
    const was = this.window;
    if (was && was.row === now.row && was.rowEnd === now.rowEnd && was.column === now.column && was.columnEnd === now.columnEnd) return;
    const holds = this.box.contains(document.activeElement);
    const anew = !was || was.column !== now.column || was.columnEnd !== now.columnEnd;
    this.window = now;
    if (anew) this.drawTop(now);
    for (const [index, row] of this.rows) {
      const keep = holds && index === this.active.row && index < this.rowCount;
      if (anew || ((index < now.row || index >= now.rowEnd) && !keep)) {
        row.remove();
        this.rows.delete(index);
      }
    }
    const parts = document.createDocumentFragment();
    for (let i = now.row; i < now.rowEnd; i += 1) if (!this.rows.has(i)) parts.append(this.makeRow(i, now));
    if (holds && this.active.row >= 0 && !this.rows.has(this.active.row)) parts.append(this.makeRow(this.active.row, now));
    this.size.append(parts);
    this.tidyFocus();
    if (holds && !this.box.contains(document.activeElement)) this.element()?.focus({ preventScroll: true });
  }

  columns(now) {
    const out = [];
    for (let j = now.column; j < now.columnEnd; j += 1) out.push(j);
    const { column } = this.active;
    if (column >= 0 && (column < now.column || column >= now.columnEnd)) out.push(column);
    return out;
  }

  drawTop(now) {
    this.top.replaceChildren(this.corner);
    for (const j of this.columns(now)) {
      const head = el('div', { class: 'head column', role: 'columnheader', 'aria-colindex': j + 2, tabindex: -1, 'data-column': j });
      head.style.left = this.headWidth + j * this.columnWidth + 'px';
      this.model.writeColumn(head, j);
      this.top.append(head);
    }
  }

  makeRow(i, now) {
    const row = el('div', { class: 'row', role: 'row', 'aria-rowindex': i + 2, 'data-row': i });
    row.style.transform = 'translateY(' + (i + 1) * this.rowHeight + 'px)';
    const head = el('div', { class: 'head', role: 'rowheader', 'aria-colindex': 1, tabindex: -1, 'data-column': -1 });
    this.model.writeRow(row, head, i);
    row.append(head);
    for (const j of this.columns(now)) {
      const cell = el('div', { class: 'cell', role: 'gridcell', 'aria-colindex': j + 2, tabindex: -1, 'data-column': j });
      cell.style.left = this.headWidth + j * this.columnWidth + 'px';
      this.model.writeCell(cell, i, j);
      if (this.marked && this.isMarked(i, j)) cell.classList.add('found');
      row.append(cell);
    }
    if (this.marked && this.isMarked(i, -1)) head.classList.add('found');
    this.rows.set(i, row);
    return row;
  }

  isMarked(row, column) {
    const { marked } = this;
    if (marked.row >= 0 && marked.column >= 0) return marked.row === row && marked.column === column;
    return marked.row >= 0 ? marked.row === row : marked.column === column;
  }

  // ---- where one is ----------------------------------------------------------------------------------

  element() {
    const { row, column } = this.active;
    const line = row < 0 ? this.top : this.rows.get(row);
    return line ? line.querySelector('[data-column="' + column + '"]') : null;
  }

  // Exactly one element of the grid is reached by the tab key.
  tidyFocus() {
    for (const old of this.box.querySelectorAll('[tabindex="0"]')) old.tabIndex = -1;
    let here = this.element();
    if (!here) {
      this.active = { row: Math.min(this.window.row, this.rowCount - 1), column: -1 };
      here = this.element();
    }
    if (here) here.tabIndex = 0;
    this.box.tabIndex = this.rowCount ? -1 : 0;
  }

  focused(event) {
    const cell = event.target.closest('[data-column]');
    if (!cell) return;
    const line = cell.parentElement;
    this.active = { row: line === this.top ? -1 : Number(line.dataset.row), column: Number(cell.dataset.column) };
    this.tidyFocus();
    if (this.active.row >= 0) this.model.visited(this.active.row, this.active.column);
  }

  go(row, column) {
    row = Math.max(-1, Math.min(row, this.rowCount - 1));
    column = Math.max(row < 0 ? 0 : -1, Math.min(column, this.columnCount - 1));
    this.active = { row, column };
    this.bring(row, column);
    this.window = null;
    this.draw();
    this.element()?.focus({ preventScroll: true });
  }

  bring(row, column) {
    const { box } = this;
    if (row >= 0) {
      const top = row * this.rowHeight;
      const room = box.clientHeight - 2 * this.rowHeight;
      if (top < box.scrollTop) box.scrollTop = top;
      else if (top > box.scrollTop + room) box.scrollTop = top - room;
    }
    if (column >= 0) {
      const left = column * this.columnWidth;
      const room = box.clientWidth - this.headWidth - this.columnWidth;
      if (left < box.scrollLeft) box.scrollLeft = left;
      else if (left > box.scrollLeft + room) box.scrollLeft = left - Math.max(room, 0);
    }
  }

  // Brings a row, a column or a cell into sight and marks it, without taking the focus away from anybody.
  point(row, column) {
    this.marked = { row, column };
    this.active = { row: Math.max(row, 0), column };
    this.bring(row, column);
    this.window = null;
    this.draw();
  }

  unmark() {
    this.marked = null;
    this.window = null;
    this.draw();
  }

  // ---- what people do ----------------------------------------------------------------------------------

  clicked(event) {
    const cell = event.target.closest('[data-column]');
    if (!cell) return;
    const line = cell.parentElement;
    const row = line === this.top ? -1 : Number(line.dataset.row);
    const column = Number(cell.dataset.column);
    if (event.target.closest('.fold')) this.toggle(row, column);
    else cell.focus({ preventScroll: true });
  }

  toggle(row, column) {
    const changed = row < 0 ? this.model.toggleColumn(column) : column < 0 && this.model.toggleRow(row);
    if (!changed) return;
    this.renew();
    this.go(row, column);
  }

  pressed(event) {
    const { row, column } = this.active;
    const { key } = event;
    if (event.altKey || event.metaKey) return;
    const page = Math.max(Math.floor(this.box.clientHeight / this.rowHeight) - 2, 1);
    const steps = {
      ArrowDown: () => this.go(row + 1, column),
      ArrowUp: () => this.go(row - 1, column),
      ArrowRight: () => this.sideways(row, column, 1),
      ArrowLeft: () => this.sideways(row, column, -1),
      PageDown: () => this.go(row + page, column),
      PageUp: () => this.go(Math.max(row - page, 0), column),
      Home: () => this.go(event.ctrlKey ? 0 : row, -1),
      End: () => this.go(event.ctrlKey ? this.rowCount - 1 : row, this.columnCount - 1),
      Enter: () => this.toggle(row, column),
      ' ': () => this.toggle(row, column),
    };
    if (!steps[key]) return;
    event.preventDefault();
    steps[key]();
  }

  // On the head of a row, right unfolds and left folds, as in any tree.
  sideways(row, column, step) {
    const { model } = this;
    if (row >= 0 && column === -1 && model.tree) {
      const folds = model.rowFolds(row);
      if (step > 0 && folds === 'folded') return this.toggle(row, column);
      if (step < 0 && folds === 'open') return this.toggle(row, column);
      if (step < 0) {
        const above = model.rowAbove(row);
        if (above >= 0) this.go(above, -1);
        return undefined;
      }
    }
    return this.go(row, column + step);
  }
}
