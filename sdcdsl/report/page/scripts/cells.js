// The figures of one table, as columns over its cells.
const KINDS = {
  '.': { word: 'published', mark: '' },
  x: { word: 'hidden', mark: '×' },
  i: { word: 'interval', mark: '↔' },
  v: { word: 'changed', mark: '≈' },
  a: { word: 'adjusted', mark: '~' },
};

function dense(n, few) {
  const out = new Float64Array(n).fill(NaN);
  few.at.forEach((at, i) => { out[at] = few.v[i] === null ? NaN : few.v[i]; });
  return out;
}

class Cells {
  constructor(data, dimensions) {
    this.data = data;
    this.n = data.size;
    this.status = data.status;
    this.value = Float64Array.from(data.value, (x) => (x === null ? NaN : x));
    this.low = dense(this.n, data.low);
    this.high = dense(this.n, data.high);
    this.ranged = new Uint8Array(this.n);
    for (const at of data.low.at) this.ranged[at] = 1;
    this.stacked = data.low.at.some((at) => Number.isNaN(this.value[at])); // ranges stand in two lines
    this.internal = data.true !== undefined;
    this.sensitive = new Uint8Array(this.n);
    if (this.internal) {
      this.truth = this.value.slice();
      data.true.at.forEach((at, i) => { this.truth[at] = data.true.v[i] === null ? NaN : data.true.v[i]; });
      for (const at of data.sensitive) this.sensitive[at] = 1;
    }
    this.dimensions = (data.dims || []).map((i) => dimensions[i]);
    this.strides = this.dimensions.map((_, d) => this.dimensions.slice(d + 1).reduce((p, x) => p * x.codes.length, 1));
    this.counts = {};
    for (let i = 0; i < this.n; i += 1) this.counts[this.status[i]] = (this.counts[this.status[i]] || 0) + 1;
  }

  codeAt(cell, d) {
    return Math.floor(cell / this.strides[d]) % this.dimensions[d].codes.length;
  }

  label(cell) {
    if (this.data.numbers) return 'cell ' + this.data.numbers[cell];
    return this.dimensions.map((x, d) => x.name + ' ' + named(x, this.codeAt(cell, d))).join(', ');
  }

  // What the release says of the cell.
  published(cell, write) {
    if (!Number.isNaN(this.value[cell])) return (write || ((x) => figure(x, this.data.decimals)))(this.value[cell]);
    return this.extent(cell, write) || KINDS[this.status[cell]].mark;
  }

  // The range in which it lies, where one is published; beside a changed figure, how far that may be off.
  extent(cell, write = (x) => figure(x, this.data.enddecimals)) {
    return this.ranged[cell] ? rangeText(this.low[cell], this.high[cell], write) : '';
  }

  true(cell) { return figure(this.truth[cell], this.data.truedecimals); }

  difference(cell) {
    if (Number.isNaN(this.value[cell])) return KINDS[this.status[cell]].mark;
    const off = this.value[cell] - this.truth[cell];
    if (off === 0) return '0';
    const text = figure(off, Math.max(this.data.decimals, this.data.truedecimals));
    return off > 0 ? '+' + text : text;
  }

  isTouched(cell) { return this.status[cell] !== '.'; }

  matches(cell, kind) {
    return kind === 'sensitive' ? this.sensitive[cell] === 1 : this.status[cell] === kind;
  }

  // How wide the widest text of a view is, in characters, without writing them all.
  widest(view) {
    const figures = (columns, decimals) => {
      let most = 0;
      let least = 0;
      for (const column of columns) {
        for (const x of column) {
          if (x > most) most = x;
          else if (x < least) least = x;
        }
      }
      return Math.max(figure(most, decimals).length, figure(least, decimals).length);
    };
    const one = figures([this.value], this.data.decimals) + (this.counts.v || this.counts.a ? 2 : 1);
    const ends = this.stacked ? figures([this.low, this.high], this.data.enddecimals) + 4 : 0;
    const own = view === 'published' ? 0 : figures([this.truth], this.data.truedecimals) + 1;
    if (view === 'true') return own;
    return view === 'both' ? Math.max(one, ends) + own : Math.max(one, ends);
  }
}
