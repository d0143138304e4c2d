// `kernel --time`: launches on one axis of predicted time, what bounds each, its source by time with SASS beside it.
const STALL_TONES = ["v1", "v2", "v3", "v4", "v6"]; // of the page's most frequent stall reasons; red is waste
const words = reason => reason.replaceAll("_", " ");
const whole = share => `${(100 * share).toFixed(share >= 0.0005 && share < 0.0095 ? 1 : 0)} %`;
const micro = us => seconds(us / 1e6);
const intervalOf = p => `${micro(p.us)} (${micro(p.low_us)} to ${micro(p.high_us)})`;
const reasonsOf = stalls => Object.entries(stalls).filter(([, share]) => share > 0).sort((a, b) => b[1] - a[1]);
const modelled = launch => !launch.predicted.not_modelled;
const kernelOf = (data, launch) => data.kernels[launch.index];

function timedTitle(data, launch) {
  const again = data.launches.filter(other => other.index === launch.index).length > 1;
  const shapes = data.kernels.some(k => k !== kernelOf(data, launch) && k.kernel === launch.kernel);
  return titleOf(data, kernelOf(data, launch)) + (shapes ? ` <<<${launch.grid.join("x")}>>>` : "") +
    (again ? `, launch ${launch.launch}` : "");
}

// Class of each reason's colour; others are gray.
function tonesOf(data) {
  const sums = {};
  for (const {predicted: p} of data.launches.filter(modelled))
    for (const [reason, share] of Object.entries(p.stalls)) sums[reason] = (sums[reason] ?? 0) + share * p.us;
  const order = reasonsOf(sums).slice(0, STALL_TONES.length).map(([reason]) => reason);
  const tone = reason => STALL_TONES[order.indexOf(reason)] ?? "v0";
  return {tone, order, others: reasonsOf(sums).length > order.length};
}

// ------------------------------------------------------------------------------------------------ all launches

function besideFastest(data, launch) {
  if (!data.time_model.compared) return null;
  const group = other => kernelOf(data, other).group;
  const best = by(data.launches.filter(other => modelled(other) && group(other) === group(launch)),
    (a, b) => a.predicted.us < b.predicted.us);
  if (best === launch) return h("span.good", " the fastest");
  const times = ` ×${digits(launch.predicted.us / best.predicted.us, 3)} of the fastest`;
  return launch.predicted.low_us <= best.predicted.high_us ? h("span.soft", times, ", within the error") : times;
}

function timeAxis(data) {
  const timed = data.launches.filter(modelled), high = Math.max(0, ...timed.map(l => l.predicted.high_us));
  const axis = axisFor(Math.min(...timed.map(l => l.predicted.low_us)), high, true);
  const at = us => axisAt(axis, us);
  return [data.launches.map(launch => {
    const p = launch.predicted, low = at(p.low_us), range = {left: percent(low), width: percent(at(p.high_us) - low)};
    const title = h("a", {href: `#time${data.launches.indexOf(launch)}`}, timedTitle(data, launch));
    if (!modelled(launch)) return h("div.row.timed", title, h("span.refused.soft", `not modelled: ${p.not_modelled}`));
    return h("div.row.timed", title, h("span.track", bar(at(p.us)), h("b", {style: range})),
      h("span.value", intervalOf(p), besideFastest(data, launch)));
  }), timed.length > 0 && [h("div.row.timed", h("span"), axisLabels(axis, micro), h("span")),
    h("p.soft.small", "The line in a bar is the interval in which nine of ten measured times are expected.",
      axis.logarithmic && " The axis is logarithmic.")]];
}

// ------------------------------------------------------------------------------------------------ one launch

