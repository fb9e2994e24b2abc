// The filters of the table, and the count of what is shown.

document.documentElement.classList.add("on");
const form = document.querySelector(".filters"), shown = document.getElementById("shown"), none = document.querySelector(".none");
const specimens = document.getElementById("specimens");
const tables = [...document.querySelectorAll(".matrix")].map((table) => ({
  table,
  heads: [...table.tHead.rows[0].cells].slice(1),
  rows: [...table.tBodies[0].rows].map((row) => ({
    row, text: row.cells[0].textContent.toLowerCase() + (table.id ? "" : " " + row.cells[1].textContent.toLowerCase()),
    places: [...row.querySelectorAll("td[data-k]")].map((td) => ({ td, lock: td.dataset.k, failed: !!td.querySelector(".failed"),
      cells: [...td.querySelectorAll(".cell")].map((el) => ({ el, mode: el.dataset.m, label: el.dataset.l, odd: el.classList.contains("odd") })) })),
  })),
}));
const worse = new Set([...form.querySelectorAll("[data-worse]")].map((box) => box.value));

// wish is the state of the form.
function wish() {
  const chosen = (name) => new Set([...form.querySelectorAll(`input[name="${name}"]:checked`)].map((box) => box.value));
  const on = (name) => !!form.elements[name] && form.elements[name].checked;
  return { words: form.elements.q.value.toLowerCase().split(/\s+/).filter(Boolean), modes: chosen("mode"), labels: chosen("label"), locks: chosen("lock"),
    worse: on("worse"), odd: on("odd"), specimens: on("specimens"), say: on("words") };
}

// fits reports whether a cell of a selected row is selected.
function fits(cell, w) {
  return w.labels.has(cell.label) && (!w.worse || worse.has(cell.label)) && (!w.odd || cell.odd);
}

// showPlace shows the selected cells of a group, and counts them by label.
function showPlace(place, w, counts) {
  let any = place.failed && !w.worse;
  for (const cell of place.cells) {
    const fit = fits(cell, w), asked = w.modes.has(cell.mode);
    cell.el.hidden = !asked;
    cell.el.classList.toggle("faint", !fit);
    if (!asked || !fit) continue;
    any = true;
    counts.set(cell.label, (counts.get(cell.label) || 0) + 1);
  }
  return any;
}

// showTable shows the selected rows, and returns their number.
function showTable(t, w, counts) {
  const columns = !!t.table.id;
  if (columns) t.heads.forEach((th, i) => { th.hidden = !w.locks.has(t.rows[0].places[i].lock); });
  for (const head of t.table.querySelectorAll(".heads [data-m]")) head.hidden = !w.modes.has(head.dataset.m);
  let rows = 0;
  for (const r of t.rows) {
    const found = w.words.every((word) => r.text.includes(word));
    let any = false;
    for (const place of r.places) {
      place.td.hidden = columns && !w.locks.has(place.lock);
      if (found && !place.td.hidden && showPlace(place, w, counts)) any = true;
    }
    r.row.hidden = !any;
    rows += any;
  }
  return rows;
}

function show() {
  const w = wish(), counts = new Map();
  let rows = 0, all = 0;
  document.documentElement.classList.toggle("spoken", w.say);
  if (specimens) specimens.hidden = !w.specimens;
  for (const t of tables) {
    if (!t.table.id && !w.specimens) continue;
    const n = showTable(t, w, counts);
    t.table.parentElement.hidden = n === 0;
    rows += n;
    all += t.rows.length;
  }
  const cells = [...counts.values()].reduce((a, b) => a + b, 0);
  const parts = [...form.querySelectorAll('input[name="label"]')].filter((box) => counts.has(box.value)).map((box) => `${counts.get(box.value)} ${box.value}`);
  shown.textContent = cells ? `${cells} ${cells === 1 ? "cell" : "cells"} in ${rows} of ${all} rows: ${parts.join(", ")}.` : `0 cells in ${rows} of ${all} rows.`;
  none.hidden = rows > 0;
}

form.addEventListener("input", show);
form.addEventListener("submit", (e) => e.preventDefault());
form.querySelector("[type=reset]").addEventListener("click", (e) => { e.preventDefault(); form.reset(); show(); });
addEventListener("pageshow", show);
show();
document.documentElement.dataset.ready = "yes";
