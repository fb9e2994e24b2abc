// The page: the handlers of buttons, keys and pointers.

const data = JSON.parse(document.getElementById("data").textContent);
document.documentElement.classList.add("on");
if (matchMedia("screen and (max-width: 600px)").matches) document.querySelector("[data-answered]")?.removeAttribute("open"); // the diagram is to be on the first screen
const root = document.getElementById("charts");
const charts = root ? new Charts(root, data) : null;
const story = document.querySelector("[data-player]") ? new Story(document, data, charts) : null;
const tip = document.querySelector("[data-tip]");
const details = document.querySelector("[data-details]");

// Every event that is drawn, by panel and number.
const events = new Map(data.panels.map((p) => [p.mode, new Map(p.events.map((e) => [e[0], {
  n: e[0], at: e[1], actor: data.texts[e[2]], kind: data.texts[e[3]], peer: data.texts[e[4]], text: data.texts[e[5]],
}]))]));

// describe is the description of an element, as paragraphs.
function describe(panel, item) {
  const known = events.get(panel.mode), a = known.get(item.n), b = known.get(item.m);
  const out = [];
  if (item.kind === "message" && a) {
    const took = item.t1 > item.t0 ? `, under way for ${trim(((item.t1 - item.t0) / 1e6).toFixed(3))} ms` : "";
    out.push(make("p", null, make("b", `${a.actor} → ${a.peer}`), b ? took : ", no arrival in the trace"));
  } else out.push(make("p", null, make("b", item.says)));
  for (const e of [a, b]) {
    if (!e) continue;
    const what = e.peer && e.kind !== "recv" ? `${e.kind} ${e.peer}` : e.kind;
    out.push(make("p", `step ${e.n}, ${(e.at / SECOND).toFixed(6)} s, ${e.actor} ${what} `, make("code", e.text)));
  }
  return out;
}

function choose(panel, item) {
  for (const old of document.querySelectorAll(".chosen")) old.classList.remove("chosen");
  if (!item) return;
  item.el.classList.add("chosen");
  details.replaceChildren(...describe(panel, item));
}

// jump shows the decisive step, with the leases and the faults that led to it, in the
// diagrams and in the story. A mode without one shows that of the first that has one.
function jump() {
  const told = data.panels.find((p) => p.mode === story.mode);
  const panel = told && told.fatal ? told : data.panels.find((p) => p.fatal);
  if (!panel) return;
  if (panel.mode !== story.mode) story.choose(panel.mode);
  const around = Math.max((panel.fatalAt - panel.since) * 0.1, 5e6);
  charts.show(panel.since - around, panel.fatalAt + around);
  story.show(Math.max(story.states.findLastIndex((s) => s.n <= panel.fatal), 0), true);
}

function act(what) {
  switch (what) {
    case "jump": return jump();
    case "in": return charts.zoom(1.6);
    case "out": return charts.zoom(1 / 1.6);
    case "fit": return charts.fit();
    case "left": return charts.pan(-0.25);
    case "right": return charts.pan(0.25);
    case "first": return story.show(0, true);
    case "back": return story.step(-1);
    case "next": return story.step(1);
    case "play": return story.toggle();
    case "fatal": return jump();
  }
}

const keys = { ArrowLeft: "left", ArrowRight: "right", "+": "in", "=": "in", "-": "out", 0: "fit", Home: "fit", b: "jump", "[": "back", "]": "next", " ": "play" };

function onKey(panel, e) {
  if (e.ctrlKey || e.metaKey || e.altKey) return;
  if (e.key === "," || e.key === ".") {
    const visible = panel.events.filter((i) => i.shown && (!i.el.checkVisibility || i.el.checkVisibility()));
    const now = visible.findIndex((i) => i.el.classList.contains("chosen"));
    const next = visible[now < 0 ? (e.key === "." ? 0 : visible.length - 1) : now + (e.key === "." ? 1 : -1)];
    if (next) choose(panel, next);
  } else if (keys[e.key]) act(keys[e.key]);
  else return;
  e.preventDefault();
}

function hover(panel, e) {
  const box = panel.svg.getBoundingClientRect();
  const item = panel.near(e.clientX - box.left, e.clientY - box.top, e.target);
  tip.hidden = !item;
  choose(panel, item);
  if (!item) return;
  tip.replaceChildren(...describe(panel, item));
  const wide = tip.offsetWidth, high = tip.offsetHeight;
  tip.style.left = Math.max(8, Math.min(e.clientX + 14, innerWidth - wide - 8)) + "px";
  tip.style.top = (e.clientY + 18 + high > innerHeight ? Math.max(8, e.clientY - high - 14) : e.clientY + 18) + "px";
}

