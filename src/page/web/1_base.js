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

/** The number as the document has it. */
const exactly = (value, unit) => withUnit(String(value), unit === "share" ? "" : unit);

/** Low and high of an interval in brackets. */
const intervalWords = (item, scale) => (isNumber(item.low) && isNumber(item.high) ? `${shown(item.low, scale)}..${shown(item.high, scale)}` : "");

// --- the box that says what is under the pointer or under the cursor of the keyboard ------------------------------------------------

const tip = make("div.tip", { role: "status", "aria-live": "polite" });

function showTip(x, y, lines) {
  tip.replaceChildren(...lines.filter(Boolean).map((line, at) => make(at ? "div" : "strong", {}, line)));
  tip.classList.add("on");
  const { width, height } = tip.getBoundingClientRect();
  tip.style.left = `${Math.max(4, Math.min(x + 14, document.documentElement.clientWidth - width - 8))}px`;
  tip.style.top = `${y + 18 + height > window.innerHeight ? Math.max(4, y - height - 10) : y + 18}px`;
}

const hideTip = () => tip.classList.remove("on");

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

/** A picture of its own, with the colours that it has on the page. */
function saveSvg(svg, name) {
  const copy = svg.cloneNode(true);
  const from = [svg, ...svg.querySelectorAll("*")];
  const to = [copy, ...copy.querySelectorAll("*")];
  from.forEach((element, at) => {
    const style = getComputedStyle(element);
    for (const property of ["fill", "stroke", "stroke-width", "stroke-dasharray", "opacity", "font", "text-anchor"]) {
      to[at].style.setProperty(property, style.getPropertyValue(property));
    }
  });
  const defs = document.querySelector("#patterns defs").cloneNode(true);
  for (const [at, element] of [...document.querySelectorAll("#patterns defs *")].entries()) {
    const target = defs.querySelectorAll("*")[at];
    target.style.fill = getComputedStyle(element).fill;
    target.style.stroke = getComputedStyle(element).stroke;
  }
  copy.prepend(defs, draw("rect", { width: "100%", height: "100%", style: `fill:${getComputedStyle(document.body).backgroundColor}` }));
  copy.setAttribute("xmlns", SVG);
  const link = make("a", { download: `${name}.svg`, href: URL.createObjectURL(new Blob([new XMLSerializer().serializeToString(copy)], { type: "image/svg+xml" })) });
  link.click();
  URL.revokeObjectURL(link.href);
}
