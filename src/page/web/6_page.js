// The page: where its figures come from, then every document's figures, pictures first.

function patterns() {
  const lines = (id, kind, ...marks) => draw("pattern", { id, width: 6, height: 6, patternUnits: "userSpaceOnUse", patternTransform: kind === "communication" ? "rotate(45)" : null }, draw(`rect.ground-${kind}`, { width: 6, height: 6 }), ...marks);
  return draw("svg", { id: "patterns", width: 0, height: 0, "aria-hidden": "true" }, draw("defs", {},
    lines("hatched", "communication", draw("rect.line-communication", { width: 1.6, height: 6 })),
    lines("dotted", "copy", draw("circle.line-copy", { cx: 2, cy: 2, r: 1.1 }), draw("circle.line-copy", { cx: 5, cy: 5, r: 1.1 }))));
}

const draws = { timelines: timelinesOf, times: timesOf, grid: gridOf, search: searchOf, table: tableOf, figures: figuresOf };

function sectionOf(section, document, id) {
  const heading = make("h3", { id }, section.title, section.line ? make("small", {}, ` ${section.line}`) : null);
  const name = `${section.title}-${document.provenance}`.replaceAll(/[^\w-]+/g, "-");
  return make("section", { "aria-labelledby": id }, heading, ...section.views.flatMap((view) => draws[view.view](view, document.provenance, name)));
}

/** The document's own sentence, or which alternatives have the least median; null where neither is known. */
function verdictOf(document) {
  const sentence = document.facts.find((fact) => fact.name === "sentence");
  if (sentence) return sentence.value;
  const cases = new Map();
  for (const section of document.sections) for (const view of section.views) {
    const marked = view.marked_as === "least median" ? view.rows.filter((row) => row.marked) : [];
    for (const { label } of marked) cases.set(label.split(" ")[0], [...(cases.get(label.split(" ")[0]) ?? []), section.title]);
  }
  const most = [...cases].sort(([, some], [, others]) => others.length - some.length);
  if (!most.length) return null;
  if (most.flatMap(([, titles]) => titles).length > 6) return `Least median most often: ${most.map(([name]) => name).join(", then ")}.`;
  return `Least median: ${most.map(([name, titles]) => `${name} in ${titles.join(", ")}`).join("; ")}.`;
}

function documentOf(document, at) {
  const verdict = verdictOf(document);
  const facts = document.facts.filter((fact) => fact.name !== "sentence").map((fact) => [make("dt", {}, fact.name), make("dd", {}, String(fact.value))]).flat();
  const sections = document.sections.map((section, number) => sectionOf(section, document, `d${at}s${number}`));
  const none = sections.length ? null : make("p", {}, "This document has no case.");
  return make("article", { "aria-labelledby": `d${at}` }, make("h2", { id: `d${at}` }, document.file, " ", badge(document.provenance)),
    verdict === null ? null : make("p.verdict", {}, verdict), make("dl", {}, make("dt", {}, "schema"), make("dd", {}, document.schema), ...facts), none, ...sections);
}

function contentsOf(documents) {
  const entries = documents.map((document, at) => make("li", {}, make("a", { href: `#d${at}` }, document.file.split("/").pop()), " ", badge(document.provenance),
    make("ol", {}, ...document.sections.map((section, number) => make("li", {}, make("a", { href: `#d${at}s${number}` }, section.title))))));
  return make("nav", { "aria-label": "Contents" }, make("ol", {}, ...entries));
}

/** In words, whether all figures are of one kind. */
function provenanceLine(documents) {
  const kinds = [...new Set(documents.map((document) => document.provenance))];
  if (kinds.length === 1) return `Every figure on this page is ${kinds[0]}.`;
  return `This page has figures of several kinds: ${kinds.join(", ")}. Every figure says which it is; no figure mixes them.`;
}

function headerOf(model) {
  const toggle = make("input", { type: "checkbox", id: "exact", change: (event) => {
    exact = event.target.checked;
    tables.forEach((fillBody) => fillBody());
  } });
  return make("header", {}, make("h1", {}, "Elbowroom report"), make("p", {}, provenanceLine(model.documents)),
    make("label", { for: "exact" }, toggle, " numbers in tables as the documents have them"));
}

function footerOf(model) {
  const licence = document.getElementById("licence").textContent.trim();
  return make("footer", {}, make("p", {}, `Made by elbowroom ${model.version}: `, make("code", {}, model.command.join(" "))),
    make("details", {}, make("summary", {}, "Drawn with d3; its licence"), make("pre", {}, licence)));
}

function showPage() {
  const model = JSON.parse(document.getElementById("model").textContent);
  const hasPicture = (one) => one.sections.some((section) => section.views.some((view) => view.view === "timelines"));
  const documents = [...model.documents.filter(hasPicture), ...model.documents.filter((one) => !hasPicture(one))];
  document.body.append(patterns(), headerOf(model), make("div.columns", {}, contentsOf(documents), make("main", {}, ...documents.map(documentOf))), footerOf(model), tip);
  drawn.forEach((redraw) => redraw(false));
  let waiting = 0;
  addEventListener("resize", () => {
    cancelAnimationFrame(waiting);
    waiting = requestAnimationFrame(() => drawn.forEach((redraw) => redraw(false)));
  });
  addEventListener("scroll", hideMovedTip, { passive: true });
  document.body.dataset.ready = "true";
}

showPage();
