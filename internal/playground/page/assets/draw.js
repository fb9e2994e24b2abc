// The diagrams as SVG: the same elements as those of a page of a run, which chart.js lays out.

const escape = (s) => String(s ?? "").replace(/[&<>"]/g, (c) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" })[c]);

const span = (s) => `data-n="${s.Step}"${s.Until ? ` data-m="${s.Until}"` : ""} data-t0="${s.Start}" data-t1="${s.End}" data-lane="${escape(s.Lane)}"`;

const signs = {
  taken: '<circle class="ok" r="4.5"/>',
  stale: '<path class="bad" d="M0-7L7 6H-7z"/><path class="bang" d="M0-2.5V2M0 3.6v1.2"/>',
  refused: '<rect class="no" x="-5.5" y="-5.5" width="11" height="11" rx="2"/><path class="cross" d="M-3-3L3 3M3-3L-3 3"/>',
  expire: '<path class="sand" d="M-4-5H4L-4 5H4z"/>', until: '<path class="sand" d="M-4-5H4L-4 5H4z"/>',
  lost: '<path class="note" d="M-4-4h8v6h-4l-3 3v-3h-1z"/>',
  shared: '<path class="twice" d="M0-7L6 0L0 7L-6 0z"/><path class="bang" d="M0-3V1.5M0 3v1"/>',
  renewed: '<path class="again" d="M0-7V7"/>', deleted: '<path class="gone" d="M-4-4L4 4M4-4L-4 4"/>', apply: '<circle class="apply" r="2"/>',
};

function message(m) {
  const kinds = [m.Kind === "answer" && "a", m.Folded && "folded", m.Lost && "lost", m.Late && "late", m.Fatal && "fatal"].filter(Boolean);
  return `<line class="${["m", ...kinds].join(" ")}" ${span(m)} y1="${m.Y1}" y2="${m.Y2}"/>`;
}

function band(b) {
  const moment = b.Moment ? " once" : "", clock = b.Kind === "clock" ? " clock" : "";
  return `<rect class="strip${moment}${clock}" ${span(b)} y="${b.Y}" width="4" height="${b.H}" rx="2"><title>${escape(b.Description)}</title></rect><text class="fault" ${span(b)} y="${b.TextY}" dx="7">${escape(b.Text)}</text>`;
}

function moment(kind, i, height) {
  if (!i) return "";
  const fatal = kind === "fatal";
  return `<g class="moment ${kind}" ${span(i)}><line y1="${fatal ? 30 : 24}" y2="${height}"/>${fatal ? '<path d="M-6 24h12l-6 9z"/>' : ""}<text ${fatal ? "" : 'class="right" '}y="34" dx="${fatal ? -10 : 10}">${escape(i.Text)}</text></g>`;
}

