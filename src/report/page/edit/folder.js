// A folder: one picture after the other, nine at once, and the batch over all of them.
import {fill} from "./fill.js";
import {h, count, baseName} from "./kit.js";
import {ask, tile} from "./server.js";
import * as text from "./text.js";

const TILES = 9, SIDE = 400; // pixels of a tile, at most
const folder = {state: null, at: 0, nine: false, round: 0, number: 0, open: () => {}, save: () => {}, timer: 0,
                done: 0, failed: 0, said: [], rest: "", status: 0};

// A word as a shell takes it.
export const quote = word => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replace(/'/g, "'\\''")}'`);

const by = id => document.getElementById(id);
const tool = (id, label, title, onclick) => h("button.tool", {type: "button", id, title, onclick}, label);

// ------------------------------------------------------------------------------------------------ one, nine

async function go(at) {
  const last = folder.state.files.length - 1, to = Math.max(0, Math.min(last, at));
  if (to === folder.at) return;
  const told = await ask("open", {at: to, number: Date.now()});
  fill(by("opened"), told.message && h("span.bad", `${told.where || folder.state.files[to]}: ${told.message}`));
  folder.at = told.message ? to : told.at; // one that cannot be read is passed over by the next step
  show();
  if (!told.message) await folder.open(told);
}

const first = () => Math.min(Math.floor(folder.at / TILES) * TILES, folder.state.files.length - 1);

function show() {
  const {files} = folder.state;
  by("previous").disabled = folder.at === 0;
  by("next").disabled = folder.at === files.length - 1;
  by("file").value = folder.at;
  by("of").textContent = `${folder.at + 1} of ${files.length}`;
  if (folder.nine) showNine();
}

// One after the other, until the text or the place is another.
// number: of the page's last run, by which the program knows what is late.
export async function showNine(number = folder.number) {
  folder.number = number;
  if (!folder.nine) return;
  const round = ++folder.round, from = first(), {files} = folder.state;
  const wanted = files.slice(from, from + TILES);
  if (by("nine").dataset.from !== String(from)) {
    by("nine").dataset.from = from;
    fill(by("nine"), wanted.map((name, i) => h("figure", {"data-at": from + i},
      h("button", {type: "button", title: `Show ${name} alone`, onclick: () => choose(from + i)}, h("canvas")),
      h("figcaption.small", name))));
  }
  for (let i = 0; i < wanted.length && round === folder.round && folder.nine; i++) {
    const source = text.pipe.text, told = await tile({at: from + i, text: source, side: SIDE, number});
    const figure = by("nine").querySelector(`[data-at="${from + i}"]`);
    if (!figure || !told) return;
    fill(figure.querySelector("figcaption"), files[from + i], told.message && h("span.bad", ` ${told.message}`));
    if (!told.data) continue;
    const canvas = figure.querySelector("canvas");
    canvas.width = told.data.width;
    canvas.height = told.data.height;
    canvas.getContext("2d").putImageData(told.data, 0, 0);
    figure.dataset.drawn = round;
  }
}

function turn(nine) {
  folder.nine = nine;
  by("nine").hidden = !nine;
  by("many").setAttribute("aria-pressed", String(nine));
  document.body.classList.toggle("many", nine);
  by("nine").dataset.from = "";
  if (nine) showNine();
}

async function choose(at) {
  turn(false);
  await go(at);
}

// ------------------------------------------------------------------------------------------------ all

const output = () => (folder.state.outputNamed ? folder.state.output
  : folder.state.output.replace(/NAME$/, by("name").value));

const command = () =>
  ["smempipe", "batch", folder.state.saveTo, folder.state.folder, "-o", output()].map(quote).join(" ");

function showAll() {
  const place = by("all");
  place.hidden = !place.hidden;
  if (place.hidden || place.childNodes.length) return;
  const name = baseName(folder.state.folder.replace(/\/+$/, "")).replace(/^\.+/, "") || "pictures";
  const box = h("input", {id: "name", value: `${name}-edited`, "aria-label": "Folder to write", spellcheck: "false",
                          oninput: () => { by("command").textContent = command(); }});
  fill(place,
    !folder.state.outputNamed && h("p", h("label", "Into a new folder beside it: ", box)),
    h("p", h("code", {id: "command"})),
    h("p.tools", tool("start", "Save, and run it on all", "Runs this command", start),
      h("progress", {id: "bar", max: folder.state.files.length, value: 0, "aria-label": "Files done"}),
      h("span.small", {id: "done", role: "status"})),
    h("pre.small", {id: "words"}));
  by("command").textContent = command();
}

async function start() {
  if (!await folder.save()) return;
  Object.assign(folder, {done: 0, failed: 0, said: [], rest: "", status: 0});
  hear(await ask("batch", {name: folder.state.outputNamed ? "output" : by("name").value}));
}

// Lines of `batch --report -`, one a file, and what it says beside them.
function take(line) {
  const told = line.startsWith("{") ? JSON.parse(line) : null;
  if (!told) folder.said.push(line);
  else if ("ended" in told) folder.status = told.ended;
  else if (told.status === "done") folder.done++;
  else {
    folder.failed++;
    folder.said.unshift(`${told.input}: ${told.error}`);
  }
}

function hear({told, runs}) {
  const files = folder.state.files.length, lines = (folder.rest + told).split("\n");
  folder.rest = lines.pop();
  lines.filter(Boolean).forEach(take);
  by("bar").value = folder.done + folder.failed;
  by("start").disabled = runs;
  fill(by("done"), `${folder.done} of ${count(files, "file", "files")} done`,
    folder.failed > 0 && h("span.bad", `, ${folder.failed} failed`),
    !runs && (folder.status ? h("span.bad", "; it has ended") : "; all of it is done"));
  fill(by("words"), !runs && folder.status > 0 && folder.said.join("\n"));
  by("done").dataset.ended = runs ? "" : "yes";
  clearTimeout(folder.timer);
  if (runs) folder.timer = setTimeout(async () => hear(await ask("batch")), 300);
}

// open: what the page does when another file is there; save: saves the text, and says whether it is.
export function begin(state, open, save) {
  if (!state.files) return;
  Object.assign(folder, {state, at: state.at, open, save});
  const list = h("select", {id: "file", "aria-label": "Picture", oninput: () => go(Number(list.value))},
    state.files.map((name, at) => h("option", {value: at}, name)));
  by("picture").prepend(
    h("p.tools", tool("previous", "‹", "The one before", () => go(folder.at - 1)), list,
      tool("next", "›", "The next one", () => go(folder.at + 1)), h("span.small", {id: "of"}),
      h("button.tool", {type: "button", id: "many", "aria-pressed": "false", title: "Nine pictures at once",
                        onclick: () => turn(!folder.nine)}, "nine at once"),
      tool("everything", "Run it on all …", "A batch over the folder", showAll),
      h("span.small", {id: "opened", role: "status"})),
    h("div", {id: "all", hidden: true}), h("div", {id: "nine", hidden: true}));
  show();
}
