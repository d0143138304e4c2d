// The picture: before and after, from the whole to single pixels; clicks and rectangles for who asks for them.
import {h} from "./kit.js";
import {pixels, preview} from "./server.js";

const view = {
  zoom: 0, // screen pixels a pixel of the picture; 0: all of it is seen
  x: 0, y: 0, // the picture's point in the middle
  split: 0.5, show: "both", // both, before, after
  before: {width: 0, height: 0}, after: {width: 0, height: 0},
  number: 0 // of what is asked for: later answers win
};
let asked = null, canvas, note, told, drag = null;

export const size = () => view.before;

// ------------------------------------------------------------------------------------------------ geometry

const dots = () => window.devicePixelRatio || 1;
const current = () => (view.show === "before" || !view.after.width ? view.before : view.after);
const beside = () => view.before.width === view.after.width && view.before.height === view.after.height;
const fit = of => Math.min(canvas.width / of.width, canvas.height / of.height, 8);
const scale = () => view.zoom || fit(current());

// The part of a picture that is seen, and where it lies on the canvas.
function seen(of) {
  const z = scale(), whole = !view.zoom;
  const cx = whole ? of.width / 2 : view.x, cy = whole ? of.height / 2 : view.y;
  const w = canvas.width / 2 / z, h2 = canvas.height / 2 / z;
  const left = Math.max(0, Math.floor(cx - w)), top = Math.max(0, Math.floor(cy - h2));
  const right = Math.min(of.width, Math.ceil(cx + w)), bottom = Math.min(of.height, Math.ceil(cy + h2));
  return {x: left, y: top, width: right - left, height: bottom - top, z,
          at: {x: canvas.width / 2 + (left - cx) * z, y: canvas.height / 2 + (top - cy) * z}};
}

// The picture's point under the mouse.
function pointAt(event) {
  const box = canvas.getBoundingClientRect(), of = current(), part = seen(of);
  const x = part.x + ((event.clientX - box.left) * dots() - part.at.x) / part.z;
  const y = part.y + ((event.clientY - box.top) * dots() - part.at.y) / part.z;
  const inside = (value, end) => Math.max(0, Math.min(end - 1, Math.floor(value)));
  return {x: inside(x, of.width), y: inside(y, of.height)};
}

// ------------------------------------------------------------------------------------------------ drawing

const layers = {before: null, after: null}; // {canvas, x, y, width, height} of the canvas

async function fetchLayer(which) {
  const of = view[which], part = seen(of);
  if (!of.width || part.width < 1 || part.height < 1) return null;
  const outWidth = Math.max(1, Math.min(part.width, Math.round(part.width * part.z)));
  const outHeight = Math.max(1, Math.min(part.height, Math.round(part.height * part.z)));
  const data = await pixels({which, x: part.x, y: part.y, width: part.width, height: part.height, outWidth, outHeight});
  return data && layerOf(data, part);
}

function layerOf(data, part, smooth = false) {
  const sheet = new OffscreenCanvas(data.width, data.height);
  sheet.getContext("2d").putImageData(data, 0, 0);
  return {sheet, smooth, data: data.data, x: part.at.x, y: part.at.y, width: part.width * part.z,
          height: part.height * part.z};
}

// Shows about what a text gives where the program can tell it sooner than by a run: from a smaller copy of the input,
// or, where single pixels are seen, of the part that is seen. False: it cannot.
export async function showPreview(question) {
  const z = scale(), part = seen(current());
  if (view.show === "before" || !view.after.width) return false;
  const told = await preview({...question, scale: z, x: part.x, y: part.y, width: part.width, height: part.height});
  if (!told || z !== scale()) return false;
  view.after = told.size;
  let place = part;
  if (z < 1) {
    const now = seen(told.size), at = {x: now.at.x - now.x * now.z, y: now.at.y - now.y * now.z};
    place = {...told.size, z: now.z, at};
  }
  layers.after = layerOf(told.data, place, z < 1);
  drawn(++view.number, z < 1);
  return true;
}

// Has the program make the smaller copy, so that the first change need not wait for it. number: of the last run.
export function warm(number) {
  const z = scale();
  if (z >= 1 || z === view.warmed || !view.before.width) return;
  view.warmed = z;
  preview({text: "", number, step: -1, scale: z, x: 0, y: 0, width: 1, height: 1}).catch(() => {});
}

function drawn(number, smaller) {
  paint();
  document.getElementById("preview").hidden = !smaller;
  canvas.dataset.preview = smaller ? "yes" : "no";
  canvas.dataset.drawn = number;
}

