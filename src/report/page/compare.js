// `compare`: what to look at, bars on one axis, lines by their conflicts with maps of the banks, a roofline, numbers.
const FROM_CACHE = 1.1; // of the copy rate: what is faster was not all in memory
const NEAR_COPY = 0.7; // of the copy rate: from there on memory is what limits a kernel
const NOISY = 3; // the upper end of a share over the lower
const MOST_PAD = 0.125; // of the array's memory

const sourceOf = v => ["sass", "model", "hw"].find(kind => v.counts[kind]?.known);
const totalOf = v => (sourceOf(v) ? v.counts[sourceOf(v)].total : null);
const usesShared = v => totalOf(v)?.instructions > 0;
const conflictsOf = total => Math.max(0, total.wavefronts - total.ideal);
const isTimed = v => v.median_seconds > 0;
const sitesOf = v => (v.sites ?? []);
const worthTelling = (conflicts, wavefronts) => conflicts > 0 && conflicts >= Math.floor(wavefronts / 100);
const worthOf = (v, total) => worthTelling(conflictsOf(total), totalOf(v)?.wavefronts ?? 0);
const by = (list, better) => list.reduce((best, x) => (!best || better(x, best) ? x : best), null);
const fastestOf = step => by(step.variants.filter(isTimed), (a, b) => a.median_seconds < b.median_seconds);
const worstSite = v => by(sitesOf(v).filter(site => worthOf(v, site.total)),
  (a, b) => conflictsOf(a.total) > conflictsOf(b.total));
const isPredicted = v => v.predicted?.us > 0;
const isGpu = data => "compute_major" in data.environment;

// What a step's numbers say. least: the variant with fewest conflicts of those that use shared memory; on a GPU the
// fastest, which is the one to use. site: with most conflicts worth telling, of `least` where it has any, else of any.
function find(data, step) {
  const found = {fastest: fastestOf(step), share: -1};
  const others = data.steps.filter(other => other !== step).map(fastestOf).filter(Boolean);
  const sum = name => others.reduce((all, v) => all + v[name], 0);
  if (found.fastest) {
    const {median_seconds: median, q1_seconds: low, q3_seconds: high} = found.fastest;
    found.share = median / (median + sum("median_seconds"));
    found.from = low / (low + sum("q3_seconds"));
    found.to = high / (high + sum("q1_seconds"));
  }
  const shared = step.variants.filter(usesShared);
  found.uncounted = step.variants.some(v => !sourceOf(v));
  found.wrong = step.variants.some(v => v.check === "WRONG");
  found.least = by(shared, (a, b) => conflictsOf(totalOf(a)) < conflictsOf(totalOf(b)));
  if (isGpu(data) && found.fastest && usesShared(found.fastest)) found.least = found.fastest;
  found.of = [found.least, ...step.variants].find(v => v && worstSite(v)) ?? null;
  found.site = found.of && worstSite(found.of);
  return found;
}

// ------------------------------------------------------------------------------------------------ the first screen

// "34 %", "3 to 6 %", "under 1 %"; shares of 1.
function shareText(from, to) {
  const low = Math.round(100 * from), high = Math.round(100 * to);
  return high < 1 ? "under 1 %" : low < high ? `${low} to ${high} %` : `${high} %`;
}

// How near a variant comes to a copy's rate, as far as the quartiles of its times and of the copy say.
function copyRange(data, v) {
  const e = data.environment, share = v?.of_copy, copy = e.copy_gb_per_second;
  if (!(share > 0)) return {from: 0, to: 0};
  const shortest = Math.min(v.q1_seconds, v.median_from_seconds), longest = Math.max(v.q3_seconds, v.median_to_seconds);
  if (!(shortest > 0)) return {from: share, to: share};
  const from = share * v.median_seconds / longest * copy / (e.copy_gb_per_second_q3 ?? copy);
  const to = share * v.median_seconds / shortest * copy / (e.copy_gb_per_second_q1 ?? copy);
  return {from, to, noisy: to > NOISY * from};
}

// "sobel.cu:47 of tiled, a 4-way conflict that takes 26 % of its wavefronts", and what avoids it: where the line's
// accesses are, on the whole, like the one that is kept, and a pad costs little memory.
function siteSentence(found) {
  const {site, of} = found, a = site.access, all = totalOf(of).wavefronts || 1;
  const helps = a && a.advice && a.wavefronts > a.ideal && a.pad_share <= MOST_PAD &&
                2 * (site.total.n_way - 1) >= a.wavefronts / (a.ideal || 1) - 1;
  return [h("b.mono", site.where), ` of ${of.variant}, `,
    h("span.bad", `a ${digits(site.total.n_way, 3)}-way conflict`),
    ` that takes ${(100 * conflictsOf(site.total) / all).toFixed(0)} % of its wavefronts`,
    helps && `; to avoid it, ${a.advice}`, "."];
}

