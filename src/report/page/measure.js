// `measure`: what is of another kind, what stands out, doubles, histograms, spreads, and the table of files.
const MOST_CARDS = 12;

// ------------------------------------------------------------------------------------------------ first screen

const JUDGED = {
  lufs: {one: "file is too soft", many: "files are too soft", title: "Too soft", unit: " LUFS",
    about: ["Below -23 LUFS, the loudness of broadcasts (EBU R 128); podcasts have -16, music services -14. The bar ",
      "is what is missing to -16. ", ["smempipe run podcast"], " brings them there."]},
  clipped: {one: "file has clipped samples", many: "files have clipped samples", title: "Clipped", unit: "",
    about: ["Samples at full scale and beyond, of all channels."]}
};

function sizesText(data) {
  const {width: w, height: hi, seconds: t} = data;
  return [w && (w[0] === w[1] && hi[0] === hi[1] ? ` Pictures are ${w[0]} x ${hi[0]}.`
      : ` Pictures are ${w[0]} to ${w[1]} wide and ${hi[0]} to ${hi[1]} high.`),
    t && (t[0] < t[1] ? ` Sounds are ${digits(t[0], 3)} to ${digits(t[1], 3)} seconds long.`
      : ` Sounds are ${digits(t[0], 3)} seconds long.`)];
}

function measureHead(data) {
  const out = !data.files ? "There is nothing to show."
    : data.far ? `${data.odd ? count(data.far, "other stands", "others stand")
                             : count(data.far, "file stands", "files stand")} out.`
    : data.odd ? "No other stands out." : data.enough ? "None stands out." : "Too few to say what is usual.";
  return [h("h1", count(data.files, "file", "files")), h("p",
    data.odd > 0 && `${count(data.odd, "file is", "files are")} of another kind than the others. `, out,
    data.doubles > 0 && ` ${count(data.doubles, "is a double", "are doubles")} of another.`,
    data.failed > 0 && [" ", h("span.bad", count(data.failed, ...data.files ? ["more file", "more files"]
                                                                            : ["file", "files"]),
      " could not be measured.")],
    data.judged.map(j => ` ${j.beyond ? count(j.beyond, JUDGED[j.column].one, JUDGED[j.column].many)
                                      : `No ${JUDGED[j.column].one}`}.`),
    sizesText(data))];
}

function measureFailures(data) {
  const left = data.failed - data.failures.length, list = [h("ul", data.failures.map(text => h("li", text))),
    left > 0 && h("p", `${left} more failed.`)];
  return data.failures.length > 0 && [h("h2", "What failed"),
    data.failures.length > OPEN ? fold(`${data.failed} files`, false, list) : list];
}

const cards = (files, why) => h("div.grid", files.map(file => h("figure.card",
  file.picture && image(file.picture, ""), h("figcaption", h("b", file.path), h("span.soft.small", why(file))))));

const kindText = kind => `${["small ", "", "large "][kind.size + 1]}${kind.sound ? "sound" : "picture"}` +
  `${plural(kind.files)} of ${count(kind.channels, "channel", "channels")}, ${kind.format}` +
  (kind.sound ? `, ${kind.rate} Hz` : "");

// "1 channel, the others have 3; 64 x 48 px, much smaller"
function differenceText(file, kind, usual) {
  const word = k => (k.sound ? "sound" : "picture");
  if (kind.sound !== usual.sound) return `a ${word(kind)}, the others are ${word(usual)}s`;
  return [kind.channels !== usual.channels &&
      `${count(kind.channels, "channel", "channels")}, the others have ${usual.channels}`,
    kind.format !== usual.format && `${kind.format}, the others are ${usual.format}`,
    kind.rate !== usual.rate && `${kind.rate} Hz, the others have ${usual.rate}`,
    kind.size !== usual.size &&
      `${file.width} x ${file.height} px, much ${kind.size < usual.size ? "smaller" : "larger"}`
  ].filter(Boolean).join("; ");
}

// Files that do not belong to the others; where no kind is the usual one, what kinds there are.
function kindsPart(data) {
  const kinds = data.kinds, list = data.odd ? kinds.slice(0, 1) : kinds;
  return kinds.length > 1 && [data.odd > 0 && h("h2", "Of another kind"),
    h("p.soft.small", data.odd ? "" : "Of several kinds: ",
      list.map(kind => `${kind.files} ${data.odd ? "are " : ""}${kindText(kind)}`).join("; "), ".",
      data.odd > MOST_CARDS && ` The first ${MOST_CARDS} of ${data.odd} others.`),
    data.odd > 0 && cards(data.odd_files, file => differenceText(file, kinds[file.kind], kinds[0]))];
}

