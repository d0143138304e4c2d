// Draws the view that the page's data name. The plain table stands until then, and stays where a browser cannot.
const VIEWS = {compare: compareView, kernel: kernelView, measure: measureView, batch: batchView};

const source = document.getElementById("data"), plain = document.getElementById("plain");
build(document.getElementById("page"), [VIEWS[source.dataset.view](JSON.parse(source.textContent))]);
plain.remove();

// Paper shows what is folded; a link to a part opens it.
addEventListener("beforeprint", () => document.querySelectorAll("details").forEach(fold => { fold.open = true; }));
addEventListener("hashchange", () => {
  const fold = document.getElementById(location.hash.slice(1))?.querySelector("details");
  if (fold) fold.open = true;
});
