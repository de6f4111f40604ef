// Tables and plots are made when they come near the screen: a page with many of them opens at once.
const data = JSON.parse(document.getElementById('data').textContent);
const parts = [];
const lists = new Map();

function pairsOf(number) {
  const block = data.blocks[number];
  if (!block.pairs) return null;
  if (!lists.has(number)) lists.set(number, new PairList(block.pairs, block.tables.map((table) => tableCells(table))));
  return lists.get(number);
}

// Enough of a table to name its cells, without its figures.
function tableCells(table) {
  const dimensions = (table.dims || []).map((i) => data.dimensions[i]);
  const strides = dimensions.map((_, d) => dimensions.slice(d + 1).reduce((p, x) => p * x.codes.length, 1));
  function said(cell, write) {
    if (table.numbers) return 'cell ' + table.numbers[cell];
    return dimensions.map((x, d) => x.name + ' ' + write(x, Math.floor(cell / strides[d]) % x.codes.length)).join(', ');
  }
  return { label: (cell) => said(cell, named), codes: (cell) => said(cell, (x, code) => x.codes[code]) };
}

function build(place) {
  const section = place.closest('[data-block]');
  const number = Number(section.dataset.block);
  let result;
  if (place.dataset.fill === 'pairs') {
    result = pairsOf(number);
  } else {
    const lazily = data.blocks[number].pairs ? { ofCell: (t, c) => pairsOf(number).ofCell(t, c), find: (text) => findPairs(number, text) } : null;
    result = new TableBrowser(data.blocks[number], Number(section.dataset.table), data.dimensions, lazily);
  }
  place.append(result.element);
  if (result.grid) result.grid.renew();
  else result.draw();
  parts.push({ place, made: result });
}

function findPairs(number, text) {
  const place = document.querySelector('[data-block="' + number + '"] [data-fill="pairs"]');
  make(place);
  pairsOf(number).find(text);
}

function make(place) {
  if (place.dataset.made) return;
  place.dataset.made = 'yes';
  watching.unobserve(place);
  build(place);
}

const watching = new IntersectionObserver((seen) => {
  for (const one of seen) if (one.isIntersecting) make(one.target);
}, { rootMargin: '600px' });
for (const place of document.querySelectorAll('.place')) watching.observe(place);
window.addEventListener('beforeprint', () => document.querySelectorAll('.place').forEach(make));
preparePaper(parts);