function farPart(data) {
  return data.far > 0 && [h("h2", "What stands out"), data.far > MOST_CARDS &&
      h("p.soft.small", `The ${MOST_CARDS} that lie farthest out, of ${data.far}.`),
    cards(data.far_files, f => `${f.column} ${short(f.value)}, far ${f.value < f.median ? "below" : "above"} the ` +
      `others (half of them ${short(f.q1)} to ${short(f.q3)})`)];
}

const doublesPart = data => data.doubles > 0 && [h("h2", "Doubles"),
  h("p.soft.small", "Of one size, and all values agree to the last digit."),
  cards(data.double_files, f => `as ${f.as}`)];

// ------------------------------------------------------------------------------------------------ bars

const bars = (label, files, most, text) => scroll(label, h("table.bars", h("tbody", files.map(file => h("tr",
  h("td", file.path), h("td", h("span", {style: {width: percent(100 * Math.min(1, (file.score ?? most) / most))}})),
  h("td", text(file)))))));

function judgedPart(data) {
  return data.judged.filter(j => j.beyond).map(j => {
    const words = JUDGED[j.column], most = Math.max(1, ...j.files.map(file => file.score ?? 0));
    const text = file => file.score === null ? "silence"
      : j.aim === null ? `${file.score}${words.unit}` : `${(j.aim - file.score).toFixed(1)}${words.unit}`;
    return [h("h2", words.title), h("p.soft.small", words.about.map(part => typeof part === "string" ? part
        : h("code", part)), j.beyond > j.files.length && ` The first ${j.files.length} of ${j.beyond}.`),
      bars(words.title, j.files, most, text)];
  });
}

function thingsPart(data) {
  const things = data.things;
  return things && [h("h2", "How many in each"), h("p.soft.small", `${things.all} in all.`,
      data.files > things.files.length && ` The ${things.files.length} files with most of them.`),
    bars("how many in each", things.files, Math.max(1, things.files[0]?.score ?? 0), file => file.score)];
}

// ------------------------------------------------------------------------------------------------ together

const toneOf = (group, channel) =>
  (!group.sound && group.colours === 3 && channel < 3 ? ["r", "g", "b"][channel] : "gray");

// Bars that run into each other, a tone a channel. The highest bar of all but the first and last bins, which clipped
// samples fill, has the full height.
function histogram(group, findings) {
  const WIDE = 720, HIGH = 200, bins = findings[0].values.length, highest = part => by(findings.flatMap(part),
    (a, b) => a > b) ?? 0;
  const most = (bins > 4 && highest(f => f.values.slice(1, -1))) || highest(f => f.values) || 1;
  const at = x => Number(x.toFixed(1)), paths = findings.slice(0, 8).map(f => s(`path.${toneOf(group, f.channel)}`, {
    d: `M0 ${HIGH}${f.values.map((n, i) => `V${at(HIGH - Math.min(1, n / most) * (HIGH - 2))}` +
       `H${Number(((i + 1) * WIDE / bins).toFixed(2))}`).join("")}V${HIGH}z`}));
  return [h("p.soft.small", `${findings[0].name}, ${bins} bins`),
    s("svg.histogram", {viewBox: `0 0 ${WIDE} ${HIGH}`, preserveAspectRatio: "none", role: "img",
      "aria-label": `histogram ${findings[0].name}`}, paths),
    h("div.soft.small.ends", h("span", group.sound ? "-1" : "0"), h("span", group.full))];
}

// A row for each name, a column for each channel.
function scalars(group, findings) {
  const names = [...new Set(findings.map(f => f.name))], of = name => findings.filter(f => f.name === name);
  const words = {r: "red", g: "green", b: "blue"};
  const head = f => f.channel === undefined ? "all" : words[toneOf(group, f.channel)] ?? `channel ${f.channel}`;
  return names.length > 0 && scroll("values of all files together", h("table", h("tbody",
    h("tr", h("th"), of(names[0]).map(f => h("th", {scope: "col"}, head(f)))),
    names.map(name => h("tr", h("td", name),
      of(name).map(f => h("td", typeof f.value === "number" ? short(f.value) : f.value)))))));
}

