// Accesses to shared memory: what bank conflicts are, and maps of one warp's access, banks across, a wavefront a line.
const terms = sectors => h("p.soft.small",
  h("b", "Shared memory"), " is 32 banks, 4 bytes wide each. A ", h("b", "wavefront"),
  " is one turn in which every bank serves one word. Where the 32 lanes of a warp want different words of a bank, the ",
  "access takes more turns than its width needs: a ", h("b", "bank conflict"),
  ", n-way when it takes n times as many.",
  sectors && [" Global memory moves ", h("b", "sectors"), " of 32 bytes, needed or not."]);

const CELL = 18, LEFT = 44, HEAD = 20, EDGE = 2, BANKS = 32;

// A wavefront's lanes as a mask for each bank; the data name the banks that serve any.
function masksOf(line) {
  const masks = Array(BANKS).fill(0);
  for (let i = 0; i < line.bank_lanes.length; i += 2) masks[line.bank_lanes[i]] = line.bank_lanes[i + 1];
  return masks;
}

const lanesOf = mask => [...Array(32).keys()].filter(lane => mask >>> lane & 1);

// "0-7 9 12-15"; two neighbours are easier to read apart.
function lanesText(lanes) {
  const runs = [];
  for (const lane of lanes) {
    const last = runs.at(-1);
    if (last && last[1] + 1 === lane) last[1] = lane;
    else runs.push([lane, lane]);
  }
  return runs.map(([a, b]) => (a === b ? a : b === a + 1 ? `${a} ${b}` : `${a}-${b}`)).join(" ");
}

// The byte that a bank gives to a lane: of the words that the lane's access covers, the one in that bank.
function byteAt(site, lane, bank) {
  const first = Math.floor(site.offsets[lane] / 4);
  for (let word = first; word * 4 < site.offsets[lane] + site.width; word++)
    if (word % BANKS === bank) return word * 4;
  return site.offsets[lane];
}

function cellOf(site, line, number, bank, mask, y) {
  const lanes = lanesOf(mask), x = LEFT + bank * CELL;
  return s("g", {class: (line.turn ? "later" : "first") + (lanes.length > 1 ? " several" : "")},
    s("title", `wavefront ${number}, bank ${bank}: lane${plural(lanes.length)} ${lanesText(lanes)}, byte ` +
               byteAt(site, lanes[0], bank)),
    s("rect", {x: x + 1, y: y + 1, width: CELL - 2, height: CELL - 2, rx: 2}),
    s("text", {x: x + CELL / 2, y: y + CELL - 5, "text-anchor": "middle"}, lanes[0] + (lanes.length > 1 ? "+" : "")));
}

function bankMap(site) {
  const MOST = 8, lines = site.access.schedule.slice(0, MOST), left = site.access.schedule.length - lines.length;
  const phases = Math.max(...site.access.schedule.map(line => line.phase)) + 1, parts = [];
  const label = (x, y, anchor, text) => parts.push(s("text.label", {x, y, "text-anchor": anchor}, text));
  label(EDGE, HEAD - 6, "start", "bank");
  for (let bank = 0; bank < BANKS; bank++) label(LEFT + bank * CELL + CELL / 2, HEAD - 6, "middle", bank);
  let y = HEAD, phase = -1;
  for (const [i, line] of lines.entries()) {
    if (phases > 1 && line.phase !== phase) {
      phase = line.phase;
      const lanes = site.access.schedule.filter(l => l.phase === phase).flatMap(l => masksOf(l).flatMap(lanesOf));
      const text = lanesText([...new Set(lanes)].sort((a, b) => a - b));
      label(EDGE, y + CELL - 5, "start", `phase ${phase + 1} of ${phases}: lanes ${text}`);
      y += CELL;
    }
    label(LEFT - 8, y + CELL - 5, "end", i + 1);
    const masks = masksOf(line);
    const idle = masks.map((mask, b) => mask ? "" : `M${LEFT + b * CELL + 1} ${y + 1}h16v16h-16z`).join("");
    parts.push(s("path.idle", {d: idle}));
    masks.forEach((mask, bank) => mask && parts.push(cellOf(site, line, i + 1, bank, mask, y)));
    y += CELL;
  }
  if (left) {
    label(LEFT, y + CELL - 5, "start", `and ${left} more wavefronts`);
    y += CELL;
  }
  const width = LEFT + BANKS * CELL + EDGE, height = y + EDGE;
  return s("svg.bank-map", {viewBox: `0 0 ${width} ${height}`, width, height, role: "img",
    "aria-label": "which lanes each bank serves, wavefront by wavefront"}, parts);
}

// site: {width, offsets, access}. A map with its sentence and, of an access with conflicts, the advice.
function mapOf(site, summary, open) {
  const a = site.access, conflicts = a.wavefronts > a.ideal;
  return fold(summary, open, h("figure",
    h("figcaption",
      a.turns ? [`In this access ${a.turns}: `,
                 h("span.bad", `${a.wavefronts} wavefronts where ${a.ideal} would do`), ". "]
              : [`${a.wavefronts} wavefront${plural(a.wavefronts)}, as many as its width needs: `,
                 h("span.good", "no conflict"), ". "],
      conflicts && a.advice && [h("b", "To avoid it:"), ` ${a.advice}. `],
      h("br"),
      h("span.soft", "Banks across, a line a wavefront; a number is the lane that is served, + more than one. ",
        h("span.good", "■ first turn"), conflicts && [" ", h("span.bad", "■ later turns: conflicts")])),
    scroll("a map of the banks", bankMap(site))));
}
