// Times with their intervals, grids of two settings, and what a search tried.

const ROW = 24, DETAIL = 14;

/** The extent that a scale of these numbers needs: lengths begin at zero, ratios and gains lie around what they are compared with. */
function domainOf(unit, values) {
  const numbers = values.filter(isNumber);
  const low = Math.min(...numbers), high = Math.max(...numbers);
  if (unit === "us" || unit === "s" || unit === "J") return [0, high * 1.02 || 1];
  const margin = (high - low) * 0.06 || Math.abs(high) * 0.1 || 1;
  return [low - margin, high + margin];
}

/** Where the bars of a unit begin: what there is none of, or what a ratio is compared with. */
const baseOf = (unit) => (unit === "us" || unit === "J" || unit === "%" ? 0 : 1);

/** Ticks below a plot, each a thin line through it; their unit behind the last. */
function gridLines(x, top, height, scale, unit) {
  const lines = draw("g.axis");
  let end = x.range()[1];
  for (const tick of x.ticks(Math.max(2, Math.floor((x.range()[1] - x.range()[0]) / 90)))) {
    const at = Math.round(x(tick)) + 0.5;
    const number = String(+(tick * scale.factor).toPrecision(10));
    end = Math.max(end, at + widthOf(number, 11) / 2);
    lines.append(draw("line", { x1: at, x2: at, y1: top, y2: top + height }), draw("text", { x: at, y: top + height + 14, "text-anchor": "middle" }, number));
  }
  lines.append(draw("text", { x: end + 6, y: top + height + 14 }, unit));
  return lines;
}

/** Name of a row, with what makes it different. */
const rowLabel = (row, provenance) => (row.marked ? "* " : "") + row.label + (row.provenance && row.provenance !== provenance ? ` (${row.provenance})` : "");
const rowWeight = (row) => (row.marked ? 700 : 400);

function timesOf(view, provenance, name) {
  const numbers = view.rows.flatMap((row) => [row.median, row.low, row.high, ...row.times]);
  const references = view.references.filter((reference) => isNumber(reference.value)).sort((a, b) => a.value - b.value);
  const all = [...numbers, ...references.map((reference) => reference.value), baseOf(view.unit)];
  const scale = scaleOf(view.unit, all);
  const note = view.marked_as && view.rows.some((row) => row.marked) ? make("span.note", {}, `* ${view.marked_as}`) : null;
  const picture = figureOf(view.title, provenance, [note, make("span.tools", {}, saveButton(name))], (width) => {
    const labels = Math.min(width * 0.34, Math.max(...view.rows.map((row) => widthOf(rowLabel(row, provenance), 12, rowWeight(row)))) + 24);
    const words = width > 560 ? 190 : 0;
    const x = d3.scaleLinear().domain(domainOf(view.unit, all)).range([labels, width - words - 40]);
    const heights = view.rows.map((row) => (row.detail ? ROW + DETAIL : ROW));
    const height = heights.reduce((sum, one) => sum + one, 0);
    const top = references.length ? 16 + 12 * references.length : 4;
    const svg = draw("svg.times", { width, height: top + height + 24, viewBox: `0 0 ${width} ${top + height + 24}`, role: "img", "aria-label": view.title, "data-unit": view.unit });
    svg.append(gridLines(x, top, height, scale, scale.unit));
    let y = top;
    view.rows.forEach((row, at) => {
      svg.append(timeRow(row, x, y, labels, width, words, scale, view.unit, provenance));
      y += heights[at];
    });
    references.forEach((reference, at) => svg.append(referenceLine(reference, x, { top, height, width, at, last: at === references.length - 1 }, scale, view.unit)));
    return svg;
  });
  return view.rows.some((row) => row.times.length) ? [picture, runsOf(view, provenance)] : picture;
}

/** The single runs that a picture has as strokes. */
function runsOf(view, provenance) {
  const most = Math.max(...view.rows.map((row) => row.times.length));
  const runs = Array.from({ length: most }, (_, at) => ({ name: `run ${at + 1}`, unit: view.unit }));
  const rows = view.rows.map((row) => [row.label, ...runs.map((_, at) => row.times[at] ?? null)]);
  return tableOf({ title: `${view.title}, in numbers`, columns: [{ name: "schedule", unit: "" }, ...runs], rows }, provenance);
}

/** The name of the last of the lines stands behind it, those of the others before theirs, where there is room: no line runs through a name. */
function referenceLine(reference, x, place, scale, unit) {
  const position = x(reference.value);
  const label = `${reference.label} ${withUnit(shown(reference.value, scale), scale.unit)}`;
  const long = widthOf(label, 11);
  const before = position - 4 - long, behind = position + 4;
  const fits = (left) => left >= 0 && left + long <= place.width;
  const left = (place.last ? [behind, before] : [before, behind]).find(fits) ?? Math.max(0, place.width - long);
  const y = place.top - 6 - 12 * place.at;
  return draw("g.reference", {}, draw("title", {}, `${reference.label}: ${exactly(reference.value, unit)}`),
    draw("line", { x1: position, x2: position, y1: y - 8, y2: place.top + place.height }), draw("text", { x: left, y }, label));
}

