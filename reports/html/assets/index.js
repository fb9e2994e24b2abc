// The index: a filter over the list. Where the index is served, the script fetches it
// every two seconds while a campaign runs, and less often otherwise.

const list = document.getElementById("list");
const filter = document.getElementById("filter");
const hold = document.getElementById("hold");
const status = document.getElementById("status");
const OFTEN = 2000, SELDOM = 10000;

// Each part as the server last sent it, by its id: scripts change the page too.
const known = new Map();
for (const part of document.querySelectorAll("[id]")) known.set(part.id, part.outerHTML);

function show() {
  const words = filter.value.toLowerCase().split(/\s+/).filter(Boolean);
  let shown = 0, all = 0;
  for (const section of list.querySelectorAll("section")) {
    let here = 0;
    const entries = section.querySelectorAll(".entry");
    for (const entry of entries) {
      const text = `${section.querySelector("h2").textContent} ${entry.textContent}`.toLowerCase();
      entry.hidden = !words.every((w) => text.includes(w));
      all++;
      if (!entry.hidden) { shown++; here++; }
    }
    section.hidden = entries.length > 0 && !here;
  }
  const text = words.length ? `${shown} of ${all} shown` : "";
  const said = document.getElementById("shown");
  if (said.textContent !== text) said.textContent = text;
}

// merge updates a part to the next one, and changes only what differs.
function merge(mine, next) {
  let at = mine.firstElementChild;
  for (const child of [...next.children]) {
    const old = [...mine.children].find((c) => c.id === child.id);
    if (!old) {
      known.set(child.id, child.outerHTML);
      for (const part of child.querySelectorAll("[id]")) known.set(part.id, part.outerHTML);
      mine.insertBefore(document.adoptNode(child), at);
      continue;
    }
    if (old === at) at = at.nextElementSibling;
    else mine.insertBefore(old, at);
    if (child.hasAttribute("data-parts")) merge(old, child);
    else if (known.get(child.id) !== child.outerHTML) {
      known.set(child.id, child.outerHTML);
      old.replaceWith(document.adoptNode(child));
    }
  }
  while (at) {
    const gone = at;
    at = at.nextElementSibling;
    gone.remove();
  }
}

// update applies a page that was fetched. The focused element keeps the focus, or its
// replacement gets it.
function update(next) {
  const had = document.activeElement;
  const part = had && had.closest(".entry");
  merge(list, next.getElementById("list"));
  list.toggleAttribute("data-busy", next.getElementById("list").hasAttribute("data-busy"));
  const first = next.getElementById("first");
  if (known.get("first") !== first.outerHTML) {
    known.set("first", first.outerHTML);
    document.getElementById("first").replaceWith(document.adoptNode(first));
  }
  const text = next.getElementById("status").textContent;
  if (status.textContent !== text) status.textContent = text;
  show();
  if (!had || had === document.activeElement || had === document.body) return;
  const again = had.isConnected ? had : part && [...document.querySelectorAll("#" + CSS.escape(part.id) + " a")].find((a) => a.getAttribute("href") === had.getAttribute("href"));
  if (again) again.focus({ preventScroll: true });
}

async function refresh() {
  if (document.hidden || hold.getAttribute("aria-pressed") === "true") return;
  try {
    const answer = await fetch(location.pathname, { cache: "no-store" });
    if (!answer.ok) throw new Error(answer.status);
    update(new DOMParser().parseFromString(await answer.text(), "text/html"));
  } catch {
    status.textContent = "No answer: locksim serve has ended, or is busy. What is shown may be old.";
  }
}

async function forever() {
  for (;;) {
    await new Promise((done) => setTimeout(done, list.hasAttribute("data-busy") ? OFTEN : SELDOM));
    await refresh();
  }
}

filter.addEventListener("input", show);
if (list.hasAttribute("data-live")) {
  hold.addEventListener("click", () => {
    const held = hold.getAttribute("aria-pressed") !== "true";
    hold.setAttribute("aria-pressed", String(held));
    if (!held) refresh();
  });
  document.addEventListener("visibilitychange", refresh);
  forever();
}
document.documentElement.classList.add("on");
document.documentElement.dataset.ready = "yes";
show();
