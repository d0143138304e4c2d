// The text of the pipeline, which is the truth: each change is of some of its characters, so that comments, names and
// blanks stay as they were written. The program's parser says where statements and values stand.
import {ask} from "./server.js";

const OFF = /^# off: (.*)$/;
const MOST_STEPS_BACK = 500;

export const pipe = {
  text: "", statements: [], diagnostics: [], failed: null, // what was told of the text
  past: [], future: [], listeners: [],
  checked: 0, wanted: 0 // numbers of texts
};

export const own = {name: ""}; // of the text, in messages

export const onChange = listener => pipe.listeners.push(listener);
const tell = what => pipe.listeners.forEach(listener => listener(what));

// The parser counts bytes of UTF-8, a page characters of UTF-16.
function toCharacters(text, told) {
  const width = code => (code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4);
  const places = [];
  let at = 0;
  for (const character of text) {
    for (let i = width(character.codePointAt(0)); i > 0; i--) places.push(at);
    at += character.length;
  }
  places.push(at);
  const move = value => {
    for (const [key, v] of Object.entries(value)) {
      if (["start", "end", "from", "nameStart", "nameEnd"].includes(key))
        value[key] = places[Math.min(v, places.length - 1)];
      else if (v && typeof v === "object") move(v);
    }
  };
  move(told);
}

// A mistake with its place in the text; `elsewhere`: the file that the text includes.
function placed(mistake, text) {
  const lines = text.split("\n");
  const at = (line, column) => lines.slice(0, line - 1).reduce((sum, l) => sum + l.length + 1, 0)
    + [...(lines[line - 1] || "")].slice(0, column - 1).join("").length;
  return {...mistake, error: mistake.severity === "error", elsewhere: mistake.file !== own.name && mistake.file,
          start: at(mistake.line, mistake.column), end: at(mistake.end_line, mistake.end_column)};
}

export function take(told, text) {
  if (text !== pipe.text) return false; // it was changed meanwhile
  toCharacters(text, told);
  pipe.statements = told.statements;
  pipe.diagnostics = told.diagnostics.split("\n").filter(Boolean).map(line => placed(JSON.parse(line), text));
  pipe.failed = told.message && !pipe.diagnostics.some(d => d.error) ? told : null;
  pipe.checked = pipe.wanted;
  return true;
}

async function check() {
  const text = pipe.text;
  if (take(await ask("check", {text}), text)) tell("checked");
}

// kind: changes of one kind that follow each other are undone together; "": it stands alone.
export function setText(text, kind = "") {
  if (text === pipe.text) return;
  const last = pipe.past.at(-1);
  if (!(kind && last && last.kind === kind && Date.now() - last.time < 1500)) {
    pipe.past.push({text: pipe.text, kind, time: Date.now()});
    if (pipe.past.length > MOST_STEPS_BACK) pipe.past.shift();
  } else {
    last.time = Date.now();
  }
  pipe.future = [];
  put(text);
}

function put(text) {
  pipe.text = text;
  pipe.wanted++;
  tell("text");
  check();
}

export function undo() {
  const last = pipe.past.pop();
  if (!last) return;
  pipe.future.push({text: pipe.text, kind: "", time: 0});
  put(last.text);
}

export function redo() {
  const next = pipe.future.pop();
  if (!next) return;
  pipe.past.push({text: pipe.text, kind: "", time: 0});
  put(next.text);
}

export function begin(text) {
  pipe.text = text;
  return check();
}

// Replaces characters, and moves the places behind them, so that the next change need not wait for the parser.
export function splice(start, end, fresh, kind) {
  const more = fresh.length - (end - start);
  const move = value => {
    for (const [key, v] of Object.entries(value)) {
      if (v && typeof v === "object") move(v);
      else if (["start", "from", "nameStart"].includes(key)) value[key] = v >= end && v > start ? v + more : v;
      else if (["end", "nameEnd"].includes(key)) value[key] = v >= end ? v + more : v;
    }
  };
  move(pipe.statements);
  setText(pipe.text.slice(0, start) + fresh + pipe.text.slice(end), kind);
}

// ------------------------------------------------------------------------------------------------ steps

const lineStart = at => pipe.text.lastIndexOf("\n", at - 1) + 1;
const lineEnd = at => {
  const end = pipe.text.indexOf("\n", at);
  return end < 0 ? pipe.text.length : end + 1;
};

// Statements in their order, and between them those that are switched off: comments of a form of their own.
export function items() {
  const list = pipe.statements.map((statement, index) => ({
    statement, index, off: false, start: statement.start, end: statement.end,
    text: pipe.text.slice(statement.start, statement.end)
  }));
  let at = 0;
  for (const line of pipe.text.split("\n")) {
    const found = OFF.exec(line);
    const inside = pipe.statements.some(s => s.start < at && at < s.end); // of a list over several lines
    if (found && !inside) list.push({off: true, index: -1, start: at, end: at + line.length, text: found[1]});
    at += line.length + 1;
  }
  return list.sort((a, b) => a.start - b.start);
}

