// The page: what is chosen becomes a request, and the engine's answer becomes the page.

// $ is a part of the page. The root has data of its own with such names, which say what the engine has done.
const $ = (name) => document.body.querySelector(`[data-${name}]`);
const menu = JSON.parse(document.getElementById("menu").textContent);
const tip = $("tip"), details = $("details");
const stories = new Map(menu.stories.map((s) => [s.name, s])), locks = new Map(menu.locks.map((l) => [l.name, l]));

// state is all that a link carries. modes is null for those that the lock's runs compare.
const state = { story: "gc-pause", source: "", lock: "", modes: null, seed: 1, zh: new URLSearchParams(location.search).has("zh") };
let answer = null, charts = null, events = new Map(), told = "";

function make(tag, text, ...children) {
  const el = document.createElement(tag);
  if (text !== undefined && text !== null) el.textContent = text;
  el.append(...children);
  return el;
}

const say = (word) => words[state.zh ? "zh" : "en"][word];

// Words in the other language.
for (const el of document.querySelectorAll("[data-w]")) words.en[el.dataset.w] = el.textContent;
function speak() {
  document.documentElement.lang = state.zh ? "zh" : "en";
  document.title = say("title");
  for (const el of document.querySelectorAll("[data-w]")) el.textContent = say(el.dataset.w);
  $("language").textContent = say("other");
  $("language").lang = state.zh ? "en" : "zh";
  const front = $("home").dataset[state.zh ? "zh" : "en"];
  if (front) $("home").href = front;
}

// Choices.
const currentLock = () => state.lock || stories.get(state.story)?.lock || "fenced";
const currentModes = () => state.modes || locks.get(currentLock())?.modes || ["none", "check", "seal"];
const request = () => ({ source: state.source, lock: state.lock, modes: currentModes(), seed: state.seed });

function fillChoices() {
  $("story").replaceChildren(...menu.stories.map((s) => { const o = make("option", `${s.name}: ${s.title}`); o.value = s.name; return o; }));
  $("story").value = state.story;
  $("lock").replaceChildren(...[[false, "locks"], [true, "specimens"]].map(([wrong, label]) => {
    const g = make("optgroup");
    g.label = say(label);
    g.append(...menu.locks.filter((l) => !!l.specimen === wrong).map((l) => { const o = make("option", l.name); o.value = l.name; return o; }));
    return g;
  }));
  $("lock").value = currentLock();
  $("about").textContent = locks.get(currentLock())?.about || "";
  $("seed").value = state.seed;
  $("modes").replaceChildren(...menu.modes.map((m) => {
    const box = make("input");
    box.type = "checkbox"; box.value = m; box.checked = currentModes().includes(m);
    box.addEventListener("change", () => {
      const on = [...$("modes").querySelectorAll(":checked")].map((b) => b.value);
      if (!on.length) { box.checked = true; return; }
      state.modes = on;
      play();
    });
    return make("label", null, box, " " + m);
  }));
}

// Sliders: a cubic scale, so that short times have room, and round values.
const position = (k) => Math.round(200 * Math.cbrt((k.value - k.least) / (k.most - k.least)));
function valueAt(k, pos) {
  const v = k.least + (k.most - k.least) * (pos / 200) ** 3, ms = v / 1e6;
  const grain = ms >= 10000 ? 500 : ms >= 1000 ? 100 : ms >= 100 ? 10 : ms >= 10 || k.what === "ttl" ? 1 : ms >= 1 ? 0.1 : 0.01;
  const round = Math.max(Math.round(ms / grain) * grain, k.least / 1e6);
  return round >= 1000 ? `${+(round / 1000).toFixed(3)}s` : round >= 1 ? `${+round.toFixed(3)}ms` : `${Math.round(round * 1000)}us`;
}

function knobName(k) {
  if (say(k.what)) return say(k.what);
  const n = answer.knobs.filter((o) => o.what === k.what && o.field === k.field);
  return `${say("fault")}: ${k.what.replaceAll("_", " ")}, ${k.field}${n.length > 1 ? ` (${n.indexOf(k) + 1})` : ""}`;
}