function resources(p) {
  const used = [...Object.entries(p.use), ["the launch itself", p.launch_share]].filter(([, share]) => share >= 0.005)
    .sort((a, b) => b[1] - a[1]);
  const bound = name => name === p.bound || (p.bound === "launch" && name === "the launch itself");
  return [h("h3", "Resources, of their peak"), used.map(([name, share]) => h("div.row.time",
    h(bound(name) ? "b.bad" : "span", name), h("span.track", bar(100 * Math.min(1, share))),
    h("span.value", whole(share), bound(name) && ", the bound")))];
}

function facts(p) {
  const m = p.memory, pair = (name, ...text) => [h("dt", name), h("dd", text)];
  return h("dl.pairs",
    pair("occupancy", `${whole(p.occupancy)}, ${count(p.blocks_on_an_sm, "block", "blocks")} at a time on an SM`),
    pair("waves", digits(p.waves, 3), p.tail >= 0.01 && `; the last leaves ${whole(p.tail)} of the time unused`),
    pair("L1", `${bytes(Math.round(m.l1_read_bytes))} read, hits ${whole(m.l1_hit)}`),
    pair("L2", `${bytes(Math.round(m.l2_read_bytes))} read, ${bytes(Math.round(m.l2_write_bytes))} written, ` +
      `hits ${whole(m.l2_hit)}`),
    pair("DRAM", `${bytes(Math.round(m.dram_read_bytes))} read, ${bytes(Math.round(m.dram_write_bytes))} written`),
    pair("simulated", `${count(p.blocks_simulated, "block", "blocks")} of one SM, ${Math.round(p.cycles)} cycles`));
}

const CANNOT_TELL = "no difference that the model can tell";
const gainOf = (us, saved) => `${saved > 0 ? "saves" : "costs"} ${whole(Math.abs(saved) / us)}`;
const priceOf = (data, k, row) => data.launches?.find(l => kernelOf(data, l) === k && modelled(l))
  ?.predicted.mended?.find(m => m.file === row.file && m.line === row.line && m.width === row.width &&
    m.access === `${row.space} ${row.op}`);
// "; saves 12 µs (10 µs to 15 µs) as predicted", of a row of the lab's table; "" where it has no price.
function savedOf(data, k, row) {
  const m = priceOf(data, k, row);
  if (!m) return "";
  const saved = m.us_saved > 0 ? "saves" : "costs", [low, high] = [m.low_us_saved, m.high_us_saved].map(Math.abs);
  return m.differs ? `; ${saved} ${micro(Math.abs(m.us_saved))} (${micro(low)} to ${micro(high)}) as predicted`
    : `; ${CANNOT_TELL}`;
}

// What it would take with something free: blue stays, red is saved.
function prices(p) {
  const LEAST = 0.05, lines = p.mended?.length > 1 ? p.mended : [];
  const told = [...Object.entries(p.what_if_us_saved ?? {}),
    ...lines.map(m => [`the waste of ${placeText(m)}, ${m.access}`, m.us_saved])];
  const all = told.filter(([, saved]) => Math.abs(saved) > LEAST * p.us);
  const most = Math.max(p.us, ...all.map(([, saved]) => p.us - saved));
  const little = told.filter(x => !all.includes(x)).map(([what]) => what);
  return p.what_if_us_saved && [h("h3", "What if"), h("p.soft.small", "Predicted times with something made free of ",
    "cost; ", h("span.bad", "■"), " is what that saves."),
    all.map(([what, saved]) => h("div.row.price", h("span", `without ${what}`),
      h("span.track", bar(100 * (p.us - saved) / most, 100 * saved / most)),
      h("span.value", `${micro(p.us - saved)}, ${gainOf(p.us, saved)}`))),
    little.length > 0 && h("p.soft.small", `${little.join(", ")}: ${CANNOT_TELL}.`)];
}

