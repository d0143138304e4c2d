// `kernel`: the line to look at, bars on one axis, mistakes, the source by cost, banks, all numbers.
const beyond = row => row.space === "local" ? 0 : Math.max(0, (row.sectors ?? 0) - (row.sectors_ideal ?? 0));
// Clocks of an SM beyond the ideal: one for a wavefront, one for two sectors.
const costOf = row => (row.conflicts ?? 0) + beyond(row) / 2;
const sumOf = (list, value) => list.reduce((all, x) => all + value(x), 0);
const dearestOf = k => by(k.rows.filter(row => costOf(row) > 0), (a, b) => costOf(a) > costOf(b));
const placeText = at => `${baseName(at.file)}:${at.line}`;

// "transpose.cu: transpose", or the kernel alone where there is one file.
const titleOf = (data, k) => (data.kernels.some(other => other.source !== data.kernels[0].source)
  ? `${k.source}: ${k.kernel}` : k.kernel);

function kernelVerdict(data) {
  const mistakes = sumOf(data.kernels, k => k.findings.length);
  const price = k => priceOf(data, k, dearestOf(k))?.us_saved;
  const k = by(data.kernels.filter(dearestOf), (a, b) => (price(a) && price(b) ? price(a) > price(b)
    : costOf(dearestOf(a)) > costOf(dearestOf(b))));
  const first = mistakes > 0 && h("p.verdict", h("a.bad", {href: "#findings"}, count(mistakes, "mistake", "mistakes")),
    ` in these kernels: mend ${mistakes === 1 ? "it" : "them"} first.`);
  if (!k) return [first, h("p.verdict.free", "No line has bank conflicts, and none moves more sectors than it needs.")];
  const row = dearestOf(k), look = k.look_at;
  return [first, h("p.verdict", "Look at ", h("b", placeText(row)), " of ", h("b", titleOf(data, k)),
    `: ${look.what}, ${(100 * costOf(row) / sumOf(k.rows, costOf)).toFixed(0)} % of what this kernel wastes`,
    look.advice ? `. To avoid it: ${look.advice}${savedOf(data, k, row)}` : savedOf(data, k, row), ".")];
}

// What a kernel left in its arrays, beside the first of its group.
function sameResults(data) {
  const words = {same: " leaves the same bytes as the first.",
    rounded: " leaves the values of the first, but for rounding: ", different: " leaves other values than the first: "};
  return data.kernels.filter(k => words[k.same]).map(k => h(k.same === "different" ? "p.bad" : "p.good",
    titleOf(data, k), words[k.same], k.difference));
}

function kernelLadder(data, title, unit, bad, all, needed) {
  const shared = k => [sumOf(k.rows, row => row[all] ?? 0), sumOf(k.rows, row => row[needed] ?? 0)];
  const sums = data.kernels.map(shared), most = Math.max(0, ...sums.map(([a]) => a)), axis = axisFor(0, most, false);
  if (!most) return null;
  return [h("h3", title), h("p.soft", h("span.key", "■"), " what the accesses need, ", h("span.bad", `■ ${bad}`), "."),
    data.kernels.map((k, i) => {
      const [a, n] = [sums[i][0], Math.min(sums[i][0], sums[i][1])];
      return h("div.row", h("span", titleOf(data, k)), h("span.track", bar(100 * n / most, 100 * (a - n) / most)),
        h("span.value", `${a} ${unit}`, a > n && [" ", h("span.bad", `×${n ? digits(a / n, 3) : 0}`)]));
    }),
    h("div.row", h("span"), axisLabels(axis, amount), h("span.value.soft", unit))];
}

function mistakes(data) {
  const place = (k, at) => at && [h("br"), h("span.mono", placeText(at)), ` thread ${at.thread} `,
    h("code", (k.sources[at.file]?.[at.line] ?? "").trimStart())];
  const found = data.kernels.flatMap(k => [
    ...k.findings.map(f => h("div.found", h("b.bad", f.kind), " in ", titleOf(data, k), `: ${f.text}`,
      f.count > 1 && ` (${f.count} times)`, place(k, f.at), place(k, f.other))),
    k.stopped && h("div.found", h("b.bad", "stopped"), " in ", titleOf(data, k), `: ${k.stopped}`)].filter(Boolean));
  return found.length > 0 && h("section", {id: "findings"}, h("h2", "Mistakes"), found);
}

function heatText(rows) {
  const conflicts = sumOf(rows, row => row.conflicts ?? 0), sectors = sumOf(rows, beyond);
  return [conflicts && `${conflicts} conflicts`, sectors && `${sectors} sectors`].filter(Boolean).join(", ");
}

// Marks the instructions of a line, in each list of them.
function pickerOf(marks) {
  return (file, line) => {
    for (const mark of marks) mark.row.classList.toggle("on", mark.file === file && mark.line === line);
    for (const box of new Set(marks.map(mark => mark.row.closest(".sass")))) {
      const first = box?.querySelector("tr.on"), top = node => node.getBoundingClientRect().top;
      if (first) box.scrollTop += top(first) - top(box) - box.clientHeight / 3;
    }
  };
}

// All instructions of a kernel, with how often warps ran them.
function listingOf(title, steps, marks) {
  if (!steps?.length) return null;
  const rows = steps.map(step => {
    const row = h("tr", h("td", step.place), h("td", step.executed),
      h("td", step.executed > 0 && digits(step.lanes / step.executed, 3)),
      h("td.text.code", h("code", step.instruction)), h("td", step.line));
    marks.push({row, file: step.file, line: step.line});
    return row;
  });
  return [h("h3", title), h("p.soft.small", "A click on a line's number marks its instructions."),
    h("div.scroll.sass", {tabindex: 0, role: "region", "aria-label": title},
    h("table.source.timed", h("thead", h("tr", ["", "warps", "lanes"].map(t => h("th", t)), h("th.text", "instruction"),
      h("th", "line"))), h("tbody", rows)))];
}