// figure is the diagram of one run.
function figure(p, d) {
  const all = (list, f) => (list || []).map(f).join("");
  const lane = (l) => `<rect class="lane ${l.Kind}" y="${l.Y}" height="${l.H}"/>`;
  const bar = (b) => `<rect class="bar ${b.Kind} h${b.Hue}" ${span(b)} y="${b.Y}" height="${b.H}" rx="3"><title>${escape(b.Description)}</title></rect>`;
  const text = (b) => b.Text ? `<text class="in ${b.Kind} h${b.Hue} off" ${span(b)} data-full="${escape(b.Text)}"${b.Short ? ` data-short="${escape(b.Short)}"` : ""} y="${b.TextY}" dx="5">${escape(b.Text)}</text>` : "";
  const tint = (b) => !b.Moment && b.Kind !== "clock" ? `<rect class="tint" ${span(b)} y="${b.LaneY}" height="${b.LaneH}"/>` : "";
  const shade = (s) => `<rect class="shade ${s.Kind}" ${span(s)} y="${s.Y}" height="${s.H}"><title>${escape(s.Description)}</title></rect>`;
  const mark = (m) => `<g class="mark ${m.Kind}" ${span(m)} data-y="${m.Y}">${signs[m.Kind] || '<circle class="read" r="2.5"/>'}<title>${escape(m.Description)}</title></g>`;
  const loud = (p.Messages || []).filter((m) => m.Fatal), quiet = (p.Messages || []).filter((m) => !m.Fatal);
  return `<figure class="panel" data-mode="${escape(p.Mode)}" data-label="${escape(p.Label)}">
<figcaption><b>${escape(p.Title)}</b> <span class="chip" data-label="${escape(p.Label)}">${escape(p.Label)}</span></figcaption>
${all(p.Cut, (c) => `<p class="cut">${escape(c)}</p>`)}<div class="chart" tabindex="0" role="group" aria-label="${escape(p.Description)}">
<svg viewBox="0 0 ${d.Width} ${p.Height}" width="${d.Width}" height="${p.Height}" aria-hidden="true" focusable="false">
<clipPath id="clip-${escape(p.Mode)}"><rect class="clip" y="0" height="${p.Height}"/></clipPath>
${all(p.Lanes, lane)}<g class="ticks"></g>
<g class="clipped" clip-path="url(#clip-${escape(p.Mode)})">
<g class="tints">${all(p.Bands, tint)}</g><g class="lines">${all(p.Lanes, (l) => `<line class="base" y1="${l.Baseline}" y2="${l.Baseline}"/>`)}</g>
<g class="messages">${all(quiet, message)}</g><g class="bars">${all(p.Bars, bar)}</g><g class="shades">${all(p.Shades, shade)}</g>
<g class="texts">${all(p.Bars, text)}</g><g class="strips">${all(p.Bands, band)}</g><g class="messages">${all(loud, message)}</g><g class="marks">${all(p.Marks, mark)}</g>
<g class="cursor off"><line y1="19" y2="${p.Height}"/></g>${moment("parts", p.Divergence, p.Height)}${moment("fatal", p.Fatal, p.Height)}
</g>
<g class="names">${all(p.Lanes, (l) => `<text dx="-10" y="${l.NameY}">${escape(l.Name)}<title>${escape(l.Description)}</title></text>`)}</g>
</svg></div></figure>`;
}

// curve is how probable the violation was after some steps.
function curve(c) {
  const wide = 640, high = 220, left = 48, top = 10, right = wide - 12, bottom = high - 40;
  const last = Math.max(c.points.at(-1).step, 1);
  const x = (step) => (left + ((right - left) * step) / last).toFixed(1), y = (share) => (bottom - (bottom - top) * share).toFixed(1);
  const share = (p) => (p.runs ? p.bad / p.runs : 0);
  const at = (f) => c.points.map((p) => `${x(p.step)},${y(f(p))}`);
  const rows = [0, 0.25, 0.5, 0.75, 1].map((v) => `<line class="grid" x1="${left}" x2="${right}" y1="${y(v)}" y2="${y(v)}"/><text class="row" x="${left}" dx="-6" dy="4" y="${y(v)}">${v * 100} %</text>`).join("");
  const columns = [0, 0.25, 0.5, 0.75, 1].map((v) => `<text class="tick" x="${x(v * last)}" y="${bottom}" dy="17">${Math.round(v * last)}</text>`).join("");
  const dots = c.points.map((p) => `<circle cx="${x(p.step)}" cy="${y(share(p))}" r="3.5"><title>after step ${p.step}: ${p.bad} of ${p.runs}</title></circle>`).join("");
  const rise = c.from < c.to ? `<line class="rise" x1="${x(c.to)}" x2="${x(c.to)}" y1="${top}" y2="${bottom}"/>` : "";
  return `<p>${escape(c.says)}</p><svg class="curve" viewBox="0 0 ${wide} ${high}" role="img" aria-label="${escape(c.says)}">${rows}${columns}<text class="tick" x="${(left + right) / 2}" y="${bottom}" dy="34">steps that the continuations share with the run</text>
<polygon class="band" points="${[...at((p) => p.high), ...at((p) => p.low).reverse()].join(" ")}"/>${rise}<polyline class="line" points="${at(share).join(" ")}"/>${dots}</svg>`;
}