function banksSentence(data, found) {
  if (!found.least) return found.uncounted ? " Shared memory was not counted." : " It uses no shared memory.";
  const total = totalOf(found.least), name = found.least.variant, gpu = isGpu(data);
  const worth = worthOf(found.least, total);
  if (!found.site) {
    if (!conflictsOf(total)) return [" ", h("span.good", "No bank conflicts.")];
    if (!worth) return [" ", h("span.good", "Bank conflicts take under 1 %.")];
    return [` ${name} has `, h("span.bad", `${digits(total.n_way, 3)}-way conflicts`),
      `, ${sitesOf(found.least).length ? "spread over many lines" : "and its lines are not known"}.`];
  }
  if (found.of === found.least) return [` Look, ${gpu ? "" : "on a GPU, "}at `, siteSentence(found)];
  return [` ${gpu ? "" : "On a GPU, "}${name} has `,
    worth ? `${digits(total.n_way, 3)}-way conflicts alone` : h("span.good", "no bank conflicts"),
    "; it spares ", siteSentence(found)];
}

// An earlier step in which the same line of the same variants conflicts as often: a pipeline that measures several
// times would say the same of each.
function toldBefore(data, step, found) {
  return found.site && data.steps.slice(0, data.steps.indexOf(step)).find(other => {
    const before = find(data, other);
    return before.site?.where === found.site.where && before.of.variant === found.of.variant &&
           before.least.variant === found.least.variant &&
           before.site.total.wavefronts === found.site.total.wavefronts &&
           conflictsOf(before.site.total) === conflictsOf(found.site.total);
  });
}

function copySentence(data, v) {
  const copy = copyRange(data, v), text = shareText(copy.from, copy.to);
  if (!(copy.to > 0)) return ".";
  if (copy.noisy) return `, too noisy to relate to a copy's rate (${text}).`;
  if (copy.from > FROM_CACHE) return `, faster than a copy in memory (${text}): a cache helps.`;
  return copy.from >= NEAR_COPY ? `, limited by memory (${text} of a copy's rate).` : `, at ${text} of a copy's rate.`;
}

// What a model says of the fastest variant on a GPU: never in the place of a time that was measured.
function predictedSentence(data, step) {
  const v = by(step.variants.filter(isPredicted), (a, b) => a.predicted.us < b.predicted.us);
  return v && ` Predicted for ${data.environment.predicted_for}: ${seconds(v.predicted.us / 1e6)} by ${v.variant}.`;
}

function stepSentence(data, step) {
  const found = find(data, step), v = found.fastest, before = toldBefore(data, step, found);
  return h("li", {value: step.number}, h("a", {href: `#step${step.number}`}, h("code", step.step)), ": ",
    found.wrong && [h("b.bad", "a variant is WRONG."), " "],
    v ? [`${seconds(v.median_seconds)}, ${shareText(found.from, found.to)} of all steps, by ${v.variant}`,
         v !== step.variants[0] && v.verdict === "faster" && ` (×${digits(v.speedup, 3)} naive)`,
         copySentence(data, v)]
      : "not timed.", predictedSentence(data, step),
    before ? ` Its banks are as in step ${before.number}.` : banksSentence(data, found));
}

// The line with most conflicts of those that the variants with fewest leave, or who spares them.
function worstSentence(data) {
  const all = data.steps.map(step => ({step, ...find(data, step)})).filter(found => found.site);
  const worst = by(all, (a, b) => conflictsOf(a.site.total) > conflictsOf(b.site.total));
  if (!worst) return null;
  const sites = data.steps.flatMap(step => step.variants.map(worstSite)).filter(Boolean);
  const most = Math.max(...sites.map(site => conflictsOf(site.total))), spared = worst.of !== worst.least;
  return [` Most bank conflicts${most > conflictsOf(worst.site.total) && !spared ? " that no variant spares" : ""}: `,
    h("a.mono", {href: "#lines"}, worst.site.where), ` of ${worst.of.variant}`,
    data.steps.length > 1 && ` in step ${worst.step.number}`, spared && `; ${worst.least.variant} spares them`, "."];
}

