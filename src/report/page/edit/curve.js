// Points of a curve, from 0 0 to 1 1: drawn, moved by mouse and arrows, added by a click, taken out by Delete.
import {fill} from "./fill.js";
import {h, s} from "./kit.js";

const SIZE = 200, NEAR = 12; // pixels of the drawing
const STEP = 0.01;

// rows: [x, y] as texts. tell: gets them when they change.
export function curve(rows, name, tell) {
  let points = rows.map(row => row.map(Number)), chosen = -1, held = false;
  const plot = s("svg.curve", {viewBox: `-6 -6 ${SIZE + 12} ${SIZE + 12}`, tabindex: 0, role: "application",
    "aria-label": `${name}: arrows move the chosen point, Tab the next, a click adds one, Delete takes one out`});
  const at = ([x, y]) => [x * SIZE, (1 - y) * SIZE];
  const write = n => String(Math.round(n * 1000) / 1000);
  const inside = n => Math.max(0, Math.min(1, n));

  function draw() {
    const line = points.map(p => at(p).join(" ")).join(" ");
    fill(plot, s("path.grid", {d: `M0 0H${SIZE}V${SIZE}H0ZM0 ${SIZE}L${SIZE} 0`}), s("polyline", {points: line}),
      points.map((p, i) => s(i === chosen ? "circle.on" : "circle", {cx: at(p)[0], cy: at(p)[1], r: 5})));
  }

  // A point keeps its place among the others.
  function move(i, x, y) {
    const low = i ? points[i - 1][0] + STEP : 0, high = i < points.length - 1 ? points[i + 1][0] - STEP : 1;
    points[i] = [Math.max(low, Math.min(high, inside(x))), inside(y)];
    change();
  }

  function change() {
    draw();
    tell(points.map(p => p.map(write)));
  }

  function place(event) {
    const box = plot.getBoundingClientRect(), unit = (SIZE + 12) / box.width;
    const x = (event.clientX - box.left) * unit - 6, y = (event.clientY - box.top) * unit - 6;
    return {x: x / SIZE, y: 1 - y / SIZE};
  }

  plot.addEventListener("pointerdown", event => {
    const {x, y} = place(event);
    const far = ([px, py]) => Math.hypot(px - x, py - y) * SIZE;
    chosen = points.findIndex(p => far(p) < NEAR);
    if (chosen < 0 && points.length < 16) {
      points = [...points, [inside(x), inside(y)]].sort((a, b) => a[0] - b[0]);
      chosen = points.findIndex(p => far(p) < 1);
      move(chosen, x, y);
    }
    held = chosen >= 0;
    plot.setPointerCapture(event.pointerId);
    draw();
  });
  plot.addEventListener("pointermove", event => {
    if (!held) return;
    const {x, y} = place(event);
    move(chosen, x, y);
  });
  plot.addEventListener("pointerup", () => { held = false; });
  plot.addEventListener("keydown", event => {
    const by = {ArrowLeft: [-STEP, 0], ArrowRight: [STEP, 0], ArrowUp: [0, STEP], ArrowDown: [0, -STEP]}[event.key];
    if (event.key === "Tab" && !event.shiftKey && chosen < points.length - 1) chosen++;
    else if (event.key === "Delete" && chosen >= 0 && points.length > 2) {
      points = points.filter((_, i) => i !== chosen);
      chosen = -1;
      change();
    } else if (by && chosen >= 0) move(chosen, points[chosen][0] + by[0], points[chosen][1] + by[1]);
    else return;
    event.preventDefault();
    event.stopPropagation();
    draw();
  });
  draw();
  return h("div", plot);
}
