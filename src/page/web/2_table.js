// Tables: sorted by a click on a heading, copied as CSV (the document's own numbers) or Markdown (as shown).

let exact = false;  // all tables show the document's own numbers
const tables = [];

/** Text behind numbers, absent last, in both directions. */
function compare(a, b, direction) {
  const absent = (value) => value === null || value === "";
  if (absent(a) || absent(b)) return absent(a) - absent(b);
  if (isNumber(a) !== isNumber(b)) return isNumber(a) ? -1 : 1;
  const order = isNumber(a) || typeof a === "boolean" ? Number(a) - Number(b) : String(a).localeCompare(String(b), "en", { numeric: true });
  return direction * order;
}

function tableOf(view, provenance) {
  const scales = view.columns.map((column, at) => scaleOf(column.unit, view.rows.map((row) => row[at])));
  const sort = { column: -1, direction: 1 };
  const head = make("tr");
  const body = make("tbody");
  const order = () => {
    const rows = view.rows.map((row, at) => ({ row, at }));
    if (sort.column < 0) return rows;
    return rows.sort((a, b) => compare(a.row[sort.column], b.row[sort.column], sort.direction) || a.at - b.at);
  };
  const fillBody = () => {
    body.replaceChildren(...order().map(({ row, at }) => rowOf(view, scales, row, at)));
    for (const [at, cell] of [...head.children].entries()) {
      cell.replaceWith(headingOf(view, scales, at, sort, fillBody));
    }
  };
  head.append(...view.columns.map(() => make("th")));
  fillBody();
  tables.push(fillBody);
  const caption = make("figcaption", {}, make("span.title", {}, view.title), badge(provenance), copyTools(view, scales, order));
  return make("figure.table", {}, caption, make("div.scroll", { tabindex: 0, role: "region", "aria-label": view.title }, make("table", {}, make("thead", {}, head), body)));
}

/** `rows()` gives the rows in their present order. */
function copyTools(view, scales, rows) {
  return make("span.tools", {},
    button("CSV", "Copy this table as CSV, with the document's own numbers", null, (event) => copyText(csvOf(view, rows()), event.target)),
    button("Markdown", "Copy this table as Markdown, as it is shown", null, (event) => copyText(markdownOf(view, scales, rows()), event.target)));
}

/** Texts that are short stay on one line; others have room for some words in each. */
const textClass = (view, at) => (view.rows.every((row) => String(row[at] ?? "").length <= 30) ? ".short" : ".long");
const textColumn = (view, at) => view.rows.some((row) => typeof row[at] === "string") && !view.rows.some((row) => isNumber(row[at]) || typeof row[at] === "boolean");

function headingOf(view, scales, at, sort, again) {
  const column = view.columns[at];
  const mine = sort.column === at;
  const unit = exact ? unitOf(column.unit) : scales[at].unit;
  const next = () => {
    // Up, down, as in the document.
    if (!mine) Object.assign(sort, { column: at, direction: 1 });
    else if (sort.direction === 1) sort.direction = -1;
    else Object.assign(sort, { column: -1, direction: 1 });
    again();
  };
  const act = (event) => {
    const table = event.target.closest("table");
    next();
    table.querySelectorAll("th button")[at].focus();
  };
  const arrow = mine ? (sort.direction === 1 ? " ▲" : " ▼") : "";
  const meaning = [column.meaning, column.tag].filter(Boolean).join("; ");
  return make(textColumn(view, at) ? `th${textClass(view, at)}` : "th.number", { scope: "col", "aria-sort": mine ? (sort.direction === 1 ? "ascending" : "descending") : "none" },
    make("button", { type: "button", title: meaning, click: act }, column.name, unit ? make("small", {}, ` ${unit}`) : null, arrow));
}

