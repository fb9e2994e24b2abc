// The demo: the run without a fence, one line of its story after the other.

const tip = document.querySelector("[data-tip]"), details = document.querySelector("[data-details]");
function make(tag, text, ...children) {
  const el = document.createElement(tag);
  if (text !== undefined && text !== null) el.textContent = text;
  el.append(...children);
  return el;
}

const run = demo.runs[0], steps = (run.lines || []).filter((l) => !l.gap);
const events = new Map(demo.runs.map((r) => [r.mode, new Map((r.events || []).map((e) => [e.n, e]))]));
const root = make("div");
root.id = "charts";
root.dataset.end = demo.diagram.End; root.dataset.gutter = demo.diagram.Gutter; root.dataset.right = demo.diagram.Right;
root.innerHTML = figure(demo.diagram.Panels[0], demo.diagram);
document.querySelector("[data-diagram]").append(root);
const charts = new Charts(root, { panels: demo.runs });
charts.panels.forEach(grab);
function act(what) {
  switch (what) {
    case "in": return charts.zoom(1.6);
    case "out": return charts.zoom(1 / 1.6);
    case "fit": return charts.fit();
    case "left": return charts.pan(-0.25);
    case "right": return charts.pan(0.25);
  }
}

const button = document.querySelector("[data-do=play]"), saying = document.querySelector(".saying"), says = document.querySelector("[data-says]");
let at = 0, timer = null;
function show(i) {
  at = Math.min(i, steps.length - 1);
  const l = steps[at];
  for (const p of charts.panels) { p.cursorAt = l.at; p.mark(); }
  says.replaceChildren(`${l.time}: `, make("b", l.actor), ` ${l.text}`);
  saying.classList.toggle("fatal", !!l.fatal);
  if (l.fatal) stop(demoWords.again); // the point is made
}
function stop(word) { clearInterval(timer); timer = null; button.textContent = word; }
function start() {
  if (steps[at].fatal || at === steps.length - 1) at = -1;
  button.textContent = demoWords.pause;
  show(at + 1);
  timer = setInterval(() => { show(at + 1); if (at === steps.length - 1) stop(demoWords.again); }, 1300);
}
button.addEventListener("click", () => (timer ? stop(demoWords.play) : start()));
button.textContent = demoWords.play;
if (matchMedia("(prefers-reduced-motion: reduce)").matches) show(steps.findIndex((l) => l.fatal));
else start();
document.documentElement.dataset.ready = "yes";
