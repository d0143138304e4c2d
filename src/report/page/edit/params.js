// The parameters of the chosen step, each as its descriptor says: ranges with units, choices, colours, matrices.
import {fill} from "./fill.js";
import {h} from "./kit.js";
import {curve} from "./curve.js";
import * as text from "./text.js";
import {chosenItem, stageOf} from "./steps.js";
import {askFor, showGiven, size} from "./picture.js";

const POSITIONS = 1000; // of a slider
const NUMBER = /^(-?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?)\s*([a-zA-Z%]*)$/i;

const round = (x, integer) => (integer ? Math.round(x) : Number(x.toPrecision(3)));
const write = x => String(Number(x.toPrecision(12)));

// What a slider runs over: the descriptor's range, cut to what pictures of this size can mean.
function rangeOf(param, value, unit) {
  const factor = unit === "%" && param.unit === "%" ? 100 : 1;
  const wide = Math.max(size().width, size().height, 16);
  const usual = Math.abs(NUMBER.exec(param.default || "")?.[1] || 0) * factor;
  let low = param.min !== undefined ? param.min * factor : Math.min(0, value), high = param.max * factor;
  if (!Number.isFinite(high)) high = Math.max(10, 4 * usual, 2 * value);
  if (param.unit === "px" && high >= 1000) { high = Math.max(wide, value); low = Math.max(low, -high); }
  if (param.unit === "%" && high > 400) high = Math.max(400, value);
  low = Math.min(low, value);
  high = Math.max(high, value);
  const bent = low >= 0 && high - low > 40 * Math.max(usual, 1e-9) || (low >= 0 && high > 200);
  return {low, high, bent, integer: param.type === "integer" && unit !== "%"};
}

// Small values have more room where the range is wide.
const toPosition = (range, value) => {
  const part = (value - range.low) / (range.high - range.low || 1);
  return Math.round(POSITIONS * (range.bent ? Math.cbrt(part) : part));
};
function fromPosition(range, position, was) {
  const part = position / POSITIONS, bent = range.bent ? part ** 3 : part;
  const value = round(range.low + (range.high - range.low) * bent, range.integer);
  const moved = Math.sign(position - toPosition(range, was));
  // A step of a key is a step of the value, too.
  return range.integer && value === was && moved ? Math.min(range.high, Math.max(range.low, was + moved)) : value;
}

// Writes values into the chosen step, whose places may be others than when its controls were drawn.
function give(stage, values, kind = "") {
  const item = chosenItem();
  if (stageOf(item) !== stage) return;
  text.setValues(item.statement, values, Object.fromEntries(stage.parameters.map(p => [p.name, p.default])), kind);
}
const set = (item, param, value, kind) => give(stageOf(item), {[param.name]: value}, kind);

// ------------------------------------------------------------------------------------------------ controls

// A number with its unit, or an integer; "auto" where the parameter takes it. put: writes it.
function numberControl(param, shown, id, put) {
  const found = NUMBER.exec(shown);
  const exact = h("input.exact", {type: "text", id, value: shown, spellcheck: "false",
                                  "aria-label": param.name, oninput: () => put(exact.value)});
  if (!found) { // auto, $name, {arithmetic}
    const own = /^(auto|none)?$/.test(shown);
    const start = `${param.min > 0 ? param.min : 0}${param.unit === "cv" ? "" : param.unit}`;
    return h("div.number", exact, own && h("button.tool", {type: "button", title: "Give a number in its place",
      onclick: () => put(start)}, "number"));
  }
  const unit = found[2];
  let value = Number(found[1]);
  const range = rangeOf(param, value, unit);
  const slider = h("input", {type: "range", min: 0, max: POSITIONS, step: range.integer ? 1 : 5,
    "aria-label": `${param.name}, slider`, value: toPosition(range, value), "aria-valuetext": shown,
    oninput: () => {
      value = fromPosition(range, Number(slider.value), value);
      exact.value = write(value) + unit;
      slider.setAttribute("aria-valuetext", exact.value);
      if (range.integer) slider.value = toPosition(range, value);
      put(exact.value);
    }});
  return h("div.number", slider, exact);
}

function choiceControl(item, param, shown, id) {
  const box = h("select", {id, "aria-label": param.name, oninput: () => set(item, param, box.value, "")},
    (param.choices || ["yes", "no"]).map(word => h("option", {value: word, selected: word === shown}, word)),
    !(param.choices || ["yes", "no"]).includes(shown) && h("option", {value: shown, selected: true}, shown || "—"));
  return box;
}

