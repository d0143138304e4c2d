// A sound: drawn before and after, its loudness, and a loop of it to hear.
import {fill} from "./fill.js";
import {h} from "./kit.js";
import {ask, samples} from "./server.js";
import * as picture from "./picture.js";

const LOOP = 3; // seconds, unless chosen
const sound = {before: null, after: null, look: "waveform", from: 0, playing: null, context: null};

const dark = () => matchMedia("(prefers-color-scheme: dark)").matches;
const LOOKS = {
  waveform: (width, height) => `waveform ${width} height=${height} colors=${dark() ? "dark" : "light"}`,
  spectrogram: (width, height) =>
    `spectrogram width=${width} height=${height} axes=no\nresize width=${width}px height=${height}px fit=stretch`
};

const length = of => of.frames / of.rate;

async function drawn(from, number) {
  const {width, height} = document.getElementById("canvas");
  const text = `loudness\n${LOOKS[sound.look](Math.max(width, 100), Math.max(height, 100))}\n`;
  return ask("run", {text, number, step: -1, held: -1, from});
}

const WORDS = {lufs: n => `${n} LUFS`, range: n => `range ${n} LU`, momentary: n => `loudest moment ${n} LUFS`,
               true_peak: n => `true peak ${n} dBTP`};
const loudness = report => report.steps.flatMap(step => step.findings || [])
  .filter(f => WORDS[f.name] && typeof f.value === "number").map(f => WORDS[f.name](f.value.toFixed(1))).join(", ");

// Draws what a run gave: told, of a sound or of a picture that was made of it.
export async function show(told, number) {
  const before = await drawn("before", number);
  if (!before.told.done) return;
  const lines = [["before", before.report]];
  let after = told;
  sound.after = told.rate > 0 ? {frames: told.height, rate: told.rate, channels: told.channels} : null;
  document.getElementById("play-after").disabled = !sound.after;
  if (sound.after) {
    const made = await drawn("after", number);
    if (!made.told.done) return;
    after = made.told;
    lines.push(["after", made.report]);
  }
  fill(document.getElementById("loudness"),
    lines.map(([name, report]) => h("div", h("b", name), ` ${loudness(report)}`)));
  picture.forget();
  const {width, height} = before.told;
  await picture.show({width, height}, {width: after.width, height: after.height});
  document.getElementById("canvas").dataset.look = sound.look;
}

// ------------------------------------------------------------------------------------------------ hearing

function stop() {
  sound.playing?.stop();
  sound.playing = null;
  for (const name of ["before", "after"]) document.getElementById(`play-${name}`).setAttribute("aria-pressed", "false");
}

async function play(which) {
  const of = sound[which], wanted = Number(document.getElementById("loop").value);
  const again = document.getElementById(`play-${which}`).getAttribute("aria-pressed") === "true";
  stop();
  if (again) return;
  const from = Math.min(Math.floor(sound.from * of.rate), Math.max(0, of.frames - 1));
  const frames = Math.min(Math.round(wanted * of.rate), of.frames - from);
  const data = await samples({which, from, frames});
  if (!data) return;
  sound.context ??= new AudioContext();
  const buffer = sound.context.createBuffer(of.channels, frames, of.rate);
  for (let c = 0; c < of.channels; c++) {
    const channel = buffer.getChannelData(c);
    for (let i = 0; i < frames; i++) channel[i] = data[i * of.channels + c];
  }
  const source = sound.context.createBufferSource();
  Object.assign(source, {buffer, loop: true});
  source.connect(sound.context.destination);
  source.start();
  sound.playing = source;
  document.getElementById(`play-${which}`).setAttribute("aria-pressed", "true");
}

// A click on the drawing says where the loop begins.
function place({x, of}) {
  sound.from = Math.max(0, x / of.width * length(sound.before));
  const pressed = name => document.getElementById(`play-${name}`).getAttribute("aria-pressed") === "true";
  const playing = ["before", "after"].find(pressed);
  tellPlace();
  if (playing) {
    stop();
    play(playing);
  }
}

const tellPlace = () => {
  const [from, end] = [sound.from, length(sound.before)].map(n => n.toFixed(2));
  document.getElementById("from").textContent = `from ${from} s of ${end} s; click to begin elsewhere`;
};

export function begin(state, redraw) {
  if (!state.rate) return;
  const {frames, rate, channels} = state;
  Object.assign(sound, {before: {frames, rate, channels}});
  const tool = (id, label, title, onclick) =>
    h("button.tool", {type: "button", id, title, onclick, "aria-pressed": "false"}, label);
  const look = h("select", {id: "look", "aria-label": "How it is drawn", oninput: () => {
    sound.look = look.value;
    redraw();
  }}, Object.keys(LOOKS).map(name => h("option", {value: name}, name)));
  const loop = h("select", {id: "loop", "aria-label": "Length of the loop"},
    [1, LOOP, 10, 30].map(n => h("option", {value: n, selected: n === LOOP}, `${n} s`)));
  document.getElementById("picture").prepend(
    h("p.tools", look, tool("play-before", "▶ before", "Hear the input", () => play("before")),
      tool("play-after", "▶ after", "Hear the result", () => play("after")), "loop of", loop,
      h("span.small.soft", {id: "from"})),
    h("div.small", {id: "loudness"}));
  picture.onPlace(place);
  tellPlace();
}
