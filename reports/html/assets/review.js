addEventListener("beforeprint", () => document.querySelectorAll("details").forEach((d) => { d.open = true; }));
const unfold = () => { // a link leads into a folded part
  const part = document.getElementById(location.hash.slice(1))?.closest("details");
  if (part) part.open = true;
};
addEventListener("hashchange", unfold);
unfold();
document.documentElement.dataset.ready = "yes";