function paint() {
  const to = canvas.getContext("2d"), both = view.show === "both" && beside();
  to.clearRect(0, 0, canvas.width, canvas.height);
  const put = layer => {
    if (!layer) return;
    to.imageSmoothingEnabled = layer.smooth; // else real pixels
    to.drawImage(layer.sheet, layer.x, layer.y, layer.width, layer.height);
  };
  put(current() === view.before ? layers.before : layers.after);
  const line = canvas.width * view.split;
  if (both && layers.before) {
    to.save();
    to.beginPath();
    to.rect(0, 0, line, canvas.height);
    to.clip();
    to.clearRect(0, 0, line, canvas.height);
    put(layers.before);
    to.restore();
    to.fillStyle = "#fff";
    to.fillRect(line - 1, 0, 2, canvas.height);
  }
  if (drag?.box) {
    const part = seen(current()), z = part.z, box = drag.box;
    to.strokeStyle = "#fff";
    to.setLineDash([6, 4]);
    to.strokeRect(part.at.x + (box.x - part.x) * z, part.at.y + (box.y - part.y) * z, box.width * z, box.height * z);
  }
  document.getElementById("split").hidden = !both;
}

// Asks for what is seen again: of the pictures that changed, or of both.
export async function refresh(which = ["before", "after"]) {
  const number = ++view.number;
  const fresh = await Promise.all(which.map(fetchLayer));
  if (number !== view.number) return; // a later one asks for all of it
  which.forEach((name, i) => { layers[name] = fresh[i] || layers[name]; });
  drawn(number, false);
}

// Counts of 256 levels of red, green and blue in what is seen of the picture; one list where it is gray.
export function levels() {
  const [red, green, blue] = [0, 1, 2].map(() => new Uint32Array(256)), data = layers.after?.data || [];
  let gray = true;
  for (let i = 0; i < data.length; i += 4) {
    const r = data[i], g = data[i + 1], b = data[i + 2];
    red[r]++;
    green[g]++;
    blue[b]++;
    gray = gray && r === g && r === b;
  }
  return (gray ? [red] : [red, green, blue]).map(c => [...c]);
}

// Another picture is there: nothing of this one is shown any more.
export function forget() {
  layers.before = layers.after = null;
  view.warmed = 0;
  view.after = {width: 0, height: 0};
}

let pending = 0;
function later() {
  cancelAnimationFrame(pending);
  pending = requestAnimationFrame(() => refresh());
}

export function show(before, after) {
  const same = (a, b) => a.width === b.width && a.height === b.height;
  const other = !same(view.after, after) || !same(view.before, before);
  view.before = before;
  view.after = after;
  return refresh(other || !layers.before ? ["before", "after"] : ["after"]);
}

// ------------------------------------------------------------------------------------------------ asking

// kind: point, colour or rectangle. done: gets {x, y}, {colour}, {x, y, width, height}.
export function askFor(kind, words, done) {
  asked = {kind, done};
  note.textContent = `${words} (Esc: not now)`;
  canvas.classList.add("asks");
}

// Has the picture be what the chosen step is given, until what is asked for is there. before, after: who brings that
// about.
let given = {before: () => {}, after: () => {}};
export const onGiven = (before, after) => { given = {before, after}; };
export const showGiven = () => given.before();

export function stopAsking() {
  if (asked) given.after();
  asked = null;
  if (note) note.textContent = "";
  canvas?.classList.remove("asks");
}

async function colourAt(point) {
  const data = await pixels({which: current() === view.before ? "before" : "after", ...point, width: 1, height: 1,
                             outWidth: 1, outHeight: 1});
  return data && `#${[...data.data.slice(0, 3)].map(v => v.toString(16).padStart(2, "0")).join("")}`;
}

async function tell(point) {
  const colour = await colourAt(point);
  told.textContent = colour ? `x ${point.x}, y ${point.y}: ${colour}` : "";
  return colour;
}

let placed = null;
export const onPlace = listener => { placed = listener; };

async function clicked(point) {
  if (placed) {
    placed({...point, of: current()});
    return;
  }
  const now = asked, colour = await tell(point);
  if (!now || now.kind === "rectangle") return;
  asked = null;
  now.done({...point, colour}); // may ask for the next
  if (!asked) {
    asked = now;
    stopAsking();
  }
}

// ------------------------------------------------------------------------------------------------ hands

function zoomTo(zoom, point) {
  const of = current(), before = scale();
  const at = point || {x: view.zoom ? view.x : of.width / 2, y: view.zoom ? view.y : of.height / 2};
  const from = view.zoom ? {x: view.x, y: view.y} : {x: of.width / 2, y: of.height / 2};
  view.zoom = zoom && zoom > fit(of) ? Math.min(64, zoom) : zoom >= 1 ? zoom : 0;
  if (view.zoom) {
    view.x = at.x - (at.x - from.x) * before / view.zoom;
    view.y = at.y - (at.y - from.y) * before / view.zoom;
  }
  document.getElementById("zoom").textContent = view.zoom ? `${Math.round(100 * view.zoom)} %` : "all";
  later();
}