/** A bar from zero (of lengths), a whisker for the interval, a point for the median; single runs as strokes. */
function timeRow(row, x, y, labels, width, words, scale, unit, provenance) {
  const middle = y + ROW / 2;
  const from = x(baseOf(unit));
  const label = rowLabel(row, provenance);
  const lines = [label, row.detail, isNumber(row.median) ? `${exactly(row.median, unit)}` : `${row.times.length} runs`,
    isNumber(row.low) ? `${exactly(row.low, unit)} to ${exactly(row.high, unit)}` : "",
    isNumber(row.trials) ? `${row.trials} trials, confidence ${row.confidence ?? "not said"}` : ""];
  const group = draw(`g.row${row.marked ? ".marked" : ""}${row.aside ? ".aside" : ""}`, {
    pointermove: (event) => showTip(event.clientX, event.clientY, lines), pointerleave: hideTip,
  });
  group.append(draw("rect.hit", { x: 0, y, width, height: ROW }), draw("text.label", { x: labels - 10, y: middle + 4, "text-anchor": "end" }, cut(label, labels - 12, 12, rowWeight(row))));
  if (row.detail) group.append(draw("text.detail", { x: labels, y: middle + ROW / 2 + 8 }, cut(row.detail, width - labels, 11)));
  if (isNumber(row.median)) {
    const to = x(row.median);
    group.append(draw("rect.bar", { x: Math.min(from, to), y: middle - 4, width: Math.abs(to - from), height: 8 }));
    if (isNumber(row.low)) group.append(draw("path.whisker", { d: `M${x(row.low)},${middle}H${x(row.high)}M${x(row.low)},${middle - 6}v12M${x(row.high)},${middle - 6}v12` }));
    group.append(draw("circle.median", { cx: to, cy: middle, r: 3 }));
    if (words) {
      const interval = intervalWords(row, scale);
      group.append(draw("text.value", { x: width - words + 56, y: middle + 4, "text-anchor": "end" }, shown(row.median, scale)), draw("text.interval", { x: width - words + 64, y: middle + 4 }, interval));
    }
  }
  for (const time of row.times) group.append(draw("line.run", { x1: x(time), x2: x(time), y1: middle - 7, y2: middle + 7 }));
  if (row.times.length && words) group.append(draw("text.detail", { x: width - words + 64, y: middle + 4 }, `${row.times.length} runs`));
  return group;
}

function gridOf(view, provenance) {
  const values = view.cells.flat().filter(isNumber);
  const low = Math.min(...values), high = Math.max(...values);
  const scale = scaleOf(view.unit, values);
  const columns = [{ name: `${view.y_name} by ${view.x_name}`, unit: "" }, ...view.x.map((value) => ({ name: String(value), unit: view.unit }))];
  const copied = { columns, rows: view.cells.map((row, at) => [view.y[at], ...row]) };
  const cell = (value) => {
    if (!isNumber(value)) return make("td.absent", {}, "–");
    // The less time, the deeper the colour; the numbers say the same.
    const depth = high > low ? (high - value) / (high - low) : 1;
    const name = value === low ? "td.least" : "td";
    return make(name, { title: exactly(value, view.unit), "data-exact": value, style: `--depth:${(depth * 100).toFixed(0)}%` }, (value === low ? "* " : "") + (exact ? String(value) : shown(value, scale)));
  };
  const head = make("tr", {}, make("th.corner", {}, `${view.y_name} ↓  ${view.x_name} →`), ...view.x.map((value) => make("th", { scope: "col" }, String(value))));
  const body = make("tbody");
  const note = make("span.note");
  const fillBody = () => {
    const unit = exact ? unitOf(view.unit) : scale.unit;
    note.replaceChildren(`${unit ? `${unit}; ` : ""}* least; deeper is less`);
    body.replaceChildren(...view.cells.map((row, at) => make("tr", {}, make("th", { scope: "row" }, String(view.y[at])), ...row.map(cell))));
  };
  fillBody();
  tables.push(fillBody);
  const tools = copyTools(copied, [scaleOf("", view.y), ...view.x.map(() => scale)], () => copied.rows.map((row, at) => ({ row, at })));
  return make("figure.table", {}, make("figcaption", {}, make("span.title", {}, view.title), badge(provenance), note, tools),
    make("div.scroll", { tabindex: 0, role: "region", "aria-label": view.title }, make("table.heat", {}, make("thead", {}, head), body)));
}

