// Runs the program beside the page, which stays at hand meanwhile. The first message is the program, compressed and in
// base64; the others are questions, answered one after the other.
"use strict";
function decoded(text) {
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text);
  const bytes = atob(text), data = new Uint8Array(bytes.length);
  for (let i = 0; i < bytes.length; i++) data[i] = bytes.charCodeAt(i);
  return data;
}

async function start(text) {
  const stream = new Blob([decoded(text)]).stream().pipeThrough(new DecompressionStream("gzip"));
  const program = new Response(stream, { headers: { "Content-Type": "application/wasm" } });
  const go = new Go();
  const { instance } = await WebAssembly.instantiateStreaming(program, go.importObject);
  go.run(instance);
}

onmessage = async ({ data }) => {
  try {
    if (data.program) await start(data.program);
    const answer = data.question ? self.roundoff(data.question) : "";
    if (answer === undefined) throw new Error("it gave no answer");
    postMessage({ id: data.id, answer });
  } catch (e) {
    postMessage({ id: data.id, failed: String(e.message || e) });
  }
};
