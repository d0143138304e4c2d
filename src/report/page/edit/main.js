// The page of `smempipe edit`: joins the text, the steps, the parameters and the picture.
import {calmly, fill} from "./fill.js";
import {h, s, seconds, count} from "./kit.js";
import {ask, leave} from "./server.js";
import * as text from "./text.js";
import * as steps from "./steps.js";
import * as params from "./params.js";
import * as picture from "./picture.js";
import * as folder from "./folder.js";
import * as sound from "./sound.js";

const page = {state: null, number: 1, only: false, given: false, saved: "", was: "", force: false};

// The statement whose output is shown; -1: the last.
function shownStep(item) {
  if (!item || item.off) return -1;
  return page.given ? item.index - 1 : page.only ? item.index : -1;
}

// ------------------------------------------------------------------------------------------------ runs

// The program stops a run that a later one overtakes; numbers go by the clock, since a page that is loaded again, or
// another, goes on from those before.
async function run() {
  const number = page.number = Math.max(page.number + 1, Date.now()), source = text.pipe.text;
  const item = steps.chosenItem();
  const step = shownStep(item);
  document.body.classList.add("runs");
  const held = item && !item.off ? item.index : -1;
  const {told, report} = await ask("run", {text: source, number, step, held});
  if (number !== page.number) return;
  document.body.classList.remove("runs");
  if (text.take(told, source)) changed("checked");
  showFailure(told);
  if (!told.done) {
    steps.showReport(null);
    // There is no result yet.
    if (!picture.size().width && !page.state.rate) picture.show(page.state, {width: 0, height: 0});
    return;
  }
  addEarlier(report, held > 0);
  steps.showReport(report);
  if (page.state.rate) await sound.show(told, number);
  else await picture.show(page.state, {width: told.width, height: told.height});
  if (!page.state.rate) picture.warm(number);
  folder.showNine(number);
  document.body.dataset.ran = number;
  showNumbers(told, report);
}

// What the chosen step is given, for who clicks on it.
async function showGiven(on) {
  if (page.given === on) return;
  page.given = on;
  picture.choose(on ? (steps.chosenItem()?.index > 0 ? "after" : "before") : "both");
  if (!on || steps.chosenItem()?.index > 0) await run();
}

// Until what was drawn is seen; a tenth of a second where nobody looks.
const frames = () => Promise.race([new Promise(done => setTimeout(done, 100)),
  new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))]);

// A change is shown by a preview where there can be one, one after another while a slider moves, and then by a run.
async function tryOut() {
  if (page.trying) { page.again = true; return; }
  page.trying = true;
  document.body.classList.add("runs");
  let number;
  do {
    page.again = false;
    number = page.number = Math.max(page.number + 1, Date.now());
    const step = shownStep(steps.chosenItem());
    // Its frame is on the screen before a run takes the processors.
    if (!page.state.rate && await picture.showPreview({text: text.pipe.text, number, step})) await frames();
  } while (page.again);
  page.trying = false;
  if (number === page.number) await run();
}

// A run that went on from a kept picture says nothing of the steps before it: they are as they were.
let last = {steps: []};
function addEarlier(report, held) {
  const first = Math.min(...report.steps.filter(step => step.line).map(step => step.line));
  const known = step => report.steps.some(s => s.line === step.line && s.step === step.step);
  if (held) report.steps.unshift(...last.steps.filter(s => s.line && s.line <= first && !known(s)));
  last = report;
}

let waiting = 0;
function soon() {
  clearTimeout(waiting);
  waiting = setTimeout(tryOut, 0);
}

function showFailure(told) {
  const failed = !told.done && !told.overtaken && !text.pipe.diagnostics.some(d => d.error) && told.message;
  fill(document.getElementById("failure"), failed &&
    [h("p.bad", told.message, told.where && h("span.soft", ` (${told.where})`)), told.hint && h("p.small", told.hint)]);
}