function fillKnobs(knobs) {
  const box = $("knobs"), old = [...box.children];
  if (old.length === knobs.length && old.every((el, i) => el.dataset.path === knobs[i].path && el.dataset.zh === String(state.zh))) {
    knobs.forEach((k, i) => showKnob(old[i], k));
    return;
  }
  box.replaceChildren(...knobs.map((k) => {
    const range = make("input"), label = make("label", null, make("span", knobName(k)), make("output"), range);
    label.dataset.path = k.path; label.dataset.zh = state.zh;
    label.title = k.about || "";
    range.type = "range"; range.min = 0; range.max = 200; range.step = 1;
    range.addEventListener("input", () => {
      const text = valueAt(label.knob, +range.value);
      label.querySelector("output").textContent = text;
      range.setAttribute("aria-valuetext", text);
      play({ [k.path]: text });
    });
    showKnob(label, k);
    return label;
  }));
}

function showKnob(label, k) {
  const range = label.querySelector("input"), moving = document.activeElement === range;
  label.knob = moving && label.knob ? { ...label.knob, value: k.value } : k;
  if (moving && worker.waiting) return; // a newer value is on its way
  label.querySelector("output").textContent = k.text;
  range.setAttribute("aria-valuetext", k.text);
  if (!moving) range.value = position(k);
}

// Engine: a worker with the module; one call at a time, of which only the newest waits.
class Engine {
  constructor(module) {
    this.worker = new Worker(URL.createObjectURL(new Blob([document.getElementById("worker").textContent], { type: "text/javascript" })));
    this.worker.postMessage({ module });
    this.calls = new Map();
    this.n = 0;
    this.worker.onmessage = (e) => {
      const { id, when, text, took, ended, why } = e.data;
      if (ended) return fail(why || "it ended");
      const call = this.calls.get(id);
      if (!call) return;
      const value = JSON.parse(text);
      if (when === "more") return call.more && call.more(value);
      this.calls.delete(id);
      call.done(value, took);
    };
    this.worker.onerror = (e) => fail(e.message);
  }

  call(what, request, more, seeds) {
    return new Promise((done) => {
      const id = ++this.n;
      this.calls.set(id, { done: (value, took) => done({ value, took }), more });
      this.worker.postMessage({ id, what, request: JSON.stringify(request), seeds });
    });
  }

  stop() { this.worker.postMessage({ what: "stop" }); }
}

function fail(why) { $("stage").textContent = `${say("failed")}: ${why}`; document.querySelector(".loading").hidden = false; }

const worker = { engine: null, busy: false, waiting: null, module: null, many: null };

// play asks for a run of what is chosen, with some lengths changed.
function play(set) {
  worker.waiting = { ...request(), set: { ...(worker.waiting?.set), ...set } };
  next();
}

async function next() {
  if (worker.busy || !worker.engine || !worker.waiting) return;
  const asked = worker.waiting;
  worker.busy = true; worker.waiting = null;
  const began = performance.now();
  const { value, took } = await worker.engine.call("play", asked);
  worker.busy = false;
  const edited = state.source !== asked.source; // meanwhile, by hand or by the choice of another story
  if (!edited) {
    if (!value.problem) state.source = value.source;
    show(value);
    document.documentElement.dataset.took = Math.round(took);
    document.documentElement.dataset.shown = Math.round(performance.now() - began);
    $("took").textContent = `${say("played")} ${Math.round(took)} ms.`;
    if (!document.documentElement.dataset.ready) {
      document.documentElement.dataset.first = Math.round(performance.now());
      document.documentElement.dataset.ready = "yes";
      document.querySelector(".loading").hidden = true;
    }
  }
  document.documentElement.dataset.answers = +(document.documentElement.dataset.answers || 0) + 1;
  next();
}