const HEX = /^#([0-9a-f]{3}|[0-9a-f]{6})$/i;
// What a colour field can show of a value; null: it is written otherwise (a name, fractions).
function toHex(shown) {
  if (HEX.test(shown)) return shown.length === 4 ? `#${[...shown.slice(1)].map(d => d + d).join("")}` : shown;
  if (/^[a-z]+$/i.test(shown)) { // a name, as style sheets have it
    const probe = document.createElement("canvas").getContext("2d");
    probe.fillStyle = shown;
    return probe.fillStyle;
  }
  const numbers = /^\[([\d.\s%]+)\]$/.exec(shown)?.[1].trim().split(/\s+/);
  if (!numbers || ![1, 3].includes(numbers.length)) return null;
  const of = n => Math.round(255 * Math.min(1, n.endsWith("%") ? parseFloat(n) / 100 : Number(n)));
  const parts = (numbers.length === 1 ? Array(3).fill(numbers[0]) : numbers).map(of);
  return `#${parts.map(n => n.toString(16).padStart(2, "0")).join("")}`;
}

function colourControl(item, param, shown, id) {
  const exact = h("input.exact", {type: "text", id, value: shown, "aria-label": param.name, spellcheck: "false",
                                  oninput: () => set(item, param, exact.value, param.name)});
  const field = h("input", {type: "color", value: toHex(shown) || "#808080", "aria-label": `${param.name}, colour`,
                            oninput: () => { exact.value = field.value; set(item, param, field.value, param.name); }});
  const pick = h("button.tool", {type: "button", title: "Take the colour that you click on",
    onclick: () => askFor("colour", "Click on the colour", ({colour}) => set(item, param, colour, ""))}, "pick");
  return h("div.number", field, exact, pick);
}

