// Elements, text and numbers. Data reach the document as text nodes and attributes alone: nothing is parsed as HTML.
const SVG = "http://www.w3.org/2000/svg";

// Control characters, and those that turn the direction of writing, would make a name look like another one.
const UNSAFE = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff\ufffd]/g;
const clean = text => String(text).replace(UNSAFE, "?");

function build(node, rest) {
  for (const part of rest.flat(Infinity)) {
    if (part === null || part === undefined || part === false || part === "") continue;
    if (part instanceof Node) {
      node.append(part);
    } else if (typeof part === "object") {
      for (const [name, value] of Object.entries(part)) {
        if (name === "style") for (const [rule, v] of Object.entries(value)) node.style.setProperty(rule, v);
        else if (name === "onclick" || name === "oninput") node[name] = value;
        else if (value !== null && value !== undefined && value !== false)
          node.setAttribute(name, value === true ? "" : clean(value));
      }
    } else {
      node.append(clean(part));
    }
  }
  return node;
}

// h("p.soft.small", {id: "x"}, "text", [more]): an element; s: one of SVG.
const create = make => (name, ...rest) => {
  const [tag, ...classes] = name.split(".");
  const node = make(tag);
  if (classes.length) node.setAttribute("class", classes.join(" "));
  return build(node, rest);
};
const h = create(tag => document.createElement(tag));
const s = create(tag => document.createElementNS(SVG, tag));

const count = (n, one, many) => `${n} ${n === 1 ? one : many}`;
const plural = n => (n === 1 ? "" : "s");
// So many significant digits, as few as tell the same.
const digits = (x, n) => String(Number(x.toPrecision(n)));
const percent = x => `${Number(x.toFixed(2))}%`;
// Five digits; whole numbers in full.
const short = x => (Number.isInteger(x) && Math.abs(x) < 1e12 ? String(x) : digits(x, 5));
const baseName = path => path.slice(path.lastIndexOf("/") + 1);

function seconds(x) {
  if (x < 0.9995e-3) return `${digits(x * 1e6, 3)} µs`;
  return x < 0.9995 ? `${digits(x * 1e3, 3)} ms` : `${digits(x, 4)} s`;
}

function amount(x) {
  if (x >= 1e6) return `${digits(x / 1e6, 4)} M`;
  return x >= 1e4 ? `${digits(x / 1e3, 4)} k` : digits(x, 4);
}

function bytes(x) {
  const units = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];
  let unit = 0;
  for (; x >= 1024 && unit + 1 < units.length; unit++) x /= 1024;
  return `${unit ? x.toFixed(1) : x} ${units[unit]}`;
}

// A part that is too wide for a phone scrolls by itself, by keys too.
const scroll = (label, ...parts) => h("div.scroll", {tabindex: 0, role: "region", "aria-label": label}, parts);

const fold = (summary, open, ...parts) => h("details", {open}, h("summary", summary), parts);

// ------------------------------------------------------------------------------------------------ axes

// From 0 to most; logarithmic where it may be and most is more than 30 times the least, so that short bars can be told
// apart. Ticks are evenly spaced from the left edge, every `tick` per cent.
function axisFor(least, most, mayBeLogarithmic) {
  if (!(most > 0)) return {from: 0, to: 0, tick: 0, ticks: 0};
  if (mayBeLogarithmic && least > 0 && most > 30 * least) {
    const first = Math.floor(Math.log10(least) - 0.1), last = Math.ceil(Math.log10(most));
    return {logarithmic: true, from: 10 ** first, to: 10 ** last, tick: 100 / (last - first), ticks: last - first};
  }
  const rough = most / 4, power = 10 ** Math.floor(Math.log10(rough));
  const step = power * [1, 2, 2.5, 5, 10].find(nice => nice * power >= rough * 0.999);
  return {from: 0, to: most, tick: 100 * step / most, ticks: Math.floor(most / step + 1e-9)};
}

// Per cent of the way along.
function axisAt(axis, value) {
  if (!(axis.to > axis.from) || !(value > axis.from)) return 0;
  const at = axis.logarithmic ? Math.log10(value / axis.from) / Math.log10(axis.to / axis.from)
                              : (value - axis.from) / (axis.to - axis.from);
  return 100 * Math.min(1, at);
}

function axisLabels(axis, label) {
  const every = Math.ceil(axis.ticks / 5) || 1, labels = [];
  for (let i = 0; axis.ticks && i <= axis.ticks; i += every) {
    const at = i * axis.tick, value = axis.logarithmic ? axis.from * 10 ** i : axis.to * at / 100;
    labels.push(h(at > 92 ? "span.end" : "span", {style: {left: percent(at)}}, label(value)));
  }
  return h("span.axis", labels);
}

// A bar, and red behind it what is more than needed.
const bar = (part, more) => [
  h("i", {style: {width: percent(part)}}),
  more > 0 && h("i.more", {style: {left: percent(part), width: percent(more)}})
];