// The lines of an item, which has them for itself.
const block = item => ({from: lineStart(item.start), to: lineEnd(Math.max(item.start, item.end - 1))});

function endLine() {
  if (pipe.text && !pipe.text.endsWith("\n")) splice(pipe.text.length, pipe.text.length, "\n", "lines");
}

const within = (at, change) => {
  endLine();
  const item = items()[at];
  if (item) change(item, block(item));
};

export const remove = at => within(at, (_, {from, to}) => splice(from, to, "", ""));

export const duplicate = at => within(at, (_, {from, to}) => splice(to, to, pipe.text.slice(from, to), ""));

export const switchOff = at => within(at, (item, {from, to}) => {
  if (item.off) splice(from, to, item.text + "\n", "");
  else splice(from, to, pipe.text.slice(from, to).trimEnd().split("\n").map(line => `# off: ${line}\n`).join(""), "");
});

// Puts an item in front of another, or behind the last.
export function move(at, before) {
  if (before === at || before === at + 1) return;
  within(at, (_, {from, to}) => {
    const list = items(), lines = pipe.text.slice(from, to);
    const place = before > at ? block(list[before - 1]).to : lineStart(list[before].start);
    const without = pipe.text.slice(0, from) + pipe.text.slice(to);
    const put = place > from ? place - (to - from) : place;
    setText(without.slice(0, put) + lines + without.slice(put));
  });
}

// Adds a statement behind an item; -1: at the end.
export function add(statement, behind) {
  endLine();
  const item = items()[behind];
  const place = item ? block(item).to : pipe.text.length;
  splice(place, place, statement + "\n", "");
}

// ------------------------------------------------------------------------------------------------ values

const PAIR = /([\w-]+)=("(?:[^"\\]|\\.)*"|\[[^\]]*\]|\{[^}]*\}|\S+)/g;

// The text of a parameter's value in a statement; undefined: it is not written there.
export function valueOf(statement, param) {
  const arg = statement.args.find(a => a.param === param);
  if (arg) return pipe.text.slice(arg.start, arg.end);
  for (const [, name, value] of (statement.values || "").matchAll(PAIR)) if (name === param) return value;
  return undefined;
}

// The statement that declares `$name`.
const declared = name => pipe.statements.find(s => s.name === "param" && s.args[0]?.param === name);

export const declaredValue = name => {
  const own = declared(name)?.args[0];
  return own && pipe.text.slice(own.start, own.end);
};

// Writes values of parameters: {name: text}; null takes one out.
export function setValues(statement, values, defaults, kind) {
  if (statement.args.some(a => !a.param)) writeOut(statement, defaults);
  for (const [name, value] of Object.entries(values)) {
    const arg = statement.args.find(a => a.param === name);
    const own = arg?.kind === "param" && declared(pipe.text.slice(arg.start + 1, arg.end))?.args[0];
    if (value === null && arg) {
      const from = pipe.text.slice(0, arg.from).trimEnd().length;
      const end = arg.end;
      statement.args.splice(statement.args.indexOf(arg), 1);
      splice(from, end, "", kind);
    } else if (own && value !== null) {
      splice(own.start, own.end, value, kind);
    } else if (arg) {
      splice(arg.start, arg.end, value, kind);
    } else if (value !== null) {
      const at = Math.max(statement.nameEnd, ...statement.args.map(a => a.end));
      const before = statement.args.filter(a => a.end === at);
      splice(at, at, ` ${name}=${value}`, kind);
      for (const a of before) a.end = at; // what comes behind a value is none of it
      statement.end = Math.max(statement.end, at + name.length + value.length + 2);
      const start = at + name.length + 2;
      statement.args.push({named: true, param: name, kind: "word", from: at + 1, start, end: start + value.length});
    }
  }
}

// Writes values that stand for several parameters together (crop 40x30+5+7) as names with values.
function writeOut(statement, defaults) {
  const spread = statement.args.filter(a => !a.param), pairs = [];
  for (const [pair, name, value] of (statement.values || "").matchAll(PAIR)) {
    const usual = [value, value.replace(/[a-z]+$/i, "")].includes(defaults[name]);
    if (!usual && !statement.args.some(a => a.param === name)) pairs.push(pair);
  }
  const from = spread[0].from, end = spread.at(-1).end;
  statement.args = statement.args.filter(a => a.param);
  splice(from, end, pairs.join(" "), "");
  let at = from;
  for (const pair of pairs) {
    const equals = pair.indexOf("=");
    statement.args.push({named: true, param: pair.slice(0, equals), kind: "word", from: at, start: at + equals + 1,
                         end: at + pair.length});
    at += pair.length + 1;
  }
}
