// Questions to the program that serves this page. Its address has the secret; the header says that a page of the
// program's own asks.
const post = (name, body, more) => fetch(name, {
  method: "POST", body: JSON.stringify(body),
  headers: {"Content-Type": "application/json", "X-Smempipe": "edit"}, ...more
});

export async function ask(name, body = {}) {
  const answer = await post(name, body);
  if (!answer.ok) throw new Error(`${name}: ${answer.status}`);
  return answer.json();
}

// Pixels of a part of a picture; null: it is another picture meanwhile, and has no such part.
export async function pixels(part) {
  const answer = await post("show", part);
  if (!answer.ok) return null;
  return new ImageData(new Uint8ClampedArray(await answer.arrayBuffer()), part.outWidth, part.outHeight);
}

// What a change will look like: pixels, and the size of the whole in its own; null: only a run can tell.
export async function preview(question) {
  const answer = await post("preview", question);
  return answer.status === 200 ? unpack(await answer.arrayBuffer()) : null;
}

function unpack(bytes) {
  const [width, height, wide, high] = new Uint32Array(bytes, 0, 4);
  return {data: new ImageData(new Uint8ClampedArray(bytes, 16), width, height), size: {width: wide, height: high}};
}

// What a text makes of a file of the folder, small; or a message; null: another run was asked for meanwhile.
export async function tile(question) {
  const answer = await post("tile", question);
  if (answer.status === 409) return null;
  return answer.ok ? unpack(await answer.arrayBuffer()) : {message: await answer.text() || "the text is wrong"};
}

// Samples of a sound, frame by frame; null: there are no such.
export async function samples(part) {
  const answer = await post("samples", part);
  return answer.ok ? new Float32Array(await answer.arrayBuffer()) : null;
}

export const leave = () => post("leave", {}, {keepalive: true}).catch(() => {});
