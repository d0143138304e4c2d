// The pipeline as a list: what is done, in its order, and the search among all stages.
import {calmly, fill} from "./fill.js";
import {h, seconds} from "./kit.js";
import {pipelines} from "./pipelines.js";
import * as text from "./text.js";

export const chosen = {at: -1};
let stages = [], report = null, whenChosen = () => {}, dragged = -1, searching = false, fresh = false;

const WORDS = {
  param: "a number that the pipeline takes", save: "writes a picture, when the pipeline is run", kind: "of the input",
  include: "steps of another file", from: "goes on with another picture", light: "how values are meant",
  smempipe: "the version of the language"
};

export function begin(list, onChosen) {
  stages = list;
  whenChosen = onChosen;
}

export const stageOf = item => item?.statement && stages.find(s => s.name === item.statement.stage);
export const chosenItem = () => text.items()[chosen.at];

export function choose(at) {
  chosen.at = Math.max(-1, Math.min(at, text.items().length - 1));
  draw();
  whenChosen();
}

export function showReport(told) {
  report = told;
  calmly(draw);
}

const lineOf = item => text.pipe.text.slice(0, item.start).split("\n").length;

// Time and clipped samples of a step, by its line.
function cost(item) {
  const steps = (report?.steps || []).filter(step => !step.inserted && step.line === lineOf(item));
  if (item.off || !steps.length) return "";
  const time = steps.reduce((sum, step) => sum + step.seconds + (step.result_seconds || 0), 0);
  const clipped = steps.reduce((sum, step) => sum + (step.clipped || 0), 0);
  return [seconds(time), clipped > 0 && h("span.warn", ` ${clipped} clipped`)];
}

const mistakes = item => item.off ? [] : text.pipe.diagnostics.filter(
  d => !d.elsewhere && d.start >= item.start && d.start <= item.end);

function act(label, title, on, disabled) {
  return h("button.tool", {type: "button", title, "aria-label": title, disabled,
                           onclick: event => { event.stopPropagation(); on(); }}, label);
}

// A step as it is written; of what the pipeline takes, the name and the value.
function label(item) {
  const [own] = item.statement?.name === "param" ? item.statement.args : [];
  return own ? `$${own.param} = ${text.pipe.text.slice(own.start, own.end)}` : item.text.replace(/\s+/g, " ");
}

function row(item, at, count) {
  const stage = stageOf(item), wrong = mistakes(item);
  const on = at === chosen.at, word = !stage && !item.off && !wrong.length;
  const classes = ["step", on && "on", item.off && "off", word && "word"].filter(Boolean).join(" ");
  const body = h("li", {draggable: "true", class: classes},
    h("button.name", {type: "button", "aria-current": on ? "step" : null, onclick: () => choose(at),
                      title: stage?.help || WORDS[item.statement?.name] || ""}, label(item)),
    wrong.length > 0 && h(wrong[0].error ? "p.bad.small" : "p.warn.small", wrong[0].message,
                          wrong[0].fix && ` — ${wrong[0].fix}`),
    h("p.small.soft.cost", cost(item)),
    on && h("p.tools",
      act("↑", "Move up (Alt+Up)", () => moveBy(-1), at === 0),
      act("↓", "Move down (Alt+Down)", () => moveBy(1), at === count - 1),
      act(item.off ? "on" : "off", item.off ? "Switch on" : "Switch off", () => text.switchOff(at)),
      act("copy", "Duplicate", () => { text.duplicate(at); choose(at + 1); }),
      act("delete", "Delete (Del)", () => { text.remove(at); choose(Math.min(at, count - 2)); })));
  body.addEventListener("dragstart", event => { dragged = at; event.dataTransfer.setData("text/plain", item.text); });
  body.addEventListener("dragover", event => { if (dragged >= 0) event.preventDefault(); });
  body.addEventListener("drop", event => {
    event.preventDefault();
    const below = event.offsetY > body.offsetHeight / 2;
    drop(dragged, at + (below ? 1 : 0));
  });
  return body;
}

function drop(from, before) {
  dragged = -1;
  if (from < 0) return;
  text.move(from, before);
  choose(before > from ? before - 1 : before);
}

export function moveBy(by) {
  const at = chosen.at, last = text.items().length - 1;
  if (at < 0 || at + by < 0 || at + by > last) return;
  text.move(at, by < 0 ? at - 1 : at + 2);
  choose(at + by);
  focusChosen();
}

const focusChosen = () => document.querySelector("#steps li.on button.name")?.focus();

// ------------------------------------------------------------------------------------------------ search

