// What an element holds, as h() takes it: lists in lists, and nothing for null and false.
import {build} from "./kit.js";

export function fill(place, ...parts) {
  place.replaceChildren();
  return build(place, parts);
}

// Draws what came from the program; not while a button is held down, for that would take the button away.
let held = false;
const pending = new Map();

export function calmly(draw) {
  if (held) pending.set(draw, true);
  else draw();
}

function letGo() {
  held = false;
  const draws = [...pending.keys()];
  pending.clear();
  draws.forEach(draw => draw());
}

addEventListener("pointerdown", () => { held = true; }, true);
for (const end of ["pointerup", "pointercancel", "dragend"]) addEventListener(end, () => setTimeout(letGo), true);