// A matrix as a table of numbers; what is written otherwise ("weights.txt", names) as text.
function matrixControl(item, param, shown, id) {
  const plain = /^\[([^"[\]{}$]*)\]$/.exec(shown);
  const rows = plain && plain[1].trim().split(/\s*[;\n]\s*/).filter(Boolean).map(line => line.trim().split(/\s+/));
  const even = rows?.length && rows.length <= 16 && rows[0].length <= 9 && rows.every(r => r.length === rows[0].length);
  if (!even) {
    const box = h("textarea", {id, rows: 3, "aria-label": param.name, spellcheck: "false",
                               oninput: () => set(item, param, box.value, param.name)}, shown);
    return box;
  }
  const tell = () => set(item, param, `[${rows.map(r => r.join(" ")).join("; ")}]`, param.name);
  if (param.min === 0 && param.max === 1 && rows.length > 1 && rows[0].length === 2) // levels that become others
    return curve(rows, param.name, moved => { rows.splice(0, rows.length, ...moved); tell(); });
  const cell = (y, x) => {
    const box = h("input.cell", {type: "text", value: rows[y][x],
                                 "aria-label": `${param.name}, row ${y + 1}, column ${x + 1}`,
                                 oninput: () => { if (box.value.trim()) { rows[y][x] = box.value.trim(); tell(); } }});
    return box;
  };
  return h("div.matrix", {id}, rows.map((r, y) => h("div", r.map((_, x) => cell(y, x)))));
}

function textControl(item, param, shown, id) {
  const box = h("input.wide", {type: "text", id, value: shown, "aria-label": param.name, spellcheck: "false",
                               placeholder: param.type === "string" ? "\"…\"" : param.accepts,
                               oninput: () => { if (box.value) set(item, param, box.value, param.name); }});
  return box;
}

function control(item, param, shown, id) {
  if (param.type === "number" || param.type === "integer")
    return numberControl(param, shown, id, value => set(item, param, value, param.name));
  if (param.type === "choice" || param.type === "boolean") return choiceControl(item, param, shown, id);
  if (param.type === "array" && param.accepts.startsWith("a colour")) return colourControl(item, param, shown, id);
  if (param.type === "array" && shown) return matrixControl(item, param, shown, id);
  return textControl(item, param, shown, id);
}

function parameter(item, param) {
  const written = text.valueOf(item.statement, param.name), id = `param-${param.name}`;
  // $name: the value that the pipeline takes, which is changed where it is declared.
  const given = written?.startsWith("$") ? text.declaredValue(written.slice(1)) ?? written : written;
  const arg = item.statement.args.find(a => a.param === param.name);
  const wrong = arg && text.pipe.diagnostics.find(d => !d.elsewhere && d.start < arg.end && d.start + 1 > arg.from);
  return h("div.param", {"data-param": param.name},
    h("label", {for: id, title: `${param.help} (${param.accepts})`}, param.name,
      given !== written && h("span.soft", ` = ${written}`),
      param.required && given === undefined && h("span.soft", " (must be given)")),
    given !== undefined && h("button.tool", {type: "button", title: `As it was: ${param.default ?? "not given"}`,
                                             "aria-label": `Reset ${param.name}`, disabled: param.required,
                                             onclick: () => { set(item, param, null, ""); draw(); }}, "reset"),
    control(item, param, given ?? param.default ?? "", id),
    h("p.small.soft.help", param.help),
    wrong && h("p.bad.small", wrong.message, wrong.fix && ` — ${wrong.fix}`,
               wrong.note && h("span.soft", ` (${wrong.note})`)));
}

// What a click or a rectangle on the picture can fill in.
function pickers(stage) {
  const has = name => stage.parameters.some(p => p.name === name && p.unit === "px");
  const button = (label, ask) => h("button.tool", {type: "button", id: "pick",
    onclick: async () => { await showGiven(); ask(); }}, label);
  const px = n => `${Math.round(n)}px`;
  const place = ({x, y}) => ({x: px(x), y: px(y)});
  if (has("x") && has("y") && has("width") && has("height"))
    return button("Draw the rectangle", () => askFor("rectangle", "Draw a rectangle",
      box => give(stage, {...place(box), width: px(box.width), height: px(box.height)})));
  if (has("x") && has("y"))
    return button("Click on the place", () => askFor("point", "Click on the place", p => give(stage, place(p))));
  if (stage.parameters.some(p => p.name === "corners")) {
    const corners = [];
    const next = p => {
      corners.push(`${Math.round(p.x)} ${Math.round(p.y)}`);
      if (corners.length < 4) askFor("point", `Corner ${corners.length + 1} of 4`, next);
      else give(stage, {angle: null, scale: null, matrix: null, corners: `[${corners.join("; ")}]`, size: "fit"});
    };
    return button("Click on four corners", () => {
      corners.length = 0;
      askFor("point", "Top left corner", next);
    });
  }
  return null;
}

// `param` statements: what the pipeline takes.
function declared(item) {
  const [own, ...rest] = item.statement.args, written = arg => text.pipe.text.slice(arg.start, arg.end);
  const of = name => written(rest.find(arg => arg.param === name) ?? {start: 0, end: 0});
  const limit = name => (of(name) ? Number(NUMBER.exec(of(name))?.[1]) : undefined);
  const param = {name: own.param, unit: "", min: limit("min"), max: limit("max"), default: written(own)};
  const put = value => {
    const now = chosenItem()?.statement?.args[0];
    if (now?.param === own.param && value) text.splice(now.start, now.end, value, own.param);
  };
  return [h("h2", `$${own.param}`), h("p.small", of("help").replace(/^"|"$/g, "")),
    h("p.small.soft", "A value that the pipeline takes (--set): its default."),
    h("div.param", {"data-param": own.param}, numberControl(param, written(own), "declared", put))];
}

export function draw() {
  const place = document.getElementById("params"), item = chosenItem(), stage = stageOf(item);
  if (stage) {
    const given = stage.parameters.filter(
      p => p.required || p.main || text.valueOf(item.statement, p.name) !== undefined);
    const rest = stage.parameters.filter(p => !given.includes(p));
    fill(place,
      h("h2", stage.name), h("p.small", stage.help), h("p", pickers(stage)),
      given.map(p => parameter(item, p)),
      rest.length > 0 && h("details", {open: rest.length < 8}, h("summary", "more"), rest.map(p => parameter(item, p))),
      stage.about && h("details", h("summary", "about"), h("p.small", stage.about)));
    return;
  }
  if (item?.statement?.name === "param" && item.statement.args.length) {
    fill(place, declared(item));
    return;
  }
  fill(place, h("h2", "Parameters"), h("p.soft.small", item?.off ? "This step is switched off." : item
    ? "This statement has none; change it in the text." : "Choose a step, or add one."));
}

// The text changed elsewhere: new values, unless one is being typed here.
export function refresh() {
  const place = document.getElementById("params"), active = document.activeElement;
  if (place.contains(active) && active.matches("input, textarea, select, svg.curve")) {
    const item = chosenItem();
    for (const box of place.querySelectorAll(".param p.bad")) box.remove();
    if (item?.statement) for (const div of place.querySelectorAll(".param")) {
      const arg = item.statement.args.find(a => a.param === div.dataset.param);
      const wrong = arg && text.pipe.diagnostics.find(d => !d.elsewhere && d.start < arg.end && d.start + 1 > arg.from);
      if (wrong) div.append(h("p.bad.small", wrong.message, wrong.fix && ` — ${wrong.fix}`));
    }
    return;
  }
  draw();
}
