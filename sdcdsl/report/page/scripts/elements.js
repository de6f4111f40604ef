// Elements made of texts: nothing here ever reads a string as markup.
const SVG = 'http://www.w3.org/2000/svg';
const WORDS = { class: 'class', for: 'for' };
let made = 0;

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name === 'text') node.textContent = value;
    else if (name.startsWith('on')) node.addEventListener(name.slice(2), value);
    else node.setAttribute(WORDS[name] || name, value === true ? '' : value);
  }
  for (const child of children) {
    if (child !== null && child !== undefined) node.append(child);
  }
  return node;
}

function el(tag, attributes, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

function svg(tag, attributes, ...children) {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

function freshId(word) {
  made += 1;
  return word + '-' + made;
}

// A labelled field; the label is always there to be read.
function field(label, control, className) {
  control.id = control.id || freshId('field');
  return el('div', { class: 'field' + (className ? ' ' + className : '') },
    el('label', { for: control.id, text: label }), control);
}

function choice(options, chosen, onchange) {
  const select = el('select', { onchange: () => onchange(select.value) });
  for (const [value, text] of options) {
    select.append(el('option', { value, selected: value === chosen, text }));
  }
  return select;
}

function once(act) {
  let waiting = false;
  return () => {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => {
      waiting = false;
      act();
    });
  };
}

function later(act, wait) {
  let timer = 0;
  return () => {
    clearTimeout(timer);
    timer = setTimeout(act, wait);
  };
}
