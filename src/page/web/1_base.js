"use strict";
// What the other files use: elements, numbers in words, the box that says what is under the pointer.

const SVG = "http://www.w3.org/2000/svg";

/** make("td.number", {title: "42"}, "42", child...): an element with its classes, attributes and children. */
function make(name, attributes = {}, ...children) {
  const [tag, ...classes] = name.split(".");
  return fill(document.createElement(tag), classes, attributes, children);
}

function draw(name, attributes = {}, ...children) {
  const [tag, ...classes] = name.split(".");
  return fill(document.createElementNS(SVG, tag), classes, attributes, children);
}

function fill(element, classes, attributes, children) {
  if (classes.length) element.setAttribute("class", classes.join(" "));
  for (const [key, value] of Object.entries(attributes)) {
    if (typeof value === "function") element.addEventListener(key, value);
    else if (value !== null && value !== undefined && value !== false) element.setAttribute(key, value === true ? "" : value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

const isNumber = (value) => typeof value === "number";

/**
 * How the numbers of one unit are shown beside each other: `us` in milliseconds from 1 ms on, shares in percent, at most five digits.
 * Only the reading is rounded: what the document has stands in the title of every number, and `exact` shows it.
 */
function scaleOf(unit, values) {
  const numbers = values.filter(isNumber).map(Math.abs);
  const most = numbers.length ? Math.max(...numbers) : 0;
  let scale = { unit, factor: 1 };
  if (unit === "us" && most >= 1000) scale = { unit: "ms", factor: 1 / 1000 };
  if (unit === "share") scale = { unit: "%", factor: 100 };
  const whole = numbers.every(Number.isInteger) && scale.factor === 1;
  const before = Math.max(1, Math.floor(Math.log10(Math.max(most * scale.factor, 1e-9))) + 1);
  scale.decimals = whole ? 0 : unit === "share" ? 1 : Math.min(6, Math.max(0, 5 - before - (before === 1 ? 1 : 0)));
  return scale;
}

const signless = (text) => (/^-0(\.0*)?$/.test(text) ? text.slice(1) : text);

/** The number as the scale shows it, without its unit. */
function shown(value, scale) {
  if (value === null || value === undefined || value === "") return "–";
  if (value === true) return "yes";
  if (value === false) return "–";
  return isNumber(value) ? signless((value * scale.factor).toFixed(scale.decimals)) : String(value);
}

const withUnit = (text, unit) => (unit ? `${text} ${unit}` : text);

/** A unit as the document has it. */
const unitOf = (unit) => (unit === "share" ? "" : unit);

/** The number as the document has it. */
const exactly = (value, unit) => withUnit(String(value), unitOf(unit));

/** Low and high of an interval in brackets. */
const intervalWords = (item, scale) => (isNumber(item.low) && isNumber(item.high) ? `${shown(item.low, scale)}..${shown(item.high, scale)}` : "");

const pen = document.createElement("canvas").getContext("2d");
let family = "";

/** How wide the words of a picture are in the page's font, whichever of its fonts this browser has. */
function widthOf(text, size = 12, weight = 400) {
  family ||= getComputedStyle(document.body).fontFamily;
  pen.font = `${weight} ${size}px ${family}`;
  return pen.measureText(text).width;
}

/** As much of a text as has room. */
function cut(text, room, size = 12, weight = 400) {
  if (widthOf(text, size, weight) <= room) return text;
  let fits = 0, long = text.length;
  while (long - fits > 1) {
    const middle = (fits + long) >> 1;
    if (widthOf(`${text.slice(0, middle)}…`, size, weight) <= room) fits = middle; else long = middle;
  }
  return `${text.slice(0, Math.max(1, fits))}…`;
}

// --- the box that says what is under the pointer or under the cursor of the keyboard ------------------------------------------------

const tip = make("div.tip", { role: "status", "aria-live": "polite" });
let tipAt = 0;  // where the page was scrolled to when it was shown

function showTip(x, y, lines) {
  tip.replaceChildren(...lines.filter(Boolean).map((line, at) => make(at ? "div" : "strong", {}, line)));
  tip.classList.add("on");
  tipAt = window.scrollY;
  // At the edge where it was last, it would have less room and so another shape.
  tip.style.left = "0";
  const { width, height } = tip.getBoundingClientRect();
  tip.style.left = `${Math.max(4, Math.min(x + 14, document.documentElement.clientWidth - width - 8))}px`;
  tip.style.top = `${y + 18 + height > window.innerHeight ? Math.max(4, y - height - 10) : y + 18}px`;
}

const hideTip = () => tip.classList.remove("on");

/** The cursor of the keyboard may have scrolled the page itself. */
const hideMovedTip = () => { if (window.scrollY !== tipAt) hideTip(); };

// --- figures ------------------------------------------------------------------------------------------------------------------------

const drawn = [];  // what is drawn anew when the page gets another width

/** A figure whose picture is drawn for its width: `paint(width)` gives the SVG. */
function figureOf(title, provenance, tools, paint) {
  const body = make("div.picture");
  const caption = make("figcaption", {}, make("span.title", {}, title), badge(provenance), ...tools);
  const figure = make("figure", {}, caption, body);
  let width = 0;
  const redraw = (force) => {
    const now = Math.floor(body.clientWidth);
    if (now === 0 || (now === width && !force)) return;
    width = now;
    body.replaceChildren(paint(width));
  };
  drawn.push(redraw);
  figure.redraw = () => redraw(true);
  figure.caption = caption;
  return figure;
}

/** Whether figures were measured or simulated, on every figure: a picture that is cut out still says so. */
function badge(provenance) {
  return provenance ? make(`span.badge.${provenance.split(" ")[0]}`, {}, provenance) : null;
}

function button(label, title, pressed, act) {
  return make("button", { type: "button", title, "aria-pressed": pressed === null ? null : String(pressed), click: act }, label);
}

const saveButton = (name) => button("SVG", "Save this picture", null, (event) => saveSvg(event.target.closest("figure"), name));

const CAPTION = 22;  // what a saved picture's title takes

/** A picture of its own, with the colours that it has on the page, its title and where its figures come from. */
function saveSvg(figure, name) {
  const svg = figure.querySelector(".picture svg");
  const copy = svg.cloneNode(true);
  const from = [svg, ...svg.querySelectorAll("*")];
  const to = [copy, ...copy.querySelectorAll("*")];
  from.forEach((element, at) => {
    const style = getComputedStyle(element);
    for (const property of ["fill", "stroke", "stroke-width", "stroke-dasharray", "paint-order", "opacity", "visibility", "font", "text-anchor"]) {
      to[at].style.setProperty(property, style.getPropertyValue(property));
    }
  });
  const defs = document.querySelector("#patterns defs").cloneNode(true);
  for (const [at, element] of [...document.querySelectorAll("#patterns defs *")].entries()) {
    const target = defs.querySelectorAll("*")[at];
    target.style.fill = getComputedStyle(element).fill;
    target.style.stroke = getComputedStyle(element).stroke;
  }
  const [width, height] = [svg.clientWidth, svg.clientHeight + CAPTION];
  const said = figure.querySelector(".title").textContent;
  fill(copy, [], { xmlns: SVG, height, viewBox: `0 ${-CAPTION} ${width} ${height}` }, []);
  const { backgroundColor, color, fontFamily } = getComputedStyle(document.body);
  copy.prepend(defs, draw("rect", { y: -CAPTION, width, height, style: `fill:${backgroundColor}` }),
    draw("text", { x: 4, y: -6, style: `fill:${color};font:600 12px ${fontFamily}` }, [said, figure.querySelector("figcaption .badge")?.textContent].filter(Boolean).join(", ")));
  const file = `${name}-${said.replaceAll(/[^\w-]+/g, "-")}.svg`;
  const link = make("a", { download: file, href: URL.createObjectURL(new Blob([new XMLSerializer().serializeToString(copy)], { type: "image/svg+xml" })) });
  link.click();
  URL.revokeObjectURL(link.href);
}
