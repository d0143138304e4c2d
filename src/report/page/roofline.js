// The roofline: the operations a second of each variant over the operations of its step for each byte that crosses
// memory, below the line that memory bandwidth allows (Williams, Waterman, Patterson 2009). Both axes are logarithmic.
const ROOF = {width: 720, height: 400, left: 96, right: 24, top: 20, bottom: 62};
const TONES = 6; // classes v0, v1, ...

const intensity = step => (step.bytes ? step.operations / step.bytes : 0);
const opRate = (step, v) => (isTimed(v) ? step.operations / v.median_seconds : 0);

function powerText(power) {
  const names = ["n", "µ", "m", "", "k", "M", "G", "T", "P"], group = Math.floor(power / 3);
  if (group < -3 || group > 5) return `1e${power}`;
  return `${10 ** (power - 3 * group)} ${names[group + 3]}`.trim();
}

function findPlot(data, dots) {
  const e = data.environment, roof = Math.max(e.copy_gb_per_second ?? 0, e.peak_gb_per_second ?? 0) * 1e9;
  const xs = dots.map(dot => dot.x), ys = dots.flatMap(dot => (roof > 0 ? [dot.y, dot.x * roof] : [dot.y]));
  const x0 = Math.floor(Math.log10(Math.min(...xs) / 2)), x1 = Math.ceil(Math.log10(Math.max(...xs) * 2));
  const y0 = Math.floor(Math.log10(Math.min(...ys) / 1.5)), y1 = Math.ceil(Math.log10(Math.max(...ys) * 1.5));
  const {width, height, left, right, top, bottom} = ROOF;
  return {x0, x1, y0, y1,
    x: value => left + (Math.log10(value) - x0) / (x1 - x0) * (width - left - right),
    y: value => height - bottom - (Math.log10(value) - y0) / (y1 - y0) * (height - top - bottom)};
}

function roofAxes(p) {
  const {width, height, left, right, top, bottom} = ROOF, parts = [];
  for (let x = p.x0; x <= p.x1; x++) {
    const at = p.x(10 ** x).toFixed(1);
    parts.push(s("line.grid", {x1: at, x2: at, y1: top, y2: height - bottom}),
      s("text", {x: at, y: height - bottom + 20, "text-anchor": "middle"}, digits(10 ** x, 3)));
  }
  for (let y = p.y0; y <= p.y1; y++) {
    const at = p.y(10 ** y);
    parts.push(s("line.grid", {x1: left, x2: width - right, y1: at.toFixed(1), y2: at.toFixed(1)}),
      s("text", {x: left - 6, y: (at + 5).toFixed(1), "text-anchor": "end"}, powerText(y)));
  }
  parts.push(s("text.label", {x: (left + width - right) / 2, y: height - 14, "text-anchor": "middle"},
    "operations for each byte"));
  parts.push(s("text.label", {transform: `translate(16 ${(top + height - bottom) / 2}) rotate(-90)`,
    "text-anchor": "middle"}, "operations a second"));
  return parts;
}

// The line y = x * bytes a second, clipped to the plot.
function roofLine(p, gbs, name, kind) {
  const slope = (gbs ?? 0) * 1e9, a = Math.max(10 ** p.x0, 10 ** p.y0 / slope);
  const b = Math.min(10 ** p.x1, 10 ** p.y1 / slope), text = `${name}, ${digits(gbs ?? 0, 4)} GB/s`;
  if (!(slope > 0) || a >= b) return null;
  const [x1, y1, x2, y2] = [p.x(a), p.y(a * slope), p.x(b), p.y(b * slope)].map(at => Number(at.toFixed(1)));
  const lean = (Math.atan2(y2 - y1, x2 - x1) * 180 / Math.PI).toFixed(1);
  return [s(`line.roof.${kind}`, {x1, y1, x2, y2}, s("title", text)),
    s("text.ceiling", {"text-anchor": "end", transform: `translate(${x2} ${y2}) rotate(${lean}) translate(-6 ${kind === "copy" ? 18 : -8})`},
      text)];
}

// Which cache explains a step whose fastest dot is above what memory would let it be; a copy is measured, too: hence
// the slack.
function aboveText(data, step) {
  const e = data.environment, roof = 1.02 * Math.max(e.copy_gb_per_second ?? 0, e.peak_gb_per_second ?? 0) * 1e9;
  const best = by(step.variants.filter(isTimed), (a, b) => opRate(step, a) > opRate(step, b));
  const over = best && roof > 0 && intensity(step) > 0 ? opRate(step, best) / (intensity(step) * roof) : 0;
  if (over <= 1) return null;
  const cache = e.cache_bytes > 0 ? `${isGpu(data) ? "the L2 cache" : "the last cache"} of ${bytes(e.cache_bytes)}`
                                  : "the last cache";
  return h("p.warn", `Step ${step.number} (${best.variant}) is above the line, ${digits(over, 2)} times: `,
    step.fits_cache ? `its ${bytes(step.bytes)} fit into ${cache}, so that ${data.hot
      ? "memory is hardly asked" : "what it writes stays there when the time stops"}.`
    : `a part of its ${bytes(step.bytes)} stays in ${cache}, whose rate is the ceiling there.`);
}

function roofline(data) {
  const dots = data.steps.flatMap(step => step.variants.map(v => ({step, v, x: intensity(step), y: opRate(step, v)})))
    .filter(dot => dot.x > 0 && dot.y > 0);
  if (!dots.length) return null;
  const p = findPlot(data, dots), e = data.environment;
  const names = [...new Set(data.steps.flatMap(step => step.variants.filter(isTimed).map(v => v.variant)))];
  const tone = name => `v${names.indexOf(name) % TONES}`;
  const tops = data.steps.map(step => by(dots.filter(dot => dot.step === step), (a, b) => a.y > b.y)).filter(Boolean);
  return h("section", {style: {"break-inside": "avoid"}}, h("h2", "Roofline"), h("div.beside",
    h("figure", s("svg.roofline", {viewBox: `0 0 ${ROOF.width} ${ROOF.height}`, role: "img",
      "aria-label": "roofline: operations a second of each variant over operations for each byte"},
      roofAxes(p), roofLine(p, e.copy_gb_per_second, "copy", "copy"),
      roofLine(p, e.peak_gb_per_second, "datasheet", "peak"),
      dots.map(({step, v, x, y}) => s(`circle.${tone(v.variant)}`, {cx: p.x(x).toFixed(1), cy: p.y(y).toFixed(1), r: 6},
        s("title", `${step.number}. ${step.step}, ${v.variant}: ${digits(y / 1e9, 4)} G operations a second`))),
      tops.map(({step, x, y}) => s("text", {x: p.x(x).toFixed(1), y: (p.y(y) - 11).toFixed(1),
        "text-anchor": "middle"}, step.number)))),
    h("div.small", h("p", names.map(name => [h(`span.${tone(name)}`, "●"), ` ${name} \u2002`])),
      h("p", "Each dot is a variant, a number its step. Higher is faster; to the right, more arithmetic for each ",
        "byte."),
      e.copy_gb_per_second > 0 && h("p", h("b", "The red line"), " is the ceiling that memory sets: " +
        `${digits(e.copy_gb_per_second, 4)} GB/s, what a copy reaches on this device` +
        `${e.peak_gb_per_second > 0 ? "; dashed, the datasheet" : ""}. A dot on it is done; how far one lies below ` +
        "is what a better kernel could win, unless arithmetic is its limit."),
      data.steps.map(step => aboveText(data, step)),
      h("p.soft", "Steps that only move samples are not shown."))));
}