// The step that costs most, or, where nothing was timed, has most conflicts; and why.
function compareVerdict(data) {
  const all = data.steps.map(step => ({step, ...find(data, step)}));
  const conflicts = found => (found.site ? conflictsOf(found.site.total) : 0);
  const most = by(all, (a, b) => a.share > b.share || (!(b.share > 0) && conflicts(a) > conflicts(b)));
  const wrong = all.some(found => found.wrong) && h("p.verdict",
    h("b.bad", "A variant gives other bytes than naive."), " Mend it first: times of wrong results say nothing.");
  if (!most) return wrong;
  const copy = copyRange(data, most.fastest), text = shareText(copy.from, copy.to), one = all.length === 1;
  return [wrong, h(all.some(conflicts) ? "p.verdict" : "p.verdict.free",
    one ? "There is one step, " : `${most.share > 0 ? "Begin with" : "Look at"} step ${most.step.number}, `,
    h("code", most.step.step), most.share > 0 && !one && `: it takes ${shareText(most.from, most.to)} of the time`, ".",
    copy.noisy ? ` Its share of a copy's rate is too noisy to say (${text}); --time-limit takes more samples.`
    : copy.from >= NEAR_COPY ? " It moves its bytes as fast as a copy does: only moving less would help."
    : copy.to > 0 ? ` It reaches ${text} of the rate of a copy${copy.to < NEAR_COPY
      ? ", so there is something to win" : ""}.` : "",
    worstSentence(data))];
}

// ------------------------------------------------------------------------------------------------ bars

function timeBar(axis, v) {
  if (!isTimed(v))
    return [h("span.none"), h("span.value.soft", v.check === "WRONG" ? [h("b.bad", "WRONG"), ", not timed"]
                              : v.same_as ? `here as ${v.same_as}` : "not timed")];
  const low = axisAt(axis, v.q1_seconds), base = v.verdict === "base" || !v.verdict;
  const tone = v.verdict === "faster" ? "span.good" : v.verdict === "slower" ? "span.warn" : "span.soft";
  return [h("span.track",
      h(v.verdict === "base" ? "i.base" : "i", {style: {width: percent(axisAt(axis, v.median_seconds))}}),
      h("b", {style: {left: percent(low), width: percent(axisAt(axis, v.q3_seconds) - low)}})),
    h("span.value", seconds(v.median_seconds), !base && [" ",
      h(tone, `×${digits(v.speedup, 3)}${v.verdict === "faster" ? "" : ` ${v.verdict}`}`)])];
}

// Sources that counted the same, as "model = sass".
function sourcesText(v) {
  const first = sourceOf(v), total = v.counts[first].total;
  return first + ["model", "sass", "hw"].filter(kind => kind !== first && v.counts[kind]?.known).map(kind => {
    const other = v.counts[kind].total;
    return other.wavefronts === total.wavefronts && other.ideal === total.ideal ? ` = ${kind}`
                                                                                : `; ${kind} ${other.wavefronts}`;
  }).join("");
}

function wavesBar(axis, v) {
  const total = totalOf(v);
  if (!usesShared(v)) return [h("span.none"), h("span.value.count.soft", total ? "no shared memory" : "not counted")];
  const ideal = axisAt(axis, total.ideal);
  return [h("span.track.waves", bar(ideal, axisAt(axis, total.wavefronts) - ideal)),
    h("span.value.count", `${total.wavefronts} `,
      worthOf(v, total) ? h("span.bad", `${total.n_way.toFixed(2)}-way`)
      : conflictsOf(total) ? h("span.soft", "under 1 %") : h("span.good", "free"),
      " ", h("span.soft", sourcesText(v)))];
}

// What makes a step's numbers less than they seem: a line each.
function stepWarnings(step) {
  const warn = text => h("p.warn.small", text);
  return [
    step.enlarge && warn(`The picture is too small to fill this GPU: ${digits(step.waves_of_blocks, 2)} waves of ` +
                         `blocks. --enlarge ${step.enlarge} repeats it.`),
    step.few_samples && warn("Fewer samples than asked for: the time limit had long passed."),
    step.counted?.crop && warn(`Counts are of a crop: ${step.counted.what}.`),
    step.variants.flatMap(v => [
      ["bad", "wrong", v.check === "WRONG" && v.wrong],
      ["soft", "not timed", !isTimed(v) && !v.same_as && v.note],
      ["soft", "not counted", !sourceOf(v) && v.counts.model?.note],
      ["bad", "model and sass disagree", v.counts.sass?.known && v.counts.sass.note]
    ].map(([tone, about, text]) => text && h(`p.${tone}.small`, `${v.variant}, ${about}: ${text}`)).concat(
      v.counts.model?.mistakes && h("p.bad.small",
        `${v.variant}: the trace saw ${v.counts.model.mistakes} mistakes (races, uninitialised reads).`)))];
}