// show shows an answer, or what is wrong with the request.
function show(a) {
  const problem = a.problem;
  $("problem").textContent = problem ? `${problem.line ? `${say("line")} ${problem.line}${state.zh ? " 行" : ""}: ` : ""}${problem.text}${problem.excerpt ? "\n" + problem.excerpt : ""}` : "";
  $("source").setAttribute("aria-invalid", !!problem);
  $("wrong").hidden = !problem;
  if (problem) $("wrong").textContent = (problem.line ? `${say("line")} ${problem.line}${state.zh ? " 行" : ""}: ` : "") + problem.text;
  numberLines(problem ? problem.line : 0);
  document.body.classList.toggle("stale", !!problem);
  if (problem) return;
  answer = a;
  if ($("source").value !== a.source) { $("source").value = a.source; numberLines(0); }
  fillKnobs(a.knobs || []);
  $("title").textContent = a.title;
  $("headline").textContent = a.headline;
  $("ends").replaceChildren(...a.modes.map((m) => { const li = make("li", null, make("span", m.mode + " "), chip(m.label)); li.title = m.rule; return li; }));
  $("answers").replaceChildren(...(a.answers || []).flatMap((x) => [make("dt", x.question), make("dd", x.text)]));
  draw(a);
  tell();
  $("command").textContent = (a.library ? "" : `cat >scenario.yaml <<'EOF'\n${a.source}${a.source.endsWith("\n") ? "" : "\n"}EOF\n`) + a.command;
  $("hashes").replaceChildren(...a.modes.filter((m) => m.hash).flatMap((m) => [make("dt", m.mode), make("dd", null, make("code", m.hash))]));
  remember();
}

function chip(label) { const c = make("span", label); c.className = "chip"; c.dataset.label = label; return c; }

// draw draws the diagrams.
function draw(a) {
  const root = make("div");
  root.id = "charts";
  root.dataset.end = a.diagram.End; root.dataset.gutter = a.diagram.Gutter; root.dataset.right = a.diagram.Right;
  root.innerHTML = (a.diagram.Panels || []).map((p) => figure(p, a.diagram)).join("");
  $("diagram").replaceChildren(root, ...(a.divergences || []).map((d) => make("p", d)), listed(a));
  events = new Map(a.runs.map((r) => [r.mode, new Map((r.events || []).map((e) => [e.n, e]))]));
  charts = a.diagram.Panels?.length ? new Charts(root, { panels: a.runs }) : null;
  if (charts) charts.panels.forEach(grab);
  document.querySelector("[data-do=jump]").disabled = !a.runs.some((r) => r.fatal);
}

function listed(a) {
  const box = make("details", null, make("summary", "The diagrams as lists"));
  for (const r of a.runs) box.append(make("h3", "In " + r.title), make("ul", null, ...(r.listed || []).map((l) => make("li", l))));
  return box;
}

// tell tells the story of one run.
function tell() {
  if (!answer.runs.some((r) => r.mode === told)) told = answer.runs[0]?.mode || "";
  $("told").replaceChildren(make("legend", say("mode")), ...answer.runs.map((r) => {
    const radio = make("input");
    radio.type = "radio"; radio.name = "told"; radio.value = r.mode; radio.checked = r.mode === told;
    radio.addEventListener("change", () => { told = r.mode; tell(); });
    return make("label", null, radio, ` ${r.title} `);
  }));
  const run = answer.runs.find((r) => r.mode === told), list = make("ol");
  for (const l of run ? run.lines || [] : []) {
    const li = make("li");
    if (l.gap) { li.className = "gap"; li.textContent = "… " + l.text; list.append(li); continue; }
    if (l.fatal) li.className = "fatal"; else if (l.shared) li.className = "shared";
    const go = make("button", l.time);
    go.type = "button"; go.className = "go"; go.setAttribute("aria-label", `${l.time}, step ${l.n}`);
    go.addEventListener("click", () => {
      for (const old of list.querySelectorAll(".current")) old.classList.remove("current");
      li.classList.add("current");
      if (!charts) return;
      for (const p of charts.panels) { p.cursorAt = l.at; p.mark(); }
      charts.reveal(l.at);
    });
    li.append(go, make("span", null, make("b", l.actor), " " + l.text));
    list.append(li);
  }
  $("tale").dataset.label = answer.modes.find((m) => m.mode === told)?.label || "";
  $("tale").replaceChildren(list);
}

function jump() {
  const run = answer.runs.find((r) => r.mode === told && r.fatal) || answer.runs.find((r) => r.fatal);
  if (!run || !charts) return;
  if (told !== run.mode) { told = run.mode; tell(); }
  const around = Math.max((run.fatalAt - run.since) * 0.1, 5e6);
  charts.show(run.since - around, run.fatalAt + around);
}

