// From what somebody types to places in the table: one word finds codes, several find cells.
const MOST_PLACES = 5000;

function places(cells, text) {
  const words = text.toLowerCase().split(/[\s,;×]+/).filter(Boolean);
  if (!words.length) return [];
  if (cells.data.numbers) return numbered(cells.data.numbers, words);
  const found = cells.dimensions.map((dimension) => words.map((word) => codesWith(dimension, word)));
  // A code may have a space in it.
  const whole = words.length > 1 ? cells.dimensions.map((dimension) => codesWith(dimension, text.trim().toLowerCase())) : [];
  const codes = (lists) => lists.flatMap((list, d) => list.map((code) => ({ dimension: d, code })));
  if (words.length === 1) return codes(found.map((lists) => lists[0])).slice(0, MOST_PLACES);
  return [...codes(whole), ...crossings(cells, words, found)].slice(0, MOST_PLACES);
}

// The same word first, then those that begin with it, then the rest.
function codesWith(dimension, word) {
  const rank = (code) => (code === word ? 0 : code.startsWith(word) ? 1 : 2);
  return dimension.codes
    .map((code, i) => [code.toLowerCase(), i])
    .filter(([code, i]) => code.includes(word) || named(dimension, i).toLowerCase().includes(word))
    .sort((a, b) => rank(a[0]) - rank(b[0]) || a[1] - b[1])
    .map(([, i]) => i);
}

function numbered(numbers, words) {
  const out = [];
  const wanted = words.filter((word) => word !== 'cell');
  for (const word of wanted) {
    numbers.forEach((number, i) => {
      if (String(number) === word) out.unshift({ cell: i });
      else if (out.length < MOST_PLACES && String(number).startsWith(word)) out.push({ cell: i });
    });
  }
  return out;
}

// Every word names a code of another dimension; dimensions without a word stand at their total.
function crossings(cells, words, found) {
  const out = new Set();
  const totals = cells.dimensions.map((dimension) => dimension.trees[0].code[0]);
  const assign = (w, chosen) => {
    if (out.size >= MOST_PLACES) return;
    if (w === words.length) {
      out.add(chosen.reduce((sum, code, d) => sum + (code < 0 ? totals[d] : code) * cells.strides[d], 0));
      return;
    }
    for (let d = 0; d < cells.dimensions.length; d += 1) {
      if (chosen[d] >= 0) continue;
      for (const code of found[d][w].slice(0, 200)) {
        const next = chosen.slice();
        next[d] = code;
        assign(w + 1, next);
      }
    }
  };
  if (words.length <= cells.dimensions.length) assign(0, cells.dimensions.map(() => -1));
  return Array.from(out, (cell) => ({ cell }));
}

class Finder {
  constructor(browser) {
    this.browser = browser;
    this.found = [];
    this.at = -1;
    this.input = el('input', { type: 'search', autocomplete: 'off', spellcheck: 'false', placeholder: browser.hint() });
    this.said = el('output', { class: 'said', 'aria-live': 'polite' });
    const next = later(() => this.search(), 120);
    this.input.addEventListener('input', next);
    this.input.addEventListener('keydown', (event) => {
      if (event.key === 'Enter') {
        event.preventDefault();
        if (this.asked !== this.input.value) this.search();
        else this.step(event.shiftKey ? -1 : 1);
      } else if (event.key === 'Escape' && this.input.value) {
        event.preventDefault();
        this.input.value = '';
        this.search();
      }
    });
    const button = (text, label, step) => el('button', { type: 'button', class: 'quiet', 'aria-label': label, text, onclick: () => this.step(step) });
    this.field = field('Find a code or a cell', this.input, 'find');
    this.field.append(button('‹', 'previous match', -1), button('›', 'next match', 1), this.said);
  }

  search() {
    this.asked = this.input.value;
    this.found = places(this.browser.cells, this.asked);
    this.at = -1;
    if (this.found.length) {
      this.step(1);
      return;
    }
    this.said.textContent = this.asked.trim() ? 'Nothing matches “' + this.asked.trim() + '”.' : '';
    this.browser.grid.unmark();
  }

  step(by) {
    const n = this.found.length;
    if (!n) return;
    this.at = (this.at + by + n) % n;
    this.browser.showPlace(this.found[this.at]);
    const most = n === MOST_PLACES ? 'more than ' : '';
    this.said.textContent = counted(this.at + 1) + ' of ' + most + counted(n);
  }
}
