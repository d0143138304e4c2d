// `batch`: failures with their reasons, files before and after, where the time went.
const OPEN = 12; // failures; further ones are folded

const image = (picture, alt) => h("img", {src: `data:image/bmp;base64,${picture.bmp}`, width: picture.width,
  height: picture.height, alt});

function batchHead(data) {
  const rate = data.done / data.wall_seconds;
  return [h("h1", `${count(data.done, "file", "files")} done`,
      data.failed > 0 && [", ", h("span.bad", `${data.failed} failed`)]),
    h("p", data.pipeline && [h("b", data.pipeline), ": "],
      data.steps.map((step, i) => [i > 0 && ", ", h("code", step)]),
      data.steps.length ? ", into " : "Converted into ", data.folder),
    h("p", `${bytes(data.input_bytes)} of input in ${digits(data.wall_seconds, 3)} seconds`,
      data.wall_seconds > 0 && data.done > 0 && `, ${rate >= 100 ? rate.toFixed(0) : digits(rate, 3)} files a second`,
      ".", data.skipped > 0 && ` ${data.skipped} ${data.skipped === 1 ? "was" : "were"} made before, and left.`)];
}

// A hint stands once: it may be long, and many fail alike.
function batchFailures(data) {
  const hints = new Set(), failures = data.failures.map(f => {
    const told = !f.hint || hints.has(f.hint);
    hints.add(f.hint);
    return [h("dt", f.input), h("dd.bad", f.error, !told && h("span.soft", f.hint))];
  });
  const left = data.failed - failures.length;
  return data.failed > 0 && [h("h2", "What failed"), h("dl", failures.slice(0, OPEN)),
    failures.length > OPEN && fold(`${data.failed - OPEN} more`, false, h("dl", failures.slice(OPEN)),
      left > 0 && h("p", `${left} more failed.`))];
}

function beforeAndAfter(pair) {
  const slider = h("input", {type: "range", value: 50, "aria-label": "how much is shown of before"});
  const box = h("div.pair", h("div", image(pair.before, "before"), image(pair.after, "after")), slider);
  slider.oninput = () => box.style.setProperty("--x", `${slider.value}%`);
  return h("figure.card", box, h("figcaption", h("b", pair.input),
    h("span.soft.small", `left: before; right: ${pair.output}`)));
}

function batchTimes(data) {
  const parts = [["read, decode", data.read_seconds], ["compute", data.compute_seconds],
    ["encode, write", data.write_seconds]];
  const all = sumOf(parts, part => part[1]);
  if (!(all > 0)) return null;
  return [h("h2", "Where the time went"),
    h("p.soft.small", "Seconds of all files added up; in several threads they overlap."),
    parts.map(([name, time]) => h("div.row.time", h("span", name), h("span.track", bar(100 * time / all)),
      h("span.value.soft", `${digits(time, 3)} s, ${(100 * time / all).toFixed(0)} %`))),
    data.slowest.length > 0 && [h("h3", "The slowest"), scroll("the slowest files", h("table", h("tbody",
      data.slowest.map(file => h("tr", h("td", h("i", file.input)), h("td", file.time))))))]];
}

function batchView(data) {
  const pairs = data.pairs.filter(pair => pair.before && pair.after);
  return [batchHead(data), batchFailures(data),
    pairs.length > 0 && [h("h2", "Before and after"), h("div.grid.wide", pairs.map(beforeAndAfter))],
    batchTimes(data)];
}