// Many seeds, in a worker of their own.
const SEEDS = 500;
async function manySeeds() {
  if (!worker.module) return;
  worker.many ||= new Engine(worker.module);
  const modes = currentModes(), counts = modes.map(() => new Map());
  let n = 0;
  busy(true);
  document.documentElement.dataset.seeds = "";
  const showCounts = () => {
    $("count").textContent = `${n} ${say("of")} ${SEEDS} ${say("seeds")}`;
    $("histogram").replaceChildren(histogram(modes, counts, n));
  };
  let drawn = 0;
  await worker.many.call("seeds", request(), (labels) => {
    if (labels.problem) { worker.many.stop(); $("count").textContent = labels.problem.text; return; }
    n++;
    labels.forEach((l, i) => counts[i].set(l, (counts[i].get(l) || 0) + 1));
    if (performance.now() - drawn > 100) { drawn = performance.now(); showCounts(); }
  }, SEEDS);
  if (n) showCounts();
  busy(false);
  document.documentElement.dataset.seeds = n;
}

function busy(on) {
  document.querySelector("[data-do=seeds]").disabled = on;
  document.querySelector("[data-do=stop]").disabled = !on;
}

function histogram(modes, counts, n) {
  const rows = modes.flatMap((m, i) => [...counts[i]].sort((a, b) => b[1] - a[1]).map(([label, k], j) => {
    const bar = make("span"), head = make("th", j ? "" : m);
    bar.className = "count"; bar.style.width = `${(k / n) * 100}%`; bar.dataset.label = label;
    head.scope = "row";
    return make("tr", null, j ? make("td") : head, make("td", null, chip(label)), make("td", `${k}`), make("td", null, bar));
  }));
  const head = make("tr", null, ...[say("mode"), say("label"), say("runs")].map((t) => { const th = make("th", t); th.scope = "col"; return th; }), make("td"));
  return make("table", null, make("thead", null, head), make("tbody", null, ...rows));
}

// The curve of when it became inevitable.
async function drawCurve() {
  if (!worker.module) return;
  worker.many ||= new Engine(worker.module);
  const button = document.querySelector("[data-do=curve]"), began = performance.now();
  button.disabled = true;
  $("curve").replaceChildren();
  const { value } = await worker.many.call("curve", request(), (n) => { $("curved").textContent = `${n} ${say("drawing")}`; });
  button.disabled = false;
  document.documentElement.dataset.curve = Math.round(performance.now() - began);
  $("curved").textContent = !value ? say("noCurve") : value.problem ? value.problem.text : "";
  if (value && !value.problem) $("curve").innerHTML = curve(value);
}

// The file: errors at the line, and changes a moment after they were typed.
function numberLines(wrong) {
  const n = $("source").value.split("\n").length;
  $("lines").replaceChildren(...Array.from({ length: n }, (_, i) => { const el = make("span", `${i + 1}\n`); if (i + 1 === wrong) el.className = "bad"; return el; }));
  $("lines").scrollTop = $("source").scrollTop;
}
let typing;
$("source").addEventListener("input", () => {
  numberLines(0);
  state.source = $("source").value;
  clearTimeout(typing);
  typing = setTimeout(() => play(), 150);
});
$("source").addEventListener("scroll", () => { $("lines").scrollTop = $("source").scrollTop; });

// Links: the state, deflated. What is as the library has it is not written.
async function deflate(text) {
  const stream = new Blob([text]).stream().pipeThrough(new CompressionStream("deflate-raw"));
  const bytes = new Uint8Array(await new Response(stream).arrayBuffer());
  return btoa(String.fromCharCode(...bytes)).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}