function beginDrag(event) {
  const point = pointAt(event);
  drag = {x: event.clientX, y: event.clientY, point, from: {x: view.x, y: view.y}, moved: false};
  canvas.setPointerCapture(event.pointerId);
}

function goDrag(event) {
  if (!drag) return;
  drag.moved = drag.moved || Math.hypot(event.clientX - drag.x, event.clientY - drag.y) > 3;
  if (!drag.moved) return;
  if (asked?.kind === "rectangle") {
    const end = pointAt(event), {point} = drag;
    drag.box = {x: Math.min(point.x, end.x), y: Math.min(point.y, end.y),
                width: Math.abs(end.x - point.x) + 1, height: Math.abs(end.y - point.y) + 1};
    told.textContent = `${drag.box.width} × ${drag.box.height} from x ${drag.box.x}, y ${drag.box.y}`;
    paint();
  } else if (view.zoom) {
    view.x = drag.from.x - (event.clientX - drag.x) * dots() / view.zoom;
    view.y = drag.from.y - (event.clientY - drag.y) * dots() / view.zoom;
    later();
  }
}

function endDrag(event) {
  const done = drag, now = asked;
  drag = null;
  if (!done) return;
  if (done.box && now) {
    stopAsking();
    now.done(done.box);
    paint();
  } else if (!done.moved) {
    clicked(pointAt(event));
  }
}

function keys(event) {
  const step = 40 / scale();
  if (event.key === "+" || event.key === "=") zoomTo(scale() * 2);
  else if (event.key === "-") zoomTo(scale() / 2);
  else if (event.key === "0") zoomTo(0);
  else if (event.key === "1") zoomTo(1);
  else if (event.key.startsWith("Arrow") && view.zoom) {
    view.x += {ArrowLeft: -step, ArrowRight: step}[event.key] || 0;
    view.y += {ArrowUp: -step, ArrowDown: step}[event.key] || 0;
    later();
  } else if (event.key === "Escape") { drag = null; stopAsking(); paint(); }
  else return;
  event.preventDefault();
}

export function choose(show) {
  view.show = show;
  for (const button of document.querySelectorAll("#shown button"))
    button.setAttribute("aria-pressed", String(button.value === show));
  later();
}

export function begin() {
  canvas = h("canvas", {id: "canvas", tabindex: 0, role: "img",
                        "aria-label": "The picture. + and - zoom, 0 shows all, 1 single pixels, arrows move"});
  note = h("span.ask", {role: "status"});
  told = h("span.small.soft", {id: "told"});
  const split = h("input", {type: "range", id: "split", min: 0, max: 1000, value: 500, "aria-label": "Before and after",
                            oninput: () => { view.split = split.value / 1000; paint(); }});
  const tool = (label, title, onclick, more) =>
    h("button.tool", {type: "button", title, "aria-label": title, onclick, ...more}, label);
  document.getElementById("picture").replaceChildren(
    h("p.tools", {id: "looks"},
      h("span", {id: "shown", role: "group", "aria-label": "Shown"},
        [["both", "both"], ["before", "before"], ["after", "after"]].map(([value, label]) =>
          tool(label, `Show ${label}`, () => choose(value), {value, "aria-pressed": String(value === view.show)}))),
      tool("−", "Smaller (-)", () => zoomTo(scale() / 2)), h("span.small", {id: "zoom"}, "all"),
      tool("+", "Larger (+)", () => zoomTo(scale() * 2)), tool("1:1", "Pixel by pixel (1)", () => zoomTo(1)),
      tool("all", "All of it (0)", () => zoomTo(0)), note),
    h("div.stage", canvas,
      h("span.preview.small", {id: "preview", hidden: true}, "preview")), split, h("p", told));
  canvas.addEventListener("pointerdown", beginDrag);
  canvas.addEventListener("pointermove", goDrag);
  canvas.addEventListener("pointerup", endDrag);
  canvas.addEventListener("keydown", keys);
  canvas.addEventListener("wheel", event => {
    event.preventDefault();
    zoomTo(scale() * (event.deltaY < 0 ? 1.25 : 0.8), pointAt(event));
  }, {passive: false});
  new ResizeObserver(() => {
    canvas.width = Math.max(1, Math.round(canvas.clientWidth * dots()));
    canvas.height = Math.max(1, Math.round(canvas.clientHeight * dots()));
    later();
  }).observe(canvas);
}
