// The diagrams: one window of time for all of them, laid out in whole pixels of
// the screen. The page without scripts shows the whole run at a fixed width.

const SECOND = 1e9;

// formatTime writes a time with the digits that a window of that length needs.
function formatTime(ns, length) {
  if (length >= 20 * SECOND) return trim((ns / SECOND).toFixed(1)) + " s";
  if (length >= 0.2 * SECOND) return trim((ns / SECOND).toFixed(3)) + " s";
  return (ns / SECOND).toFixed(length >= 2e6 ? 4 : 6) + " s";
}

function trim(text) { return text.includes(".") ? text.replace(/\.?0+$/, "") : text; }

// roundStep is the smallest round length of which at most n fit into a window.
function roundStep(length, n) {
  let unit = 1;
  for (;;) {
    for (const k of [1, 2, 5]) if (length / (unit * k) <= n) return unit * k;
    unit *= 10;
  }
}

// measure is the width of a text of a class of the diagram, in pixels.
const measure = (() => {
  const context = document.createElement("canvas").getContext("2d"), known = new Map();
  return (el, text) => {
    const key = (el.getAttribute("class") || "").replace(/ (h\d|off|outside)\b/g, "") + " " + text;
    if (!known.has(key)) {
      const style = getComputedStyle(el);
      context.font = `${style.fontWeight} ${style.fontSize} ${style.fontFamily}`;
      known.set(key, context.measureText(text).width);
    }
    return known.get(key);
  };
})();

// Item is one drawn element with its times.
class Item {
  constructor(el) {
    const d = el.dataset;
    this.el = el;
    this.n = +d.n; this.m = +(d.m || 0);
    this.t0 = +d.t0; this.t1 = +d.t1;
    this.lane = d.lane;
    this.kind = el.tagName === "line" ? "message" : el.tagName === "rect" ? "rect" : el.tagName === "text" ? "text" : "point";
    this.y = +(d.y || 0);
    if (this.kind === "message") { this.y1 = +el.getAttribute("y1"); this.y2 = +el.getAttribute("y2"); }
    const title = el.querySelector("title");
    this.says = title ? title.textContent : "";
    if (title) title.remove(); // the script shows a tooltip instead
    this.shown = true;
  }

  // place moves the element to its position in a window of time.
  place(x, from, to) {
    const show = this.t1 >= from && this.t0 <= to;
    if (show !== this.shown) { this.el.style.display = show ? "" : "none"; this.shown = show; }
    if (!show) return;
    const x0 = x(this.t0), x1 = x(this.t1);
    this.x0 = x0; this.x1 = x1;
    switch (this.kind) {
      case "message": this.el.setAttribute("x1", x0.toFixed(2)); this.el.setAttribute("x2", x1.toFixed(2)); break;
      case "rect":
        this.el.setAttribute("x", x0.toFixed(2));
        this.el.setAttribute("width", this.once ? 4 : Math.max(x1 - x0, 1).toFixed(2));
        break;
      case "point": this.el.setAttribute("transform", `translate(${x0.toFixed(2)} ${this.y})`); break;
    }
  }
}

// Panel is the diagram of one mode.
class Panel {
  constructor(figure, data) {
    this.figure = figure;
    this.mode = figure.dataset.mode;
    this.data = data;
    this.chart = figure.querySelector(".chart");
    this.svg = figure.querySelector(".chart svg");
    this.height = +this.svg.getAttribute("height");
    this.ticks = this.svg.querySelector(".ticks");
    this.cursor = this.svg.querySelector(".cursor");
    this.items = [...this.svg.querySelectorAll("[data-n]")].map((el) => new Item(el));
    for (const i of this.items) i.once = i.el.classList.contains("once");
    this.texts = this.items.filter((i) => i.kind === "text");
    for (const t of this.texts) {
      t.bar = t.el.classList.contains("in");
      t.full = t.el.dataset.full || t.el.textContent;
      t.short = t.el.dataset.short;
    }
    this.messages = this.items.filter((i) => i.kind === "message");
    this.events = this.items.filter((i) => i.kind !== "text" && !i.el.classList.contains("tint") && !i.el.classList.contains("moment")).sort((a, b) => a.n - b.n);
    this.cursorAt = null;
  }