function ladder(data) {
  const all = data.steps.flatMap(step => step.variants), timed = all.filter(isTimed);
  const time = axisFor(Math.min(...timed.map(v => v.median_seconds)),
    Math.max(0, ...timed.flatMap(v => [v.q3_seconds, v.median_seconds])), true);
  const waves = axisFor(0, Math.max(0, ...all.map(v => totalOf(v)?.wavefronts ?? 0)), false);
  return h("section.ticks", {style: {"--tick": percent(time.tick), "--tick2": percent(waves.tick)}},
    h("h2", "Variant by variant"),
    h("p.soft.small", h("b", "Time"), ` is the median on ${data.environment.device}, `, h("span.base", "■ naive"),
      ", ", h("span.key", "■ others"), "; the thin line spans the quartiles",
      time.logarithmic && "; the axis is logarithmic: from a mark to the next, ten times as long",
      ". ", h("b", "Wavefronts"), " are those of a GPU, ", h("span.key", "■ what the accesses need"), ", ",
      h("span.bad", "■ bank conflicts"), ". All steps share both axes."),
    terms(false),
    data.steps.map(step => h("div", {id: `step${step.number}`},
      h("h3", `${step.number}. `, h("code", step.step), " ", h("span.soft.small", step.input,
        step.output && ` → ${step.output}`, `; ${digits(step.bytes / 1e6, 4)} MB cross memory`,
        step.fits_cache && data.hot && ", all of it fits in the cache")),
      step.variants.map(v => h("div.row.two", h("span", {title: v.help}, v.variant), timeBar(time, v),
        wavesBar(waves, v))),
      stepWarnings(step))),
    (time.ticks > 0 || waves.ticks > 0) && h("div.row.two.axes", h("span"),
      axisLabels(time, x => (x > 0 ? seconds(x) : "0")), h("span.value.soft", "time"),
      axisLabels(waves, amount), h("span.value.count.soft", "wavefronts")));
}

// ------------------------------------------------------------------------------------------------ lines

const accessText = site => `${site.operation} of ${site.width} byte${plural(site.width)}`;

function siteMap({step, v, site}, open) {
  if (!site.access) return null;
  const conflicts = conflictsOf(site.total);
  return mapOf({width: site.width, offsets: site.example_offsets, access: site.access},
    `${site.where}, step ${step.number}, ${v.variant}: ${accessText(site)}, ` +
    (conflicts ? `${site.total.n_way.toFixed(2)}-way: ${conflicts} of ${site.total.wavefronts} wavefronts are conflicts`
               : "no conflict"), open);
}

function linesTable(lines) {
  const most = lines.length ? conflictsOf(lines[0].site.total) : 0;
  return scroll("source lines by their conflicts",
    tableOf(["line", "<conflicts", "n-way", "step", "<variant", "<access", "instructions", "wavefronts"],
      lines.map(({step, v, site}) => {
        const conflicts = conflictsOf(site.total);
        return [h("td.mono", site.where), heat(most ? conflicts / most : 0, conflicts, conflicts),
          site.total.n_way.toFixed(2), step.number, v.variant, accessText(site), site.total.instructions,
          site.total.wavefronts];
      })));
}

// Maps of those with conflicts, the worst of all open; then, behind one fold, of those without.
function siteMaps(lines, bad) {
  const shown = lines.slice(0, bad).find(({site: {access: a}}) => a && a.wavefronts > a.ideal);
  const rest = lines.slice(0, bad).filter(line => line !== shown);
  const folded = (list, words) => list.length > 0 && fold(`${list.length} ${words}`, false, list.map(l => siteMap(l)));
  return [h("h3", "The banks of one access each"), shown && siteMap(shown, true),
    folded(rest, shown ? "more with conflicts" : "with conflicts"), folded(lines.slice(bad), "without conflict")];
}

function compareLines(data) {
  const FEW = 5, lines = data.steps.flatMap(step => step.variants.flatMap(v => sitesOf(v).map(site => (
    {step, v, site, worth: worthOf(v, site.total)}))));
  if (!lines.length) return null;
  lines.sort((a, b) => b.worth - a.worth || conflictsOf(b.site.total) - conflictsOf(a.site.total));
  const bad = lines.filter(line => line.worth).length, some = lines.filter(l => conflictsOf(l.site.total)).length;
  return h("section", {id: "lines"}, h("h2", "Source lines by their conflicts"),
    bad ? linesTable(lines.slice(0, Math.min(bad, FEW)))
        : h("p", h("span.good", `No line has bank conflicts${some ? " of 1 percent and more" : ""}.`)),
    lines.length > Math.min(bad, FEW) && fold(`all ${lines.length} accesses`, false, linesTable(lines)),
    siteMaps(lines, some));
}