// Stages whose name, help or name elsewhere has all the words; those whose name begins so come first.
export function find(words) {
  const parts = words.toLowerCase().split(/\s+/).filter(Boolean);
  const rank = stage => {
    const names = [stage.name, ...stage.aliases.map(a => a.name)];
    const all = `${names.join(" ")} ${stage.help}`.toLowerCase();
    const more = stage.parameters.map(p => `${p.name} ${p.help}`).join(" ").toLowerCase();
    if (!parts.every(part => all.includes(part))) return parts.every(part => `${all} ${more}`.includes(part)) ? 3 : -1;
    return parts.length && stage.name.startsWith(parts[0]) ? 0 : names.some(n => n.startsWith(parts[0] || "?")) ? 1 : 2;
  };
  return stages.map(stage => ({stage, rank: rank(stage)})).filter(f => f.rank >= 0)
    .sort((a, b) => a.rank - b.rank).map(f => f.stage);
}

// Ready pipelines of the input's kind, by name and by what their first lines say.
function findReady(words) {
  const parts = words.toLowerCase().split(/\s+/).filter(Boolean), kind = stages.some(s => s.domain === "image");
  return parts.length ? pipelines.filter(p => {
    const said = p.text.split("\n").filter(line => line.startsWith("#")).slice(0, 9).join(" ").toLowerCase();
    return /^kind image/m.test(p.text) === kind && parts.every(part => `${p.name} ${said}`.includes(part));
  }) : [];
}

const summary = p => p.text.split("\n", 1)[0].replace(/^# *\S+ *- */, "");

const hasSteps = () => text.items().some(item => item.off || stageOf(item));

// The place of the item behind which a step comes.
const behind = () => (chosen.at >= 0 ? chosen.at : text.items().length - 1);

// What is added is chosen, and is there when the text was checked.
function add(statement) {
  const place = behind();
  searching = false;
  fresh = true;
  text.add(statement, place);
  chosen.at = place + 1;
  draw();
  whenChosen();
}

function takeReady(pipeline) {
  if (hasSteps()) {
    add(pipeline.text.replace(/^(#.*|smempipe .*|kind .*|)\n/gm, "").trimEnd());
    return;
  }
  searching = false;
  text.setText(pipeline.text);
  choose(-1);
}

const addStage = stage => add(stage.example.includes("@") ? stage.name : stage.example);

function search() {
  const list = h("ul.found");
  const entry = (name, help, title, onclick) =>
    h("li", h("button.name", {type: "button", title, onclick}, h("b", name), " ", help));
  const show = words => {
    const ready = findReady(words), found = find(words);
    fill(list, ready.map(p => entry(p.name, h("span.soft", "(ready) ", summary(p)),
        hasSteps() ? "Adds the steps of this pipeline" : "Begins with this pipeline", () => takeReady(p))),
      found.map(stage => entry(stage.name, stage.help, "", () => addStage(stage))),
      !ready.length && !found.length && h("li.soft", "No step has these words in its name or help."));
  };
  const box = h("input", {type: "search", placeholder: "blur, crop, …", "aria-label": "Search among the stages",
                          oninput: () => show(box.value)});
  box.addEventListener("keydown", event => {
    if (event.key === "Enter" && find(box.value).length) addStage(find(box.value)[0]);
    if (event.key === "Escape") { searching = false; draw(); }
  });
  show("");
  const last = text.items()[behind()];
  return h("div.search", box, last && h("p.soft.small", "It goes behind ", h("code", last.statement?.name ?? last.text),
    chosen.at < 0 && "; choose a step first to have it elsewhere"), list);
}

export function openSearch() {
  searching = true;
  draw();
  document.querySelector("#steps input[type=search]").focus();
}

export function draw() {
  const place = document.getElementById("steps");
  const list = text.items();
  const typed = place.querySelector("input[type=search]");
  if (searching && typed) { // do not take the words away
    fill(place.querySelector("ol"), list.map((item, at) => row(item, at, list.length)));
    return;
  }
  const focused = place.contains(document.activeElement) && document.activeElement.matches("li button.name");
  const added = fresh && list.length > chosen.at;
  fill(place,
    h("h2", "Steps"),
    h("ol.list", list.map((item, at) => row(item, at, list.length))),
    list.length === 0 && h("p.soft.small", "No step yet: the picture stays as it is."),
    searching ? search() : h("button.add", {type: "button", id: "add", onclick: openSearch}, "+ Add a step"));
  if (focused || added) focusChosen();
  fresh = fresh && !added;
}

export function keys(event) {
  if (!event.target.closest("#steps li")) return;
  if (event.altKey && event.key === "ArrowUp") moveBy(-1);
  else if (event.altKey && event.key === "ArrowDown") moveBy(1);
  else if (event.key === "ArrowUp" && chosen.at > 0) choose(chosen.at - 1);
  else if (event.key === "ArrowDown") choose(chosen.at + 1);
  else if (event.key === "Delete") { text.remove(chosen.at); choose(chosen.at); }
  else return;
  event.preventDefault();
  focusChosen();
}