  render(view) {
    const { from, to, gutter, width } = view;
    const x = (t) => gutter + ((t - from) / (to - from)) * (width - gutter - view.right);
    this.x = x;
    this.svg.setAttribute("width", width);
    this.svg.setAttribute("viewBox", `0 0 ${width} ${this.height}`);
    const room = width - gutter - view.right;
    this.svg.querySelector(".clip").setAttribute("x", gutter - 1);
    this.svg.querySelector(".clip").setAttribute("width", room + view.right);
    for (const r of this.svg.querySelectorAll(".lane")) { r.setAttribute("x", gutter); r.setAttribute("width", room); }
    for (const l of this.svg.querySelectorAll(".base")) { l.setAttribute("x1", gutter); l.setAttribute("x2", gutter + room); }
    for (const t of this.svg.querySelectorAll(".names text")) t.setAttribute("x", gutter);
    for (const i of this.items) i.place(x, from, to);
    this.label(gutter, width - view.right);
    this.rule(view, x);
    this.turn(gutter, width);
    this.mark();
  }

  // label shows the texts, each up to the next one on its line: that of a bar inside it,
  // or else in short, or else behind it; that of a fault from its begin on, or before the
  // edge. An item that begins before the window has its text at the edge. A text for
  // which there is no room is not shown.
  label(left, right) {
    const rows = new Map();
    for (const t of this.texts) {
      if (!t.shown) continue;
      const row = t.lane + " " + t.el.getAttribute("y");
      if (!rows.has(row)) rows.set(row, []);
      rows.get(row).push(t);
    }
    for (const row of rows.values()) {
      row.sort((a, b) => a.x0 - b.x0);
      let free = left; // where the text before ends
      row.forEach((t, i) => {
        const next = i + 1 < row.length ? Math.max(row[i + 1].x0, left) : right;
        const place = t.bar ? this.inBar(t, left, right, next) : this.ofFault(t, left, right, next, free);
        t.el.classList.toggle("off", !place);
        if (!place) return;
        t.el.classList.toggle("outside", !!place.outside);
        if (t.el.textContent !== place.text) t.el.textContent = place.text;
        t.el.setAttribute("x", place.x.toFixed(2));
        t.el.setAttribute("dx", place.dx);
        free = place.x + place.dx + place.wide;
      });
    }
  }

  inBar(t, left, right, next) {
    const from = Math.max(t.x0, left), to = Math.min(t.x1, right);
    const texts = [t.full, t.short].filter(Boolean).map((text) => ({ text, wide: measure(t.el, text) }));
    const inside = texts.find((p) => p.wide + 10 <= to - from);
    if (inside) return { ...inside, x: from, dx: 5 };
    const behind = texts.find((p) => to + 4 + p.wide + 4 <= next);
    return behind && { ...behind, x: to, dx: 4, outside: true };
  }

  ofFault(t, left, right, next, free) {
    const text = t.full, wide = measure(t.el, text), from = Math.max(t.x0, left);
    const end = next < right ? next : right + 14;
    if (from + 7 + wide <= end) return { text, wide, x: from, dx: 7 };
    const x = end - wide - 4;
    return x >= free && next >= right && { text, wide, x, dx: 0 };
  }

  // rule draws the time axis.
  rule(view, x) {
    const length = view.to - view.from;
    const step = roundStep(length, Math.max(2, (view.width - view.gutter) / 95));
    const marks = [];
    for (let t = Math.ceil(view.from / step) * step; t <= view.to; t += step) {
      const g = document.createElementNS(this.svg.namespaceURI, "g");
      g.setAttribute("class", "tick");
      g.setAttribute("transform", `translate(${x(t).toFixed(2)} 0)`);
      const line = document.createElementNS(this.svg.namespaceURI, "line");
      line.setAttribute("y1", 19); line.setAttribute("y2", this.height);
      const text = document.createElementNS(this.svg.namespaceURI, "text");
      text.setAttribute("y", 14);
      text.textContent = formatTime(t, length);
      g.append(line, text);
      marks.push(g);
    }
    this.ticks.replaceChildren(...marks);
    const last = marks.at(-1)?.querySelector("text");
    const over = last ? x(Math.floor(view.to / step) * step) + measure(last, last.textContent) / 2 + 2 - view.width : 0;
    if (over > 0) last.setAttribute("x", -over); // the edge would cut it
  }

