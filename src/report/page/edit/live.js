// The page of `kernel --serve` and `compare --serve`: their report, and above it an access to shared memory before and
// after the array that it goes to has another pad. The kernels of a file are compiled and counted again; of a variant
// of ours the bank model tells what that one access costs.
import {fill} from "./fill.js";
import {h, baseName, compareView, conflictsOf, count, kernelView, mapOf, placeText, plural, sitesOf, titleOf}
  from "./report.js";
import {ask, leave} from "./server.js";

const MOST_PAD = 16, TURN = 128; // elements or words; bytes that all banks hold
const page = {choices: [], chosen: null, pad: 0, shown: -1, busy: false};

const shareText = access => `${access.wavefronts} wavefront${plural(access.wavefronts)}, ` +
  (access.wavefronts > access.ideal ? `${access.ideal} would do` : "no conflict");

// ------------------------------------------------------------------------------------------------ kernels of a file

// The declaration that a row's array has: the last of that name before the line.
function arrayOf(arrays, row) {
  const before = arrays.map((a, index) => ({...a, index})).filter(a => a.name === row.array && a.line <= row.line);
  return before.sort((a, b) => b.line - a.line)[0];
}

const more = (size, pad) => (/^\d+$/.test(size) ? String(Number(size) + pad) : `${size} + ${pad}`);

function layoutText(array, pad) {
  const sizes = array.sizes.map((size, i) => `[${pad && i === array.sizes.length - 1 && !array.period
    ? more(size, pad) : size}]`).join("");
  return `${array.name}${sizes}` + (pad && array.period ? `, each index i → i + i / ${array.period} * ${pad}` : "");
}

const sum = (k, key) => k.rows.reduce((all, row) => all + (row[key] ?? 0), 0);

// row, after: of the line, before and now; padded: the kernel now. Both may be missing.
function kernelTable(k, row, padded, after) {
  const line = (words, was, is) => h("tr", h("td", words), h("td", was ?? "–"), h("td", is ?? "–"));
  const of = (words, key) => [line(`this line: ${words}`, row[key], after?.[key]),
    line(`the kernel: ${words}`, sum(k, key), padded && sum(padded, key))];
  return h("div.scroll", {tabindex: 0, role: "region", "aria-label": "counts before and after"},
    h("table", h("thead", h("tr", ["", "before", "padded"].map(t => h("th", t)))),
      h("tbody", of("wavefronts", "wavefronts"), of("conflicts", "conflicts"),
        line("shared memory, bytes", k.shared_bytes, padded?.shared_bytes),
        line("blocks on an SM", k.sm?.blocks, padded?.sm?.blocks))));
}

function rowChoice(data, arrays, index, row) {
  const k = data.kernels[index], array = arrayOf(arrays, row);
  return {
    group: titleOf(data, k), label: `${placeText(row)} ${row.op} of ${row.width}: ${row.array ?? "?"}, ` +
      count(row.conflicts, "conflict", "conflicts"),
    cost: row.conflicts, unit: "element", width: row.width, offsets: row.worst_offsets, access: row.access,
    text: pad => (array?.sizes.length ? layoutText(array, pad) : row.array ?? "an array without a name"),
    why: !array?.sizes.length && "its declaration is not found in this source: the pad stays",
    before: () => kernelTable(k, row),
    async after(pad) {
      const told = await ask("pad", {array: array.index, pad});
      if (told.message)
        return {message: [told.message, told.where && ` (${told.where})`, told.hint && ` — ${told.hint}`]};
      const padded = told.report.kernels[index];
      const same = padded?.rows.filter(r => r.line === row.line && r.op === row.op && r.space === "shared") ?? [];
      const found = same.find(r => r.width === row.width) ?? same[0];
      const worse = (padded?.findings.length ?? 0) > k.findings.length;
      return {width: found?.width, offsets: found?.worst_offsets, access: found?.access,
              table: kernelTable(k, row, padded, found),
              message: padded?.stopped ?? (worse && `the changed kernel has mistakes: ${padded.findings[0].text}`)};
    }
  };
}

// ------------------------------------------------------------------------------------------------ variants of ours

// The bytes of a row, where lanes next to each other lie a row apart; else those of all banks.
function rowBytes(offsets) {
  const apart = offsets.slice(1).map((o, i) => o - offsets[i]).filter(d => d > 4).sort((a, b) => a - b);
  return apart.length ? apart[Math.floor(apart.length / 2)] : TURN;
}