function togetherPart(data) {
  return data.together.length > 0 && [h("h2", "All files together"), h("div.together", data.together.map(group => {
    const total = group.total, drawn = group.histograms.map(i => total.findings[i]);
    const key = f => `${f.name} ${f.values.length}`;
    return h(drawn.length ? "section.drawn" : "section",
      h("h3", total.name ?? total.stage, " ",
        h("span.soft.small", `${total.type}, ${count(total.files, "file", "files")}`)),
      [...new Set(drawn.map(key))].map(name => histogram(group, drawn.filter(f => key(f) === name))),
      scalars(group, total.findings.filter(f => !f.values)));
  }))];
}

// ------------------------------------------------------------------------------------------------ spreads

function spreadCard(spread) {
  const WIDTH = 260, HEIGHT = 72, step = WIDTH / spread.bins.length, most = Math.max(1, ...spread.bins);
  const at = x => Number(x.toFixed(1)), middle = (spread.median - spread.least) / (spread.most - spread.least) * WIDTH;
  return h("figure.card", h("figcaption", h("b", spread.column)),
    s("svg.spread", {viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: "img", "aria-label": `spread of ${spread.column}`},
      spread.bins.map((n, i) => n > 0 && s("rect", {x: at(i * step + .5), width: at(step - 1),
        y: at(HEIGHT - Math.max(2, (HEIGHT - 4) * n / most)), height: at(Math.max(2, (HEIGHT - 4) * n / most))})),
      s("path", {d: `M${at(middle)} 0V${HEIGHT}`})),
    h("div.soft.small.ends", h("span", short(spread.least)), h("span", `median ${short(spread.median)}`),
      h("span", short(spread.most))));
}

function spreadsPart(data) {
  // Two files may have no value in common: one of colours, one gray.
  const groups = data.groups.filter(g => g.spreads.some(x => x.of > 1 && (!x.grows || x.of === g.files)));
  return groups.length > 0 && [h("h2", "Over the files"),
    h("p.soft.small", "A bar is how many files have such a value; the line is the median."),
    groups.map(g => {
      const drawn = g.spreads.filter(x => x.bins), minor = drawn.filter(x => x.minor);
      const same = g.spreads.filter(x => x.of === g.files && !(x.most > x.least));
      return [data.groups.length > 1 && h("h3", `${g.files} ${g.sound ? "sounds" : "pictures"} `,
          h("span.soft.small", `of ${g.format}`)),
        h("div.grid", drawn.filter(x => !x.minor).map(spreadCard)),
        minor.length > 0 && fold("Extremes, and other values that say less", false,
          h("div.grid", minor.map(spreadCard))),
        same.length > 0 && h("p.soft.small",
          `The same in all of them: ${same.map(x => `${x.column} ${short(x.median)}`).join(", ")}.`)];
    }),
    data.not_drawn > 0 && h("p.soft.small", `${data.not_drawn} more columns are in the table.`)];
}

// ------------------------------------------------------------------------------------------------ files

// The plain table: sorts, shows few digits and keeps all in data-v, breaks long paths.
function filesPart(data) {
  const table = document.getElementById("files");
  if (!table) return null;
  for (const row of table.tBodies[0].rows)
    for (const [i, cell] of [...row.cells].entries()) {
      const text = cell.textContent;
      if (!i) {
        cell.replaceChildren(h("i", text));
      } else if (/^-?\d*\.?\d+(e[-+]?\d+)?$/.test(text) && !/^-?\d+$/.test(text)) {
        cell.dataset.v = text;
        cell.textContent = short(Number(text));
      }
    }
  const shown = table.tBodies[0].rows.length, save = h("button", {type: "button", id: "save"}, "Save as CSV");
  save.onclick = () => saveCsv(table, "measure.csv");
  return [h("h2", "Files"), h("p.soft.small", "A click on a column's name sorts by it. ",
      shown < data.files && `The first ${shown} of ${data.files} files; measure --csv has them all. `,
      data.things && "measure --csv has a row for each thing that was found in them, too."),
    save, scroll("files", sortable(table))];
}

function measureView(data) {
  return [measureHead(data), measureFailures(data), kindsPart(data), judgedPart(data), farPart(data), doublesPart(data),
    thingsPart(data), togetherPart(data), spreadsPart(data), filesPart(data)];
}