async function inflate(text) {
  const bytes = Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (c) => c.charCodeAt(0));
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate-raw"))).text();
}
function remember() {
  clearTimeout(remember.timer);
  remember.timer = setTimeout(async () => {
    const kept = { s: state.story, n: state.seed };
    if (state.source !== stories.get(state.story)?.source) kept.y = state.source;
    if (state.lock) kept.l = state.lock;
    if (state.modes) kept.m = state.modes;
    if (state.zh) kept.zh = 1;
    const hash = "#" + await deflate(JSON.stringify(kept));
    try { history.replaceState(null, "", hash); } catch { /* a frame without an address of its own */ }
    $("link").value = location.href.split("#")[0] + hash;
  }, 150);
}
async function recall(hash) {
  state.source = stories.get(state.story).source;
  if (hash.length < 2) return;
  try {
    const kept = JSON.parse(await inflate(hash.slice(1)));
    if (stories.has(kept.s)) state.story = kept.s;
    state.source = typeof kept.y === "string" ? kept.y : stories.get(state.story).source;
    state.lock = locks.has(kept.l) ? kept.l : "";
    state.modes = Array.isArray(kept.m) ? kept.m.filter((m) => menu.modes.includes(m)) : null;
    if (state.modes && !state.modes.length) state.modes = null;
    state.seed = Number.isSafeInteger(kept.n) && kept.n >= 0 ? kept.n : 1;
    if (kept.zh) state.zh = true;
  } catch { /* no link of this page */ }
}

function act(what) {
  switch (what) {
    case "jump": return jump();
    case "in": return charts?.zoom(1.6);
    case "out": return charts?.zoom(1 / 1.6);
    case "fit": return charts?.fit();
    case "left": return charts?.pan(-0.25);
    case "right": return charts?.pan(0.25);
    case "reseed": state.seed = state.seed + 1; $("seed").value = state.seed; return play();
    case "reset": return take(state.story);
    case "seeds": return manySeeds();
    case "stop": return worker.many?.stop();
    case "curve": return drawCurve();
    case "copy-link": return copy($("link").value);
    case "copy-command": return copy($("command").textContent);
  }
}
function copy(text) { navigator.clipboard?.writeText(text); }

// take takes a story of the library as it is.
function take(name) {
  Object.assign(state, { story: name, source: stories.get(name).source, lock: "", modes: null, seed: 1 });
  $("histogram").replaceChildren(); $("count").textContent = ""; $("curve").replaceChildren(); $("curved").textContent = "";
  told = "";
  $("source").value = state.source;
  fillChoices();
  play();
}

document.addEventListener("click", (e) => {
  const button = e.target.closest("button[data-do]");
  if (button) act(button.dataset.do);
});
document.addEventListener("keydown", (e) => { if (e.key === "Escape") tip.hidden = true; });
$("story").addEventListener("change", (e) => take(e.target.value));
$("lock").addEventListener("change", (e) => { state.lock = e.target.value; state.modes = null; fillChoices(); play(); });
$("seed").addEventListener("change", (e) => { state.seed = Math.max(0, Math.floor(+e.target.value || 0)); e.target.value = state.seed; play(); });
$("language").addEventListener("click", (e) => {
  e.preventDefault();
  state.zh = !state.zh;
  speak(); fillChoices();
  if (answer) show(answer);
});
addEventListener("hashchange", async () => { await recall(location.hash); speak(); fillChoices(); play(); });

// The engine comes at the end of the page, in pieces, and is unpacked and compiled while they arrive.
const unpack = new DecompressionStream("gzip"), pieces = unpack.writable.getWriter();
const compiled = WebAssembly.compileStreaming(new Response(unpack.readable, { headers: { "Content-Type": "application/wasm" } }));
let arrived = 0;
window.engine = (base64, total) => {
  if (base64 === null) { pieces.close(); $("stage").textContent = say("compiling"); return; }
  pieces.write(Uint8Array.from(atob(base64), (c) => c.charCodeAt(0)));
  arrived += base64.length;
  document.getElementById("progress").value = (arrived / total) * 0.9;
  $("stage").textContent = `${say("loading")}: ${(arrived / 1e6).toFixed(1)} ${say("of")} ${(total / 1e6).toFixed(1)} MB`;
};

(async () => {
  await recall(location.hash);
  speak();
  fillChoices();
  $("source").value = state.source;
  numberLines(0);
  if (location.hash.length < 2) show(JSON.parse(document.getElementById("first").textContent));
  try {
    worker.module = await compiled;
    $("stage").textContent = say("starting");
    document.getElementById("progress").value = 0.95;
    worker.engine = new Engine(worker.module);
    play();
  } catch (err) { fail(err.message); }
})();