function siteChoice(step, v, site) {
  const choice = {
    group: `${step.number}. ${step.step}: ${v.variant}`, cost: conflictsOf(site.total),
    label: `${site.where} ${site.operation} of ${site.width}: ` +
      count(conflictsOf(site.total), "conflict", "conflicts"),
    unit: "word", width: site.width, offsets: site.example_offsets, access: site.access,
    row: rowBytes(site.example_offsets), before: () => null,
    text: pad => `rows of ${choice.row} bytes${pad ? ` and ${count(pad, "word", "words")} of pad` : ""}`,
    async after(pad) {
      const told = await ask("access", {width: site.width, offsets: choice.offsets, row: choice.row, pad: 4 * pad});
      return told.access ? {...told, width: site.width} : {message: "that is no row"};
    }
  };
  return choice;
}

// ------------------------------------------------------------------------------------------------ the panel

const by = id => document.getElementById(id);
const drawn = (choice, text) => choice.access && h("div", mapOf(choice, `${text}: ${shareText(choice.access)}`, true));

// One question at a time; the last place of the slider wins.
async function recount() {
  if (page.busy) return;
  page.busy = true;
  by("live").classList.add("counts");
  while (page.shown !== page.wanted) {
    const wanted = page.shown = page.wanted, {chosen, pad} = page;
    by("said").textContent = pad ? "counting …" : "";
    const told = pad ? await chosen.after(pad).catch(error => ({message: `it has ended (${error.message})`})) : {};
    if (wanted !== page.wanted) continue;
    fill(by("said"), told.message && h("span.bad", told.message));
    fill(by("table"), pad ? told.table : chosen.before());
    fill(by("maps"), drawn(chosen, chosen.text(0)), drawn(told, chosen.text(pad)));
    by("live").dataset.pad = told.message ? "" : pad;
  }
  by("live").classList.remove("counts");
  page.busy = false;
}

function change(pad) {
  page.pad = pad;
  page.wanted = (page.wanted ?? 0) + 1;
  by("layout").textContent = page.chosen.text(pad);
  recount();
}

function choose(choice) {
  page.chosen = choice;
  const rows = choice.row && h("label", "bytes of a row", h("input", {type: "number", min: choice.width, max: 1 << 20,
    value: choice.row, oninput: event => { choice.row = Number(event.target.value) || TURN; change(page.pad); }}));
  const slider = h("input", {type: "range", id: "pad", min: 0, max: MOST_PAD, value: 0, disabled: Boolean(choice.why),
                             oninput: () => change(Number(slider.value))});
  fill(by("pads"), h("label", `pad, ${choice.unit}s behind each row`, slider), rows,
    choice.why && h("span.warn", choice.why));
  change(0);
}

function panel() {
  const groups = [...new Set(page.choices.map(c => c.group))];
  const worst = page.choices.reduce((a, b) => (b.cost > a.cost ? b : a));
  const line = h("select", {id: "line", oninput: () => choose(page.choices[Number(line.value)])});
  const list = group => fill(line, page.choices.map((c, i) => c.group === group &&
    h("option", {value: i, selected: c === worst}, c.label)));
  const group = h("select", {id: "group", oninput: () => {
    list(group.value);
    choose(page.choices[Number(line.value)]);
  }}, groups.map(name => h("option", {value: name, selected: name === worst.group}, name)));
  fill(by("live"), h("h2", "An access, and its array with another pad"),
    h("div.picks", h("label", "kernel or variant", group), h("label", "line", line)), h("div.picks", {id: "pads"}),
    h("output", {id: "layout", class: "mono"}), h("p.small", {id: "said", role: "status"}), h("div", {id: "table"}),
    h("div.pair-of-maps", {id: "maps"}));
  list(worst.group);
  choose(worst);
}

async function begin() {
  const state = await ask("state"), data = state.report, kernels = state.view === "kernel";
  document.title = `smempipe ${state.view}: ${baseName(state.file ?? data.pipeline ?? data.input ?? "")}`;
  page.choices = kernels
    ? data.kernels.flatMap((k, i) => k.rows.filter(row => row.access).map(row => rowChoice(data, state.arrays, i, row)))
    : data.steps.flatMap(step => step.variants.flatMap(v => sitesOf(v).filter(site => site.access)
      .map(site => siteChoice(step, v, site))));
  fill(by("report"), kernels ? kernelView(data) : compareView(data));
  document.querySelector("#report h1").after(by("live"));
  if (page.choices.length) panel();
  else fill(by("live"), h("p", "Nothing here accesses shared memory: there is no pad to change."));
  addEventListener("pagehide", leave);
  document.body.dataset.ready = "yes";
}

begin().catch(error => { by("live").textContent = `smempipe has ended (${error.message})`; });
