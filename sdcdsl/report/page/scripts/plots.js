// One pair as a picture. Every pair has its own scale: the truth in the middle, the needed range between the same two
// lines in all of them, so that one glance down the column shows which bars do not reach.
const PLOT = { width: 260, height: 30, middle: 130, unit: 38, most: 3.2 };

function plotScale(pair) {
  const both = pair.spl > 0 ? pair.spl / 2 : Math.abs(pair.true) || 1;
  const below = pair.lpl > 0 ? pair.lpl : pair.upl > 0 ? pair.upl : both;
  const above = pair.upl > 0 ? pair.upl : pair.lpl > 0 ? pair.lpl : both;
  return (x) => {
    const off = x === null || x === undefined ? Infinity : x - pair.true;
    const steps = off < 0 ? off / below : off / above;
    return Math.max(-PLOT.most, Math.min(PLOT.most, steps));
  };
}

function at(steps) {
  return PLOT.middle + steps * PLOT.unit;
}

function bar(className, from, to, y, height) {
  return svg('rect', { class: className, x: at(from).toFixed(1), y, width: Math.max(at(to) - at(from), 1.5).toFixed(1), height });
}

function arrow(className, steps, y) {
  const x = at(steps);
  const d = steps < 0 ? -5 : 5;
  return svg('path', { class: className, d: 'M' + x + ' ' + (y - 4) + ' l' + d + ' 4 l' + -d + ' 4 z' });
}

function plot(pair, distance) {
  const scale = plotScale(pair);
  const picture = svg('svg', { class: 'plot', viewBox: '0 0 ' + PLOT.width + ' ' + PLOT.height, role: 'img', 'aria-label': pair.text });
  picture.append(svg('title', { text: pair.text }));
  const needed = [pair.lpl > 0 ? -1 : 0, pair.upl > 0 ? 1 : 0];
  if (needed[0] === 0 && needed[1] === 0) needed.splice(0, 2, -1, 1); // only the width counts
  picture.append(bar(distance ? 'kept' : 'needed', needed[0], needed[1], 3, 24));
  picture.append(svg('line', { class: 'truth', x1: PLOT.middle, x2: PLOT.middle, y1: 1, y2: 29 }));
  if (distance) {
    const x = scale(pair.value);
    picture.append(svg('circle', { class: 'value ' + (pair.verdict === 'p' ? 'good' : 'bad'), cx: at(x), cy: 15, r: 4.5 }));
    return picture;
  }
  // What is hidden has no published range; what is published on one side only ends in an arrow.
  if (pair.publishedLow !== null || pair.publishedHigh !== null) {
    const low = pair.publishedLow === null ? -PLOT.most : scale(pair.publishedLow);
    const high = pair.publishedHigh === null ? PLOT.most : scale(pair.publishedHigh);
    picture.append(svg('path', { class: 'published', d: 'M' + at(low) + ' 21 v4 H' + at(high) + ' v-4' }));
  }
  const low = pair.low === null ? -PLOT.most : scale(pair.low);
  const high = pair.high === null ? PLOT.most : scale(pair.high);
  const kind = pair.verdict === 'p' ? 'good' : pair.verdict === 'e' ? 'bad' : 'open';
  picture.append(bar('interval ' + kind, low, high, 11, 7));
  if (low <= -PLOT.most) picture.append(arrow('interval ' + kind, -PLOT.most, 14.5));
  if (high >= PLOT.most) picture.append(arrow('interval ' + kind, PLOT.most, 14.5));
  return picture;
}

function plotLegend(distance, exact, ranges) {
  const sample = (className, text) => el('li', {}, el('span', { class: 'key ' + className, 'aria-hidden': 'true' }), text);
  const items = distance
    ? [sample('kept', 'too near the truth'), sample('value', 'published figure'), sample('truth', 'true value')]
    : [sample('needed', 'range that must stay feasible'), sample('interval', exact ? 'feasibility interval' : 'feasibility interval, at least'),
      sample('truth', 'true value'), ranges ? sample('published', 'published range') : null];
  return el('ul', { class: 'keys' }, ...items);
}