function showNumbers(told, report) {
  const wall = report.steps.reduce((sum, step) => sum + step.seconds, 0);
  const clipped = report.steps.reduce((sum, step) => sum + (step.clipped || 0), 0);
  fill(document.getElementById("numbers"),
    told.rate ? `${(told.height / told.rate).toFixed(2)} s, ${told.rate} Hz, ` : `${told.width} × ${told.height}, `,
    `${report.output_type || count(told.channels, "channel", "channels")}; `,
    `steps ${seconds(wall)}`,
    clipped > 0 && ["; ", h("span.warn", `${count(clipped, "sample", "samples")} clipped`)]);
  const found = report.steps.filter(step => step.findings);
  const name = f => `${f.name}${f.channel >= 0 ? ` ${f.channel}` : ""}`;
  fill(document.getElementById("findings"), found.map(step => h("details", h("summary", step.step),
    h("dl.pairs.small", step.findings.filter(f => typeof f.value === "number").map(f =>
      [h("dt", name(f)), h("dd", String(Number(f.value.toPrecision(5))))])))));
  fill(document.getElementById("levels"), !page.state.rate && drawHistogram(picture.levels()));
}

function drawHistogram(histogram) {
  const most = Math.max(1, ...histogram.flatMap(counts => counts.slice(1, 255)));
  const classes = histogram.length === 1 ? ["gray"] : ["r", "g", "b"];
  const height = n => (100 - 100 * Math.min(1, n / most)).toFixed(1);
  const path = counts => `M0 100${counts.map((n, i) => `L${i} ${height(n)}`).join("")}L255 100Z`;
  return s("svg.histogram", {viewBox: "0 0 255 100", preserveAspectRatio: "none", role: "img",
                             "aria-label": "Levels of what is seen"},
           histogram.map((counts, c) => s(`path.${classes[c]}`, {d: path(counts)})));
}

// ------------------------------------------------------------------------------------------------ the text

function showText() {
  const box = document.getElementById("source");
  if (box.value !== text.pipe.text) box.value = text.pipe.text;
  const marks = text.pipe.diagnostics.filter(d => !d.elsewhere), parts = [];
  let at = 0;
  for (const d of [...marks].sort((a, b) => a.start - b.start)) {
    if (d.start < at) continue;
    const end = Math.max(d.end, d.start + 1);
    parts.push(text.pipe.text.slice(at, d.start),
               h(d.error ? "mark.bad" : "mark", text.pipe.text.slice(d.start, end) || " "));
    at = end;
  }
  parts.push(text.pipe.text.slice(at), "\n");
  fill(document.getElementById("marks"), parts);
}

function showMistakes() {
  const {diagnostics, failed} = text.pipe;
  fill(document.getElementById("mistakes"), diagnostics.map(d => h("li",
    h("button.name", {type: "button", onclick: () => goTo(d)},
      d.elsewhere ? `${d.elsewhere}:${d.line}` : `line ${d.line}`), " ",
    h(d.error ? "span.bad" : "span.warn", d.message), d.fix && [" — ", d.fix],
    d.note && h("span.soft", ` (${d.note})`))),
    failed && h("li.bad", failed.message, failed.hint && h("span.soft", ` (${failed.hint})`)));
}

function goTo(mistake) {
  const box = document.getElementById("source");
  box.focus();
  box.setSelectionRange(mistake.start, mistake.end);
}

function changed(what) {
  const saved = document.getElementById("save"), dirty = text.pipe.text !== page.saved;
  showText();
  document.getElementById("undo").disabled = !text.pipe.past.length;
  document.getElementById("redo").disabled = !text.pipe.future.length;
  saved.disabled = !dirty;
  document.title = `${dirty ? "• " : ""}smempipe edit`;
  if (what === "text") {
    document.getElementById("said").textContent = "";
    page.force = false;
    soon();
    return;
  }
  showMistakes();
  calmly(steps.draw);
  calmly(params.refresh);
}

// ------------------------------------------------------------------------------------------------ buttons

// What would be typed to do the same.
export function commandLine() {
  const {input, pipe} = page.state;
  const out = input.replace(/\.[^./]*$/, "") + (page.state.rate ? "-edited.wav" : "-edited.png");
  const words = text.items().filter(item => !item.off)
    .map(item => `-e ${folder.quote(item.text.replace(/\s*\n\s*/g, " "))}`);
  const named = pipe && text.pipe.text === page.saved;
  return `smempipe run ${named ? folder.quote(pipe) : words.join(" ")} ${folder.quote(input)} ${folder.quote(out)}`;
}

async function copy() {
  const line = commandLine();
  await navigator.clipboard?.writeText(line).catch(() => {});
  document.getElementById("said").textContent = line;
}