// Lines that access memory, or have instructions, and those around them; what lies between is left out.
function sourceOfFile(k, file, pick) {
  const AROUND = 2, rows = k.rows.filter(row => row.file === file && row.line), texts = k.sources[file] ?? {};
  const steps = pick ? k.lines.filter(step => step.file === file) : [];
  const at = line => rows.filter(row => row.line === line), parts = [];
  const lines = [...rows, ...steps].map(row => row.line), stepOf = line => steps.find(step => step.line === line);
  const button = line => (stepOf(line) ? h("button", {type: "button", onclick: () => pick(file, line),
    "aria-label": `instructions of line ${line}`}, line) : line);
  const most = Math.max(0, ...lines.map(line => sumOf(at(line), costOf)));
  for (let line = Math.max(1, Math.min(...lines) - AROUND), gap = false; line <= Math.max(...lines) + AROUND; line++) {
    if (!lines.some(other => Math.abs(other - line) <= AROUND)) {
      if (!gap) parts.push(h("tr.far", h("td"), h("td", "…"), h("td"), pick && h("td")));
      gap = true;
      continue;
    }
    gap = false;
    parts.push(h("tr", h("td", button(line)), at(line).length
      ? heat(most ? sumOf(at(line), costOf) / most : 0, heatText(at(line))) : h("td"),
      pick && h("td", stepOf(line)?.executed), h("td.text", h("code", texts[line]))));
  }
  return [h("h3", baseName(file)), scroll(`source of ${file}`, h("table.source", h("tbody", parts)))];
}

// The instructions by pipe, and how often branches split their warp.
function mixOf(k) {
  const pipes = new Map(), all = sumOf(k.mix ?? [], step => step.executed);
  for (const step of k.mix ?? []) {
    const name = step.pipe ?? step.operation;
    pipes.set(name, (pipes.get(name) ?? 0) + step.executed);
  }
  const shares = [...pipes].sort((a, b) => b[1] - a[1]).filter(([, n]) => n >= all / 100);
  const splits = sumOf(k.mix ?? [], step => step.splits ?? 0);
  return all > 0 && h("p.soft", `${digits(k.lane_instructions / k.warp_instructions, 3)} of 32 lanes active; `,
    shares.map(([name, n]) => `${name} ${(100 * n / all).toFixed(0)} %`).join(", "),
    splits > 0 && `; branches split a warp ${splits} times`);
}

function kernelMaps(k) {
  return k.rows.filter(row => row.access && row.conflicts).map(row => mapOf(
    {width: row.width, offsets: row.worst_offsets, access: row.access},
    `The banks: ${placeText(row)}, ${row.space} ${row.op} of ${row.width} byte${plural(row.width)}, the worst of ` +
    `its ${row.instructions} instructions`, row === dearestOf(k)));
}

function kernelSection(data, k) {
  const marks = [];
  const pick = k.instructions && pickerOf(marks), sm = k.sm;
  const files = [...new Set([...k.rows, ...(pick ? k.lines : [])].filter(row => row.line).map(row => row.file))];
  const sources = files.map(file => sourceOfFile(k, file, pick));
  return h("section", h("h2", titleOf(data, k)),
    h("p.soft", `grid ${k.grid.join("x")}, block ${k.block.join("x")}, ${k.shared_bytes} bytes of shared memory, ` +
      `${k.warp_instructions} warp instructions of ${k.code.toUpperCase()}`,
      k.blocks_run < k.blocks && `; ${k.blocks_run} of its ${k.blocks} blocks ran`,
      sm && `; ${sm.registers} registers a thread; an SM of sm_${sm.arch} holds ` +
            `${count(sm.blocks, "block", "blocks")}, occupancy ${(100 * sm.occupancy).toFixed(0)} %, limited by ` +
            sm.limit),
    (k.notes ?? "").split("\n").filter(Boolean).map(note => h("p.warn", note)),
    mixOf(k), pick ? h("div.halves", h("div", sources), h("div",
      listingOf(k.code.toUpperCase(), k.instructions, marks), listingOf("PTX", k.ptx_instructions, marks))) : sources,
    kernelMaps(k));
}

function kernelNumbers(data) {
  const heads = ["kernel", "<line", "<access", "bytes", "instructions", "wavefronts", "ideal", "conflicts", "n-way",
    "lanes", "sectors", "needed"];
  const rows = data.kernels.flatMap(k => k.rows.map(row => [titleOf(data, k), placeText(row),
    `${row.space} ${row.op}`, row.width, row.instructions, row.wavefronts, row.ideal, row.conflicts,
    row.space === "shared" && digits(row.n_way, 3), row.instructions ? digits(row.lanes / row.instructions, 3) : 0,
    row.sectors, row.sectors_ideal]));
  return h("section", h("h2", "All numbers"), h("p.soft.small", "A click on a head sorts."),
    scroll("all numbers", tableOf(heads, rows)));
}

function kernelView(data) {
  return [h("h1", [...new Set(data.kernels.map(k => k.source))].join(", ")), timeOverview(data),
    data.launches && h("h2", "Counts"), kernelVerdict(data), sameResults(data),
    kernelLadder(data, "Shared memory", "wavefronts", "bank conflicts", "wavefronts", "ideal"),
    kernelLadder(data, "Global memory", "sectors",
      "sectors beyond, since neighbouring threads access distant addresses", "sectors", "sectors_ideal"),
    terms(true), mistakes(data), timeSections(data), data.kernels.map(k => kernelSection(data, k)),
    kernelNumbers(data)];
}
