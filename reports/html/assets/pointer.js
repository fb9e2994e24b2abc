// Pointers and keys on the diagrams. It needs charts, the events by mode and number, act(what), and the elements tip and details.

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
