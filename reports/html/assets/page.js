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
