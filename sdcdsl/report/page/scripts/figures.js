// Figures as people read them.
const GAP = '\u202f';
const MINUS = '\u2212';

function figure(x, decimals) {
  if (x === null || Number.isNaN(x)) return '–';
  if (!Number.isFinite(x)) return x > 0 ? '∞' : MINUS + '∞';
  const [whole, rest] = Math.abs(x).toFixed(decimals).split('.');
  const grouped = whole.length > 3 ? whole.replace(/\B(?=(\d{3})+$)/g, GAP) : whole;
  const text = rest ? grouped + '.' + rest : grouped;
  return x < 0 && /[1-9]/.test(text) ? MINUS + text : text;
}

// All digits, for the one cell somebody looks at.
function fullFigure(x) {
  if (x === null || !Number.isFinite(x)) return figure(x, 0);
  const text = String(x);
  if (text.includes('e')) return text.replace('-', MINUS);
  return figure(x, Math.min((text.split('.')[1] || '').length, 12));
}

function rangeText(low, high, write) {
  const below = low === null || !Number.isFinite(low);
  const above = high === null || !Number.isFinite(high);
  if (below && above) return 'anything';
  if (below) return '≤ ' + write(high);
  if (above) return '≥ ' + write(low);
  return write(low) + ' – ' + write(high);
}

function counted(n) {
  return figure(n, 0);
}

function many(n, noun, several) {
  return counted(n) + ' ' + (n === 1 ? noun : several || noun + 's');
}