// grab lets a pointer move the window, and two of them zoom it.
function grab(panel) {
  const chart = panel.chart, down = new Map();
  const spread = () => { const [a, b] = [...down.values()]; return Math.max(Math.abs(a - b), 12); };
  chart.addEventListener("pointerdown", (e) => {
    if (e.button) return;
    down.set(e.pointerId, e.clientX);
    tip.hidden = true;
  });
  chart.addEventListener("pointermove", (e) => {
    if (!down.has(e.pointerId)) { if (e.pointerType === "mouse") hover(panel, e); return; }
    if (!chart.hasPointerCapture(e.pointerId)) chart.setPointerCapture(e.pointerId);
    chart.classList.add("dragging");
    if (down.size === 1) {
      const by = charts.timeAt(down.get(e.pointerId)) - charts.timeAt(e.clientX);
      charts.show(charts.view.from + by, charts.view.to + by);
      down.set(e.pointerId, e.clientX);
      return;
    }
    const before = spread(), [a, b] = [...down.values()];
    down.set(e.pointerId, e.clientX);
    charts.zoom(spread() / before, charts.timeAt((a + b) / 2));
  });
  const up = (e) => {
    if (down.has(e.pointerId) && !chart.classList.contains("dragging")) hover(panel, e);
    down.delete(e.pointerId);
    chart.classList.remove("dragging");
  };
  chart.addEventListener("pointerup", up);
  chart.addEventListener("pointercancel", up);
  chart.addEventListener("pointerleave", () => { tip.hidden = true; });
  chart.addEventListener("wheel", (e) => {
    if (e.ctrlKey || e.metaKey) charts.zoom(Math.exp(-e.deltaY / 240), charts.timeAt(e.clientX));
    else if (e.shiftKey || Math.abs(e.deltaX) > Math.abs(e.deltaY)) charts.pan((e.deltaX || e.deltaY) / 1200);
    else return;
    e.preventDefault();
  }, { passive: false });
  chart.addEventListener("keydown", (e) => onKey(panel, e));
}

// follow shows the step that an address names, and the window of time: #none-405@10e9..18e9. The address of a link that was
// followed is that of the event: remember may have replaced the page's own before the event came.
function follow(address) {
  const [name, shown] = decodeURIComponent(new URL(address).hash.slice(1)).split("@");
  const line = document.getElementById(name), tale = line && line.closest(".tale");
  if (tale && story) {
    if (tale.dataset.mode !== story.mode) story.choose(tale.dataset.mode);
    story.show(story.lines.indexOf(line), true);
  }
  const [from, to] = (shown || "").split("..").map(Number);
  if (charts && to > from) charts.show(from, to);
}

// remember puts the step and the window of time into the address, once they rest, so that a link to the page shows them.
function remember() {
  clearTimeout(remember.timer);
  remember.timer = setTimeout(() => {
    const line = story && story.lines[story.at], { from, to } = charts.view;
    const whole = to - from >= charts.end;
    const hash = (line ? line.id : "") + (whole ? "" : `@${Math.round(from)}..${Math.round(to)}`);
    try { history.replaceState(null, "", "#" + hash); } catch { /* a frame without an address of its own */ }
  }, 200);
}

document.addEventListener("click", (e) => {
  const button = e.target.closest("button[data-do], button[data-play]");
  if (button) { if (story) { if (button.dataset.play !== "play") story.stop(); } act(button.dataset.do || button.dataset.play); }
});
document.addEventListener("keydown", (e) => { if (e.key === "Escape") tip.hidden = true; });
if (charts) {
  charts.panels.forEach(grab);
  document.querySelector("select[data-do=messages]").addEventListener("change", (e) => { root.className = e.target.value; });
  if (!data.panels.some((p) => p.fatal)) for (const b of document.querySelectorAll("[data-do=jump], [data-play=fatal]")) b.remove();
}
if (story) {
  story.range.addEventListener("input", () => { story.stop(); story.show(+story.range.value, true); });
  for (const radio of document.querySelectorAll("[name=mode]")) radio.addEventListener("change", () => { story.stop(); story.choose(radio.value); });
}
addEventListener("hashchange", (e) => follow(e.newURL));
follow(location.href);
if (charts) charts.changed = remember;
if (charts && story) story.changed = remember;
// A drawing measures its texts, so it is loaded only when it is visible.
for (const picture of document.querySelectorAll(".picture")) {
  picture.addEventListener("toggle", () => {
    const frame = picture.querySelector("iframe");
    if (picture.open && frame && !frame.srcdoc) frame.srcdoc = frame.dataset.page;
  });
}
document.documentElement.dataset.ready = "yes";
