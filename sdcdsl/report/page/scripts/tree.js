// A code and what it is called, where the policy says that.
function named(dimension, code) {
  const label = dimension.labels ? dimension.labels[code] : '';
  return label && label !== dimension.codes[code] ? dimension.codes[code] + ' ' + label : dimension.codes[code];
}

// Axes of a table: what stands in its rows, or its columns. `shown` are the nodes that are not folded away.

class TreeAxis {
  constructor(dimension, tree) {
    this.dimension = dimension;
    this.codes = tree.code;
    this.parent = tree.parent;
    const n = tree.code.length;
    this.size = n;
    this.depth = new Uint16Array(n);
    this.end = new Int32Array(n); // just behind the last node below this one
    this.nodeOf = new Int32Array(dimension.codes.length).fill(-1);
    this.folded = new Uint8Array(n);
    this.place = new Int32Array(n); // among its siblings
    this.siblings = new Int32Array(n);
    for (let i = 0; i < n; i += 1) {
      this.depth[i] = tree.parent[i] < 0 ? 0 : this.depth[tree.parent[i]] + 1;
      this.nodeOf[tree.code[i]] = i;
    }
    for (let i = n - 1; i >= 0; i -= 1) {
      this.end[i] = Math.max(this.end[i], i + 1);
      const above = tree.parent[i];
      if (above >= 0) this.end[above] = Math.max(this.end[above], this.end[i]);
    }
    const count = new Int32Array(n + 1);
    for (let i = 0; i < n; i += 1) this.place[i] = count[tree.parent[i] + 1] += 1;
    for (let i = 0; i < n; i += 1) this.siblings[i] = count[tree.parent[i] + 1];
    this.deepest = this.depth.reduce((a, b) => Math.max(a, b), 0);
    this.keep = null;
    this.refresh();
  }

  label(node) { return named(this.dimension, this.codes[node]); }
  level(node) { return this.depth[node] + 1; }
  hasChildren(node) { return this.end[node] > node + 1; }
  isFolded(node) { return this.folded[node] === 1; }

  refresh() {
    const out = [];
    for (let i = 0; i < this.size;) {
      if (!this.keep || this.keep[i]) out.push(i);
      i = this.folded[i] ? this.end[i] : i + 1;
    }
    this.shown = Int32Array.from(out);
  }

  toggle(node, folded = !this.isFolded(node)) {
    if (!this.hasChildren(node)) return;
    this.folded[node] = folded ? 1 : 0;
    this.refresh();
  }

  // 0 folds everything, 1 leaves the first level below the total, and so on.
  foldFrom(depth) {
    for (let i = 0; i < this.size; i += 1) this.folded[i] = this.hasChildren(i) && this.depth[i] >= depth ? 1 : 0;
    this.refresh();
  }

  reveal(node) {
    for (let i = this.parent[node]; i >= 0; i = this.parent[i]) this.folded[i] = 0;
    this.refresh();
  }

  // Rows without a match go, unless a match lies below them; nothing that matches stays folded away.
  filter(matches) {
    this.keep = null;
    if (matches) {
      this.keep = Uint8Array.from(matches);
      for (let i = this.size - 1; i >= 0; i -= 1) {
        if (this.keep[i] && this.parent[i] >= 0) {
          this.keep[this.parent[i]] = 1;
          this.folded[this.parent[i]] = 0;
        }
      }
    }
    this.refresh();
  }

  parentOf(node) { return this.parent[node]; }
}

// Cells that have numbers and no codes: a list.
class ListAxis {
  constructor(numbers) {
    this.numbers = numbers;
    this.size = numbers.length;
    this.deepest = 0;
    this.keep = null;
    this.refresh();
  }

  label(node) { return 'cell ' + this.numbers[node]; }
  level() { return 1; }
  hasChildren() { return false; }
  isFolded() { return false; }
  toggle() {}
  foldFrom() {}
  reveal() {}
  parentOf() { return -1; }

  filter(matches) {
    this.keep = matches;
    this.refresh();
  }

  refresh() {
    const n = this.size;
    const out = new Int32Array(n);
    let k = 0;
    for (let i = 0; i < n; i += 1) if (!this.keep || this.keep[i]) out[k++] = i;
    this.shown = out.subarray(0, k);
  }
}

// What is said of each cell, one column each, where a table has no second dimension.
class PropertyAxis extends ListAxis {
  constructor(properties) {
    super(properties.map((_, i) => i));
    this.properties = properties;
  }

  label(node) { return this.properties[node].label; }
}

function positionIn(shown, node) {
  let low = 0;
  let high = shown.length - 1;
  while (low <= high) {
    const middle = (low + high) >> 1;
    if (shown[middle] === node) return middle;
    if (shown[middle] < node) low = middle + 1;
    else high = middle - 1;
  }
  return -1;
}