function rowOf(view, scales, row, at) {
  const cells = row.map((value, column) => {
    const unit = view.columns[column].unit;
    const text = exact && isNumber(value) ? String(value) : shown(value, scales[column]);
    const marked = column === 0 && view.marked === at ? "* " : "";
    const name = textColumn(view, column) ? `td${textClass(view, column)}` : "td.number";
    return make(name, { title: isNumber(value) ? exactly(value, unit) : null, "data-exact": isNumber(value) ? value : null }, marked + text);
  });
  return make(view.marked === at ? "tr.marked" : "tr", {}, ...cells);
}

/** Figures that share no unit: one a line. */
function figuresOf(view, provenance) {
  const columns = [{ name: "what" }, { name: "value", tag: "value" }, { name: "unit" }];
  const rows = view.figures.map((one, at) => ({ row: [one.tag || one.name, one.value, unitOf(one.unit)], at }));
  const body = make("tbody");
  const textOf = ({ value, unit }) => {
    const scale = scaleOf(unit, [value]);
    return isNumber(value) && exact ? exactly(value, unit) : withUnit(shown(value, scale), isNumber(value) ? scale.unit : "");
  };
  const fillBody = () => body.replaceChildren(...view.figures.map((one) => {
    const number = isNumber(one.value);
    return make("tr", {}, make("th.short", { scope: "row", title: one.tag }, one.name), make("td", { title: number ? exactly(one.value, one.unit) : null, "data-exact": number ? one.value : null }, textOf(one)));
  }));
  fillBody();
  tables.push(fillBody);
  const tools = make("span.tools", {},
    button("CSV", "Copy these figures as CSV, as the document has them", null, (event) => copyText(csvOf({ columns }, rows), event.target)),
    button("Markdown", "Copy these figures as Markdown, as they are shown", null, (event) => copyText(linesOf(["what", "value"], ["---", "---"], view.figures.map((one) => [one.name, textOf(one)])), event.target)));
  return make("figure.table", {}, make("figcaption", {}, make("span.title", {}, view.title), badge(provenance), tools), make("table.figures", {}, body));
}

const quoted = (text) => (/[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text);

/** A text of a document that a spreadsheet would take for a formula stays a text. */
const csvCell = (value) => quoted(typeof value === "string" && /^[=+\-@\t\r]/.test(value) ? `'${value}` : value === null ? "" : String(value));

function csvOf(view, rows) {
  const heads = view.columns.map((column) => csvCell(column.tag || column.name));
  const lines = rows.map(({ row }) => row.map(csvCell).join(","));
  return [heads.join(","), ...lines].join("\n") + "\n";
}

/** A table in Markdown. */
function linesOf(heads, rules, rows) {
  // Neither markup nor a link comes of what a document says.
  const cell = (text) => text.replaceAll(/[\\|[\]]/g, "\\$&").replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll("\n", " ");
  return [heads, rules, ...rows].map((cells) => `| ${cells.map(cell).join(" | ")} |\n`).join("");
}

function markdownOf(view, scales, rows) {
  const unit = (at) => (exact ? unitOf(view.columns[at].unit) : scales[at].unit);
  const heads = view.columns.map((column, at) => withUnit(column.name, unit(at) && `(${unit(at)})`));
  const rules = view.columns.map((_, at) => (textColumn(view, at) ? "---" : "---:"));
  return linesOf(heads, rules, rows.map(({ row }) => row.map((value, at) => (exact && isNumber(value) ? String(value) : shown(value, scales[at])))));
}

/** A page that was opened from a file may have no clipboard: the selection of a text field is the older way. */
async function copyText(text, from) {
  // A second click may find the first one's word.
  from.dataset.label ??= from.textContent;
  const say = (word) => {
    from.textContent = word;
    setTimeout(() => { from.textContent = from.dataset.label; }, 1200);
  };
  from.dataset.copied = text;
  try {
    await navigator.clipboard.writeText(text);
    say("copied");
  } catch {
    const field = make("textarea", { readonly: true, style: "position:fixed;top:0;opacity:0" });
    field.value = text;
    document.body.append(field);
    field.select();
    say(document.execCommand("copy") ? "copied" : "not copied");
    field.remove();
    from.focus({ preventScroll: true });
  }
}
