// A worker: it has the engine, and answers the page's calls. The engine itself is a module that the page has compiled.

let ready;

onmessage = async (e) => {
  const { module, id, what, request, seeds } = e.data;
  if (module) {
    ready = (async () => {
      const go = new Go();
      clock.drive(go);
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

// clock is the clock of the engine. Go's scheduler asks for it at each switch between goroutines, thousands of times in a run, and
// a browser takes its time to say it: so it is read whenever the engine is entered, and for every 64th question.
const clock = {
  asked: 0, low: 0, high: 0,
  drive(go) {
    go.importObject.gojs["runtime.nanotime1"] = (sp) => this.tell(go.mem, (sp >>> 0) + 8);
    go._resume = () => { this.read(); Go.prototype._resume.call(go); };
  },
  read() {
    const ns = (performance.timeOrigin + performance.now()) * 1e6;
    this.low = (ns % 2 ** 32) >>> 0; this.high = Math.floor(ns / 2 ** 32);
  },
  tell(memory, at) {
    if ((this.asked++ & 63) === 0) this.read();
    memory.setUint32(at, this.low, true); memory.setUint32(at + 4, this.high, true);
  },
};

function call(what, request, say) {
  if (what === "stop") { stopped = true; return; }
  const began = performance.now();
  globalThis.locksim(what, request, (when, text) => { call.took = performance.now() - began; say(when, text); });
}