// The same instructions with other numbers of blocks on an SM.
function occupancies(p) {
  const heads = ["blocks on an SM", "warps", "occupancy", "registers", "shared bytes", "time", "<beside now"];
  const most = o => (o.now ? "" : "≤ ");
  return p.occupancies?.length > 0 && [h("h3", "Occupancy"), h("p.soft.small",
    "Predicted times of the same instructions with other numbers of blocks on an SM: what fewer registers spill, and ",
    "smaller tiles read again, is not in it. Other block sizes are launches of their own."),
    scroll("occupancy", tableOf(heads, p.occupancies.map(o => [o.blocks, o.warps, whole(o.occupancy),
      `${most(o)}${o.registers_at_most}`, `${most(o)}${o.shared_bytes_at_most}`, micro(o.us),
      o.now ? `now${o.limit ? `, limited by ${o.limit}` : ""}`
        : o.differs ? gainOf(p.us, p.us - o.us) : CANNOT_TELL])))];
}

// A bar as long as the share, in the colours of its reasons.
function stallBar(tones, row, most) {
  const parts = reasonsOf(row.stalls), gray = parts.filter(([reason]) => !tones.order.includes(reason));
  const shown = tones.order.map(reason => [reason, row.stalls[reason] ?? 0]);
  const title = parts.map(([reason, share]) => `${words(reason)} ${whole(share)}`).join(", ");
  return h("td", h("span.stalls", {title}, [...shown, ["", sumOf(gray, ([, share]) => share)]]
    .map(([reason, share]) => share > 0 &&
      h(`i.${tones.tone(reason)}`, {style: {width: percent(100 * share * row.share / most)}}))));
}

const mainStall = row => {
  if (row.share < 0.005) return "";
  const [first] = reasonsOf(row.stalls).filter(([reason]) => reason !== "selected");
  const at = row.waits_for_file === row.file ? "line " : `${baseName(row.waits_for_file ?? "")}:`;
  const waits = row.waits_for_line ? `: for what ${at}${row.waits_for_line} writes` : "";
  return first ? `${words(first[0])} ${whole(first[1])}${waits}` : "";
};

function legend(tones) {
  return h("p.small", tones.order.map(reason => [h(`span.${tones.tone(reason)}`, "■"), ` ${words(reason)} \u2002`]),
    tones.others && [h("span.v0", "■"), " others"]);
}

// Lines of one launch, those of --each's instructions as one.
function timedLines(p) {
  const lines = new Map();
  for (const row of p.instructions ?? p.lines) {
    const key = `${row.line}:${row.file}`;
    const line = lines.get(key) ?? {file: row.file, line: row.line, share: 0, sums: {}};
    line.share += row.share;
    for (const [reason, share] of Object.entries(row.stalls))
      line.sums[reason] = (line.sums[reason] ?? 0) + share * row.share;
    lines.set(key, line);
  }
  const waits = line => p.lines.find(l => l.line === line.line && l.file === line.file && l.waits_for_line);
  return [...lines.values()].map(line => ({...waits(line), ...line,
    stalls: Object.fromEntries(Object.entries(line.sums).map(([reason, sum]) => [reason, sum / line.share]))}));
}

function timedSource(k, lines, file, tones, pick) {
  const AROUND = 1, own = lines.filter(line => line.file === file), texts = k.sources[file] ?? {};
  const most = Math.max(...lines.map(line => line.share));
  const near = number => own.some(line => Math.abs(line.line - number) <= AROUND);
  const numbers = [...new Set([...Object.keys(texts).map(Number), ...own.map(line => line.line)])].filter(near)
    .sort((a, b) => a - b);
  const rows = numbers.flatMap((number, i) => {
    const row = own.find(line => line.line === number), gap = i > 0 && number > numbers[i - 1] + 1;
    const pickIt = () => pick(file, number);
    return [gap && h("tr.far", h("td"), h("td", "…"), h("td"), h("td"), h("td"), h("td")), h("tr",
      h("td", row ? h("button", {type: "button", onclick: pickIt, "aria-label": `SASS of line ${number}`}, number)
        : number), row ? [h("td", whole(row.share)), stallBar(tones, row, most)] : [h("td"), h("td")],
      h("td.text.code", h("code", texts[number])), h("td.text", row && mainStall(row)),
      h("td.text.bad", heatText(k.rows.filter(r => r.file === file && r.line === number))))].filter(Boolean);
  });
  return [h("h3", baseName(file)), scroll(`predicted time of ${file}`, h("table.source.timed",
    h("thead", h("tr", ["line", "time"].map(t => h("th", t)),
      ["why warps wait", "source", "mostly", "counts"].map(t => h("th.text", t)))), h("tbody", rows)))];
}