// ------------------------------------------------------------------------------------------------ numbers

function predictedCells(v) {
  const p = v.predicted, beside = p?.percent_of_measured;
  return isPredicted(v) ? [digits(p.us, 3), `${digits(p.low_us, 3)}\u200a–\u200a${digits(p.high_us, 3)}`,
    beside ? `${beside < 100 ? "−" : "+"}${Math.abs(beside - 100).toFixed(0)} %` : "–", p.bound] : ["–", "–", "–", "–"];
}

function compareNumbers(data) {
  const gpu = data.environment.predicted_for;
  const heads = ["step", "<variant", "samples", "median ms", "quartiles ms", "GB/s", "% copy", "% peak", "× naive",
    ...(gpu ? [`predicted ${gpu} µs`, "predicted interval µs", "beside measured", "<predicted bound"] : []),
    "source", "shared instr", "wavefronts", "ideal", "conflicts", "n-way"];
  const or = (known, text) => (known ? text() : "–");
  const rows = data.steps.flatMap(step => step.variants.map(v => {
    const t = isTimed(v), total = totalOf(v);
    return [`${step.number}. ${step.step}`, v.variant, v.samples_seconds?.length ?? 0,
      or(t, () => digits(v.median_seconds * 1e3, 5)),
      or(t, () => `${digits(v.q1_seconds * 1e3, 4)}\u200a–\u200a${digits(v.q3_seconds * 1e3, 4)}`),
      or(t, () => digits(v.gb_per_second, 4)), or(t && v.of_copy, () => (100 * v.of_copy).toFixed(1)),
      or(t && v.of_peak, () => (100 * v.of_peak).toFixed(1)), or(t && v.speedup, () => digits(v.speedup, 3)),
      ...(gpu ? predictedCells(v) : []),
      sourceOf(v) ?? "–", ...["instructions", "wavefronts", "ideal"].map(key => or(total, () => total[key])),
      or(total, () => conflictsOf(total)), or(total, () => total.n_way.toFixed(2))];
  }));
  return h("section", {id: "numbers"}, h("h2", "All numbers"),
    fold("a row a variant; a click on a head sorts", false, scroll("all numbers", tableOf(heads, rows))));
}

function measuredOn(data) {
  const e = data.environment, gpu = isGpu(data);
  const rate = e.copy_gb_per_second && `${digits(e.copy_gb_per_second, 4)} GB/s (quartiles ` +
    `${digits(e.copy_gb_per_second_q1 ?? 0, 4)} to ${digits(e.copy_gb_per_second_q3 ?? 0, 4)})`;
  const pairs = [["input", data.input_type], ["SHA-256", data.input_sha256],
    ["device", `${e.device}: ${e.device_name}`], ["note", e.device_note], ["threads", !gpu && e.threads],
    ["instructions", !gpu && e.isa], ["host", gpu && e.host], ["driver", e.driver], ["CUDA toolkit", e.toolkit],
    ["SM clock", e.sm_clock_mhz &&
      `${e.sm_clock_mhz} MHz; ${e.samples_dropped_throttled} samples left out as throttled`],
    ["copy here", rate], ["datasheet", e.peak_gb_per_second && `${digits(e.peak_gb_per_second, 4)} GB/s`],
    ["caches", data.hot ? "left as they are between samples" : "emptied before each sample"],
    ["counts for", e.counts_for], ["counts of", e.counts_of], ["not of SASS", e.counts_not_of_sass],
    ["predictions", e.predicted_error], ["no predictions", e.no_predictions],
    ...["model", "sass", "hw"].map(kind => [`no ${kind} counts`, e[`no_${kind}_counts`]]), ["smempipe", e.version]];
  return h("section", {id: "environment"}, h("h2", "Measured on"), fold("device, input, versions", false, h("dl.pairs",
    pairs.filter(([, text]) => text).map(([name, text]) => [h("dt", name), h("dd", text)]))));
}

function compareView(data) {
  return [h("h1", `${data.pipeline ?? "stages"} on ${data.input ?? "?"}`),
    h("p.soft", `${data.input_type}, on ${data.environment.device}: ${data.environment.device_name}. Every step ran ` +
      "by itself on its real input, once in each variant of its stage. ",
      h("a", {href: "#environment"}, "What it was measured on")),
    compareVerdict(data),
    data.steps.length ? h("ol.steps", data.steps.map(step => stepSentence(data, step)))
                      : h("p", "Nothing to compare."),
    data.steps.length > 0 && [ladder(data), compareLines(data), roofline(data), compareNumbers(data)],
    measuredOn(data)];
}
