// A worker: it has the engine, and answers the page's calls. The engine itself is a module that the page has compiled.

let ready;

onmessage = async (e) => {
  const { module, id, what, request, seeds } = e.data;
  if (module) {
    ready = (async () => {
      const go = new Go();
      const instance = await WebAssembly.instantiate(module, go.importObject);
      go.run(instance).then(() => postMessage({ ended: true }), (err) => postMessage({ ended: true, why: String(err) }));
    })();
    return;
  }
  await ready;
  if (what !== "seeds") return call(what, request, (when, text) => postMessage({ id, when, text, took: call.took }));
  stopped = false;
  for (let n = 0; n < seeds && !stopped; n++) {
    const text = await new Promise((done) => call("labels", JSON.stringify({ ...JSON.parse(request), seed: JSON.parse(request).seed + n }), (_, text) => done(text)));
    postMessage({ id, when: "more", text });
    await new Promise((go) => setTimeout(go)); // a stop may have come
  }
  postMessage({ id, when: "done", text: "[]" });
};

let stopped = false;

function call(what, request, say) {
  if (what === "stop") { stopped = true; return; }
  const began = performance.now();
  globalThis.locksim(what, request, (when, text) => { call.took = performance.now() - began; say(when, text); });
}
