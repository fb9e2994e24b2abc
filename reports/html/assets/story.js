// The story: the current step, and the state of the world after it.

function make(tag, text, ...children) {
  const el = document.createElement(tag);
  if (text !== undefined && text !== null) el.textContent = text;
  el.append(...children);
  return el;
}

function table(head, rows) {
  const header = make("tr");
  for (const h of head) { const th = make("th", h); th.scope = "col"; header.append(th); }
  const body = make("tbody");
  for (const row of rows) body.append(make("tr", null, ...row.map((c) => make("td", c))));
  return make("table", null, make("thead", null, header), body);
}

// stateView is the world after a step, as tables.
function stateView(s) {
  const out = [make("h3", "Clients")];
  out.push(table(["client", "is", "holds", "believes", "token", "lease left"],
    s.clients.map((c) => [c.name, c.is, c.holds ? "yes" : "no", c.believes ? "yes" : "no", c.token || "–", c.left || "–"])));
  if (s.lock !== undefined) out.push(make("h3", "The lock, by the nodes’ own record"), make("p", s.lock ? `held by ${s.lock}` : "free"));
  if (s.nodes) {
    out.push(make("h3", "Servers"));
    out.push(table(["server", "key", "to live", "value"], s.nodes.flatMap((n) =>
      n.keys.length ? n.keys.map((k) => [n.name, k.name, k.ttl, k.value]) : [[n.name, "(no keys)", "", ""]])));
  }
  if (s.store) {
    out.push(make("h3", s.highest ? `Store s0, highest token seen: ${s.highest}` : "Store s0"));
    out.push(make("p", s.store.length ? s.store.join(", ") : "(nothing was written)"));
  }
  if (s.flights) out.push(make("h3", "Bytes under way"), make("p", s.flights.map((f) => `${f.from} → ${f.to}: ${f.bytes}`).join(", ")));
  return out;
}

// Story shows the story of one mode at a time.
class Story {
  constructor(root, data, charts) {
    this.charts = charts;
    this.data = data;
    this.player = root.querySelector("[data-player]");
    this.range = root.querySelector("[data-play=range]");
    this.button = root.querySelector("[data-play=play]");
    this.tales = new Map([...root.querySelectorAll(".tale")].map((t) => [t.dataset.mode, t]));
    this.timer = null;
    this.choose(root.querySelector("[name=mode]:checked").value);
  }

  // choose shows the story of another mode, at the same time of the run; at first, at its
  // decisive step.
  choose(mode) {
    const before = this.states && this.states[this.at];
    this.mode = mode;
    for (const [m, tale] of this.tales) tale.classList.toggle("away", m !== mode);
    for (const radio of this.player.querySelectorAll("[name=mode]")) radio.checked = radio.value === mode;
    this.lines = [...this.tales.get(mode).querySelectorAll("li[data-n]")];
    this.states = this.data.panels.find((p) => p.mode === mode).states;
    this.range.max = Math.max(this.lines.length - 1, 0);
    let at = before ? 0 : Math.max(this.fatal, 0);
    if (before) this.states.forEach((s, i) => { if (s.at <= before.at) at = i; });
    this.show(at);
  }

  // show shows one step. With follow, the windows of the diagrams move to its time.
  show(i, follow) {
    if (!this.lines.length) return;
    this.at = Math.min(Math.max(i, 0), this.lines.length - 1);
    const line = this.lines[this.at], state = this.states[this.at];
    for (const tale of this.tales.values()) for (const old of tale.querySelectorAll(".current")) { old.classList.remove("current"); old.removeAttribute("aria-current"); }
    line.classList.add("current");
    line.setAttribute("aria-current", "step");
    this.range.value = this.at;
    this.range.setAttribute("aria-valuetext", `line ${this.at + 1} of ${this.lines.length}, step ${line.dataset.n}`);
    const said = line.querySelector(".said").cloneNode(true);
    for (const tag of said.querySelectorAll(".decisive")) tag.remove();
    this.player.querySelector("[data-now]").replaceChildren(make("b", `line ${this.at + 1} of ${this.lines.length}, step ${line.dataset.n}, at ${formatTime(state.at, SECOND)}: `), said.textContent.trim());
    this.player.querySelector("[data-state]").replaceChildren(...stateView(state));
    if (!this.charts) return;
    for (const p of this.charts.panels) { p.cursorAt = follow || p.cursorAt !== null ? state.at : null; p.mark(); }
    if (follow) this.charts.reveal(state.at);
    if (follow && this.changed) this.changed();
  }

  step(by) { this.show(this.at + by, true); }

  // fatal is the index of the decisive step, or -1.
  get fatal() { return this.lines.findIndex((l) => l.classList.contains("fatal")); }

  toggle() { if (this.timer) this.stop(); else this.play(); }

  play() {
    if (this.at >= this.lines.length - 1) this.show(0, true);
    this.button.textContent = "Pause";
    this.timer = setInterval(() => {
      this.step(1);
      if (this.at >= this.lines.length - 1) this.stop();
    }, Story.pace);
  }

  stop() {
    clearInterval(this.timer);
    this.timer = null;
    this.button.textContent = "Play";
  }
}
Story.pace = 1400; // milliseconds that a step is shown