  // turn puts the text of a moment on the side where it fits.
  turn(gutter, width) {
    const sides = new Map();
    for (const i of this.items) {
      if (!i.el.classList.contains("moment") || !i.shown) continue;
      const text = i.el.querySelector("text"), wide = measure(text, text.textContent) + 14;
      const right = text.classList.contains("right");
      const turned = right ? i.x0 + wide > width : i.x0 - gutter < wide;
      i.el.classList.toggle("turned", turned);
      text.setAttribute("dx", turned === right ? -10 : 10);
      // Of two texts on the same side of a position, only that of the decisive step is shown.
      const side = `${Math.round(i.x0)} ${turned === right}`;
      if (sides.has(side)) sides.get(side).classList.add("off");
      text.classList.remove("off");
      sides.set(side, text);
    }
  }

  mark() {
    const at = this.cursorAt;
    this.cursor.classList.toggle("off", at === null);
    if (at !== null) this.cursor.setAttribute("transform", `translate(${this.x(at).toFixed(2)} 0)`);
  }

  // near is the item at a point of the panel: a mark, a message, or a bar.
  near(px, py, target) {
    let best = null, least = 7;
    for (const i of this.items) {
      if (!i.shown || i.el.classList.contains("moment") || i.el.checkVisibility && !i.el.checkVisibility()) continue;
      let distance = Infinity;
      if (i.kind === "point") distance = Math.hypot(i.x0 - px, i.y - py) - 3;
      if (i.kind === "message") distance = toSegment(px, py, i.x0, i.y1, i.x1, i.y2);
      if (distance < least) { best = i; least = distance; }
    }
    if (best) return best;
    const el = target.closest && target.closest("[data-n]");
    const hit = el && this.items.find((i) => i.el === el);
    if (!hit) return null;
    return hit.says ? hit : this.items.find((i) => i.says && i.n === hit.n && i.lane === hit.lane) || null;
  }
}

function toSegment(px, py, x1, y1, x2, y2) {
  const dx = x2 - x1, dy = y2 - y1, length = dx * dx + dy * dy;
  const k = length ? Math.min(Math.max(((px - x1) * dx + (py - y1) * dy) / length, 0), 1) : 0;
  return Math.hypot(px - x1 - k * dx, py - y1 - k * dy);
}

// Charts has all panels and the window of time that they share.
class Charts {
  constructor(root, data) {
    this.root = root;
    this.end = +root.dataset.end;
    this.full = +root.dataset.gutter;
    this.view = { from: 0, to: this.end, gutter: this.full, right: +root.dataset.right, width: 0 };
    this.panels = [...root.querySelectorAll(".panel")].map((f) => new Panel(f, data.panels.find((p) => p.mode === f.dataset.mode)));
    this.window = document.querySelector("[data-window]");
    new ResizeObserver(() => this.render()).observe(root);
    this.render();
  }

  render() {
    const chart = this.panels[0].chart;
    this.view.width = Math.max(chart.clientWidth, 240);
    this.view.gutter = this.view.width < 600 ? 56 : this.full;
    for (const p of this.panels) p.render(this.view);
    const { from, to } = this.view, length = to - from;
    this.window.textContent = length >= this.end ? "" : `${formatTime(from, length)} to ${formatTime(to, length)}`;
    this.root.dataset.from = from;
    this.root.dataset.to = to;
  }

  // show sets the window, bounded to the run and to a minimal length.
  show(from, to) {
    const length = Math.min(Math.max(to - from, 1e5), this.end * 1.04);
    from = Math.min(Math.max(from, -this.end * 0.02), this.end * 1.02 - length);
    if (length >= this.end) from = Math.min(0, this.end - length);
    this.view.from = from;
    this.view.to = from + length;
    this.render();
    if (this.changed) this.changed();
  }

  fit() { this.show(0, this.end); }

  // zoom changes the length of the window around a time: the given one, or else that of
  // the current step, or the middle where that is outside.
  zoom(by, at) {
    const { from, to } = this.view, step = this.panels[0].cursorAt;
    const middle = at !== undefined ? at : step !== null && step >= from && step <= to ? step : (from + to) / 2;
    this.show(middle - (middle - from) / by, middle + (to - middle) / by);
  }

  pan(by) {
    const d = (this.view.to - this.view.from) * by;
    this.show(this.view.from + d, this.view.to + d);
  }

  // timeAt is the time at a point of the screen.
  timeAt(clientX) {
    const left = this.panels[0].svg.getBoundingClientRect().left;
    const { from, to, gutter, right, width } = this.view;
    return from + ((clientX - left - gutter) / (width - gutter - right)) * (to - from);
  }

  // reveal moves the window so that a time is well inside it.
  reveal(t) {
    const { from, to } = this.view, length = to - from;
    if (t < from + length * 0.08 || t > to - length * 0.08) this.show(t - length / 2, t + length / 2);
  }
}
