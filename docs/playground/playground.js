// The playground: a text, and what the program says of it. The program runs in worker.js.
const $ = (id) => document.getElementById(id);
const FIRST = await (await fetch("first.sdc")).text();
const text = $("policy");
text.value = FIRST;
let before = FIRST; // what changes are told against
let round = 0;

const worker = new Worker("worker.js", { type: "module" });
const calls = new Map();
let number = 0;

worker.onmessage = ({ data }) => {
  if (data.ready) return start();
  if (data.failed) return ($("status").textContent = "The program could not be loaded: " + data.failed);
  const { resolve, reject } = calls.get(data.id);
  calls.delete(data.id);
  data.error ? reject(new Error(data.error)) : resolve(data.result);
};

function call(name, ...values) {
  return new Promise((resolve, reject) => {
    calls.set(++number, { resolve, reject });
    worker.postMessage({ id: number, name, values });
  });
}

// Python counts characters, JavaScript counts halves of some of them.
const places = (said) => {
  const out = [0];
  for (const character of said) out.push(out.at(-1) + character.length);
  return out;
};

function paint(colours, marks) {
  const said = text.value;
  const at = places(said);
  const ends = new Set([0, said.length]);
  const spans = [...colours, ...marks].map(([a, b, kind]) => [at[a] ?? said.length, at[b] ?? said.length, kind]);
  for (const [a, b] of spans) ends.add(a).add(b);
  const cuts = [...ends].sort((a, b) => a - b);
  const out = document.createDocumentFragment();
  for (let i = 0; i + 1 < cuts.length; i++) {
    const piece = document.createElement("span");
    piece.textContent = said.slice(cuts[i], cuts[i + 1]);
    piece.className = spans.filter(([a, b]) => a <= cuts[i] && cuts[i + 1] <= b).map(([, , kind]) => "k-" + kind).join(" ");
    out.append(piece);
  }
  $("colours").replaceChildren(out, document.createTextNode("\n"));
  scrolled();
}

function scrolled() {
  $("colours").scrollTop = text.scrollTop;
  $("colours").scrollLeft = text.scrollLeft;
}

async function look() {
  const mine = ++round;
  const said = text.value;
  const [made, changed] = await Promise.all([call("check", said), call("changes", before, said)]);
  if (mine !== round || said !== text.value) return; // the text has changed since: its colours would be elsewhere
  const marks = made.diagnostics.filter((d) => d.at).map((d) => [...d.at, d.severity === "error" ? "mistake" : "advice"]);
  paint(made.colours, marks);
  const mistakes = made.diagnostics.filter((d) => d.severity === "error").length;
  const advice = made.diagnostics.length - mistakes;
  $("status").textContent = mistakes ? `${mistakes} mistake${mistakes > 1 ? "s" : ""}`
    : advice ? `no mistakes; ${advice} piece${advice > 1 ? "s" : ""} of advice` : "no mistakes, no advice";
  $("found").replaceChildren(...made.diagnostics.map(item));
  $("verdict").textContent = changed ? changed.verdict : "after the mistakes are gone";
  $("changes").replaceChildren(...(changed ? changed.edits : []).map(change));
}

function line(kind, said) {
  const made = document.createElement("span");
  made.className = kind;
  made.textContent = said;
  return made;
}

function item(found) {
  const made = document.createElement("li");
  made.className = found.severity;
  const code = document.createElement("button");
  code.className = "code";
  code.textContent = found.code;
  code.onclick = () => explain(found.code);
  const mark = found.marks[0];
  made.append(code, " " + found.headline + " ");
  if (mark) made.append(line("where", `line ${mark.line}`));
  if (mark && mark.label) made.append(line("label", mark.label));
  for (const note of found.notes) made.append(line("label", note));
  if (found.help) made.append(line("help", "help: " + found.help));
  return made;
}

function change(edit) {
  const made = document.createElement("li");
  made.append(line("code", edit.verdict), ` ${edit.where}: `);
  if (edit.old !== null) made.append(line("label", "− " + edit.old));
  if (edit.new !== null) made.append(line("label", "+ " + edit.new));
  if (edit.why) made.append(line("label", edit.why));
  return made;
}

async function explain(code) {
  $("page").textContent = await call("page", code);
  $("page").hidden = $("page-label").hidden = false;
  $("page").focus();
}

async function hovered() {
  const offset = [...text.value.slice(0, text.selectionStart)].length;
  $("hover").textContent = (await call("meaning", text.value, offset)) || "";
}

async function replaced(name) {
  text.value = await call(name, text.value);
  await look();
  text.focus();
}

function start() {
  for (const id of ["format", "fix", "keep"]) $(id).disabled = false;
  let typed;
  text.addEventListener("input", () => {
    paint([], []);
    clearTimeout(typed);
    typed = setTimeout(look, 150);
  });
  let moved;
  document.addEventListener("selectionchange", () => {
    if (document.activeElement !== text) return;
    clearTimeout(moved);
    moved = setTimeout(hovered, 150);
  });
  $("format").onclick = () => replaced("formatted");
  $("fix").onclick = () => replaced("fixed");
  $("keep").onclick = () => {
    before = text.value;
    return look();
  };
  return look();
}

text.addEventListener("scroll", scrolled);
paint([], []);
const files = await (await fetch("files.json")).json();
$("wheel").href = files.wheel;