function sassOf(p, tones, tables) {
  if (!p.instructions?.length) return null;
  const most = Math.max(...p.instructions.map(i => i.share));
  const rows = p.instructions.map(i => {
    const row = h("tr", h("td", i.place), h("td", whole(i.share)), stallBar(tones, i, most),
      h("td.text.code", h("code", i.instruction)), h("td.text", mainStall(i)));
    tables.push({row, file: i.file, line: i.line});
    return row;
  });
  return [h("h3", "SASS"), h("p.soft.small", "A click on a line's number marks its instructions."),
    h("div.scroll.sass", {tabindex: 0, role: "region", "aria-label": "SASS"}, h("table.source.timed",
      h("thead", h("tr", ["", "time"].map(t => h("th", t)),
        ["why warps wait", "instruction", "mostly"].map(t => h("th.text", t)))), h("tbody", rows)))];
}

function timeSection(data, launch, tones, open) {
  const p = launch.predicted, k = kernelOf(data, launch), marks = [];
  const id = `time${data.launches.indexOf(launch)}`, head = h("h2", `Time of ${timedTitle(data, launch)}`);
  if (!modelled(launch)) return h("section", {id}, head, h("p.warn", `not modelled: ${p.not_modelled}`));
  const pick = pickerOf(marks);
  const lines = timedLines(p), files = [...new Set(lines.filter(line => line.line).map(line => line.file))];
  return h("section", {id}, head, fold([h("b", intervalOf(p)),
    `, bound by ${p.bound}; grid ${launch.grid.join("x")}, block ${launch.block.join("x")}`], open,
    h("div.halves", h("div", resources(p)), h("div", h("h3", "Occupancy and memory"), facts(p))),
    p.left_out && h("p.warn", `left out of its time: ${p.left_out}`), prices(p), occupancies(p),
    legend(tones), h("div.halves", h("div", files.map(file => timedSource(k, lines, file, tones, pick))),
      h("div", sassOf(p, tones, marks)))));
}

const slowestOf = data => by(data.launches.filter(modelled), (a, b) => a.predicted.us > b.predicted.us);

function timeVerdict(data) {
  const slow = slowestOf(data);
  if (!slow) return null;
  const line = by(timedLines(slow.predicted).filter(l => l.line), (a, b) => a.share > b.share);
  return h("p.verdict", h("b", timedTitle(data, slow)), ` takes ${intervalOf(slow.predicted)}, bound by `,
    slow.predicted.bound, line && [". Most at ", h("b", placeText(line)),
      `: ${whole(line.share)} of its time, mostly ${mainStall(line)}`], ".");
}

function timeOverview(data) {
  const m = data.time_model;
  return data.launches && h("section", h("h2", "Predicted time"),
    h("p.warn", h("b", `predicted for ${m.title}`, m.clock_ghz && ` at ${m.clock_ghz.toFixed(2)} GHz`),
      m.clock_ghz && `: ${m.error}`), timeVerdict(data), timeAxis(data));
}

function timeSections(data) {
  const FEW = 4; // launches that are shown whole; of more, the slowest
  if (!data.launches) return null;
  const tones = tonesOf(data), slow = slowestOf(data);
  return data.launches.map(l => timeSection(data, l, tones, data.launches.length <= FEW || l === slow));
}