function searchOf(view, provenance, name) {
  const tried = view.tried.map((one, at) => ({ ...one, at: at + 1 }));
  const references = view.references.filter((reference) => isNumber(reference.value));
  const values = [...tried.flatMap((one) => [one.median, one.low, one.high, one.predicted]), ...references.map((reference) => reference.value)];
  const scale = scaleOf(view.unit, values);
  const numbers = values.filter(isNumber);
  const legend = make("span.note", {}, "● measured  ◇ predicted by the simulator  ◉ chosen  × refused");
  const named = (reference) => `${reference.label} ${shown(reference.value, scale)}`;
  return figureOf(view.title, provenance, [legend, make("span.tools", {}, saveButton(name))], (width) => {
    // The names of lines stand behind them, in a narrow picture on them.
    const beside = width > 560;
    const height = 240, left = 56, right = beside ? Math.max(12, ...references.map((one) => widthOf(named(one), 11) + 8)) : 12, bottom = 30;
    const x = d3.scaleLinear().domain([0.5, tried.length + 0.5]).range([left, width - right]);
    const y = d3.scaleLinear().domain([Math.min(...numbers) * 0.98, Math.max(...numbers) * 1.02]).nice().range([height - bottom - 14, 10]);
    const svg = draw("svg.search", { width, height, viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `${view.title}; arrows go from one to the next`, tabindex: 0, "data-unit": view.unit });
    svg.append(searchAxes(x, y, scale, tried.length));
    let free = height;
    for (const reference of [...references].sort((a, b) => a.value - b.value)) {
      const at = y(reference.value);
      // The names of lines that lie close stand one above the other.
      free = Math.min(at + (beside ? 4 : -3), free - 13);
      svg.append(draw("g.reference", {}, draw("line", { x1: left, x2: width - right, y1: at, y2: at }),
        draw("text", { x: width - right + (beside ? 4 : 0), y: free, "text-anchor": beside ? "start" : "end" }, named(reference))));
    }
    const points = tried.map((one) => candidate(one, x, y, scale, view.unit));
    svg.append(...points);
    addCursor(svg, points, tried, (one) => candidateLines(one, scale, view.unit));
    return svg;
  });
}

function searchAxes(x, y, scale, count) {
  const axes = draw("g.axis");
  for (const tick of y.ticks(6)) {
    axes.append(draw("line", { x1: x.range()[0], x2: x.range()[1], y1: y(tick), y2: y(tick) }), draw("text", { x: x.range()[0] - 6, y: y(tick) + 4, "text-anchor": "end" }, String(+(tick * scale.factor).toPrecision(10))));
  }
  for (const tick of x.ticks(Math.min(count, 12)).filter(Number.isInteger)) axes.append(draw("text", { x: x(tick), y: y.range()[0] + 28, "text-anchor": "middle" }, String(tick)));
  axes.append(draw("text", { x: 4, y: 14 }, scale.unit));
  return axes;
}

function candidate(one, x, y, scale, unit) {
  const at = x(one.at);
  const group = draw(`g.candidate${one.chosen ? ".chosen" : ""}${one.dropped ? ".dropped" : ""}`, {
    pointermove: (event) => showTip(event.clientX, event.clientY, candidateLines(one, scale, unit)), pointerleave: hideTip,
  });
  group.append(draw("rect.hit", { x: at - 6, y: y.range()[1], width: 12, height: y.range()[0] - y.range()[1] + 14 }));
  if (isNumber(one.predicted)) group.append(draw("path.predicted", { d: `M${at},${y(one.predicted) - 5}l4,5l-4,5l-4,-5z` }));
  if (!isNumber(one.median)) {
    const foot = y.range()[0] + 8;
    group.append(draw("path.refused", { d: `M${at - 4},${foot - 4}l8,8m0,-8l-8,8` }));
    return group;
  }
  if (isNumber(one.low)) group.append(draw("path.whisker", { d: `M${at},${y(one.low)}V${y(one.high)}M${at - 4},${y(one.low)}h8M${at - 4},${y(one.high)}h8` }));
  if (one.chosen) group.append(draw("circle.ring", { cx: at, cy: y(one.median), r: 7 }));
  group.append(draw("circle.median", { cx: at, cy: y(one.median), r: 3.5 }));
  return group;
}

function candidateLines(one, scale, unit) {
  const measured = isNumber(one.median) ? `measured ${exactly(one.median, unit)} (${one.low} to ${one.high}), ${one.trials} trials` : "not measured";
  return [`${one.at}. ${one.label}${one.chosen ? ", chosen" : ""}`, one.how, measured, isNumber(one.predicted) ? `predicted ${exactly(one.predicted, unit)}` : "", one.dropped];
}

/** The keyboard's way through the points of a picture. */
function addCursor(svg, points, items, lines) {
  let at = -1;
  const go = (next) => {
    if (at >= 0) points[at].classList.remove("cursor");
    at = Math.max(0, Math.min(points.length - 1, next));
    points[at].classList.add("cursor");
    const box = points[at].getBoundingClientRect();
    showTip(box.x + box.width / 2, box.y + box.height / 2, lines(items[at]));
  };
  svg.addEventListener("keydown", (event) => {
    const step = { ArrowRight: at + 1, ArrowLeft: at < 0 ? points.length - 1 : at - 1, Home: 0, End: points.length - 1 }[event.key];
    if (step === undefined || !points.length) return;
    event.preventDefault();
    go(step);
  });
  svg.addEventListener("blur", () => {
    if (at >= 0) points[at].classList.remove("cursor");
    at = -1;
    hideTip();
  });
}
