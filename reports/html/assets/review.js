addEventListener("beforeprint", () => document.querySelectorAll("details").forEach((d) => { d.open = true; }));
document.documentElement.dataset.ready = "yes";