async function save() {
  const source = text.pipe.text, force = page.force;
  const sent = page.crlf ? source.replace(/\n/g, "\r\n") : source;
  const told = await ask("save", {text: sent, was: page.was, force});
  if (told.saved) [page.saved, page.was] = [source, sent];
  page.force = !told.saved;
  changed("checked");
  fill(document.getElementById("said"), told.saved ? `saved as ${page.state.saveTo}`
    : h("span.bad", `${told.where || ""} ${told.message}`, told.hint && ` — ${told.hint}`));
  return told.saved;
}

// Another file of the folder is there.
async function opened(told) {
  Object.assign(page.state, told);
  document.getElementById("paths").textContent = `${told.input} → ${page.state.saveTo}`;
  picture.forget();
  await run();
}

function head() {
  const tool = (id, label, title, on) => h("button.tool", {type: "button", id, title, onclick: on}, label);
  fill(document.getElementById("head"),
    h("h1", "smempipe edit"), h("span.soft.small", {id: "paths"}, page.state.input, " → ", page.state.saveTo),
    h("span.tools", tool("undo", "Undo", "Undo (Ctrl+Z)", text.undo),
      tool("redo", "Redo", "Redo (Ctrl+Shift+Z)", text.redo),
      tool("copy", "Copy as command line", "Copy what would be typed to do the same", copy),
      tool("save", "Save", `Save as ${page.state.saveTo} (Ctrl+S)`, save)),
    h("span.small", {id: "said", role: "status"}));
}

function textPart() {
  const source = h("textarea", {id: "source", spellcheck: "false", wrap: "off", "aria-label": "Text of the pipeline",
                                oninput: () => text.setText(source.value, "typed")});
  const marks = h("pre", {id: "marks", "aria-hidden": "true"});
  source.addEventListener("scroll", () => {
    marks.scrollTop = source.scrollTop;
    marks.scrollLeft = source.scrollLeft;
  });
  const only = h("input", {type: "checkbox", id: "only", oninput: () => { page.only = only.checked; run(); }});
  document.getElementById("picture").append(
    h("p.small", h("label", only, " show the chosen step's output")),
    h("div", {id: "failure", role: "alert"}), h("p.small", {id: "numbers"}), h("div", {id: "levels"}),
    h("div", {id: "findings"}));
  fill(document.getElementById("text"),
    h("h2", "Text"), h("div.editor", marks, source), h("ul.small", {id: "mistakes", role: "status"}));
}

function keys(event) {
  const control = event.ctrlKey || event.metaKey, key = event.key.toLowerCase();
  if (control && key === "s") save();
  else if (control && key === "z") (event.shiftKey ? text.redo : text.undo)();
  else if (control && key === "y") text.redo();
  else { steps.keys(event); return; }
  event.preventDefault();
}

function showEnd(event) {
  document.body.classList.remove("runs");
  const why = `smempipe edit does not answer (${event.reason.message}): copy the text`;
  fill(document.getElementById("said"), h("span.bad", why));
}

async function begin() {
  addEventListener("unhandledrejection", showEnd);
  page.state = await ask("state");
  text.own.name = page.state.name;
  const {stages} = await ask("stages");
  page.crlf = page.state.text.includes("\r\n"); // which fields of a browser do not keep
  const begun = page.state.text.replace(/\r\n/g, "\n");
  page.saved = page.state.exists ? begun : "";
  page.was = page.state.exists ? page.state.text : ""; // of the file
  head();
  picture.begin();
  picture.onGiven(() => showGiven(true), () => showGiven(false));
  folder.begin(page.state, opened, save);
  sound.begin(page.state, run);
  textPart();
  const other = page.state.rate ? "image" : "audio";
  steps.begin(stages.filter(stage => stage.domain !== other), () => {
    picture.stopAsking();
    params.draw();
    if (page.only) run();
  });
  text.onChange(changed);
  addEventListener("keydown", keys);
  addEventListener("pagehide", leave);
  addEventListener("beforeunload", event => { if (text.pipe.text !== page.saved) event.preventDefault(); });
  await text.begin(begun);
  params.draw();
  await run();
  document.body.dataset.ready = "yes";
}

begin().catch(error => { document.getElementById("head").textContent = `smempipe edit has ended (${error.message})`; });
