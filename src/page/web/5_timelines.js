// Timelines: tracks on one scale of time, compute above communication, zoomed by wheel, drag and keyboard.

function timelinesOf(view, provenance, name) {
  for (const track of view.tracks) track.lanes.forEach(prepareLane);
  const devices = [...new Set(view.tracks.map((track) => track.device))];
  const timelines = new Timelines(view, devices[0] ?? null);
  const pick = devices.length > 1 ? deviceTools(timelines, devices) : [];
  const tools = make("span.tools", {}, ...pick,
    button("−", "Zoom out (−)", null, () => timelines.zoomBy(1 / 2)), button("+", "Zoom in (+)", null, () => timelines.zoomBy(2)),
    button("whole", "The whole time (0)", null, () => timelines.whole()),
    saveButton(name));
  const figure = figureOf(view.title, provenance, [tools], (width) => timelines.paint(width));
  timelines.figure = figure;
  figure.append(legendOf(view));
  return figure;
}

function deviceTools(timelines, devices) {
  const all = [...devices, null].map((device) => button(device ?? "all", device ? `Tracks of ${device}` : "Tracks of all devices", device === timelines.device, () => {
    timelines.device = device;
    all.forEach((one) => one.setAttribute("aria-pressed", String(one === buttonOf.get(device))));
    timelines.figure.redraw();
  }));
  const buttonOf = new Map([...devices, null].map((device, at) => [device, all[at]]));
  return all;
}

/** What the patterns mean, how to move, and what was left out of the picture. */
function legendOf(view) {
  const lanes = view.tracks.flatMap((track) => track.lanes);
  const kinds = Object.keys(SHORT).filter((kind) => lanes.some((lane) => lane.kind === kind));
  const swatches = kinds.map((kind) => make("span.swatch", {}, draw("svg", { width: 22, height: 11 }, draw(`rect.${kind}`, { width: 22, height: 11 })), ` ${kind}`));
  const merged = lanes.filter((lane) => lane.levels.some((level) => level.resolution > 0));
  const spans = lanes.reduce((sum, lane) => sum + lane.spans, 0);
  const finest = Math.max(0, ...merged.map((lane) => lane.levels[lane.levels.length - 1].resolution));
  const decimated = merged.length
    ? make("div.decimated", {}, `Decimated: of ${spans} spans, those shorter than ${finest.toPrecision(3)} us are drawn together in ${merged.length} of ${lanes.length} lanes, however far it is zoomed; pale blocks are several spans.`)
    : null;
  return make("div.legend", {}, ...swatches, make("span.hint", {}, "drag moves; Ctrl + wheel, or the wheel after a click, zooms; arrows go from span to span"), decimated);
}

class Timelines {
  constructor(view, device) {
    this.view = view;
    this.device = device;
    this.transform = d3.zoomIdentity;
    this.cursor = null;
    const ends = view.tracks.flatMap((track) => track.lanes.flatMap((lane) => lane.levels[0].begin.map((begin, at) => [begin, begin + lane.levels[0].length[at]])));
    this.begin = ends.reduce((least, one) => Math.min(least, one[0]), Infinity);
    this.end = ends.reduce((most, one) => Math.max(most, one[1]), -Infinity);
    if (!(this.end > this.begin)) Object.assign(this, { begin: Number.isFinite(this.begin) ? this.begin : 0, end: (Number.isFinite(this.begin) ? this.begin : 0) + 1 });
  }

  paint(width) {
    const tracks = this.view.tracks.filter((track) => this.device === null || track.device === this.device);
    // A narrow picture has no room for names beside the lanes.
    const above = width < 560 ? 16 : 0;
    const placed = placeLanes(tracks, above);
    this.rows = placed.rows;
    const lanes = Math.max(0, ...this.rows.map((row) => widthOf(SHORT[row.lane.kind], 10.5))) + 16;
    this.left = above ? lanes : Math.min(Math.max(96, ...tracks.map((track) => widthOf(this.labelOf(track), 12, 600) + lanes + 8)), width * 0.32);
    this.width = width;
    this.height = placed.height;
    this.base = d3.scaleLinear().domain([this.begin, this.end]).range([this.left, width - 12]);
    this.svg = draw("svg.timelines", { width, height: placed.height + 4, viewBox: `0 0 ${width} ${placed.height + 4}`, tabindex: 0, role: "application", "aria-roledescription": "timeline",
      "aria-label": `${this.view.title}: arrows go from span to span and lane to lane, plus and minus zoom, 0 shows the whole time` });
    this.axis = draw("g.axis");
    this.marks = draw("g.marks");
    const labels = draw("g.labels");
    const room = above ? width - 8 : this.left - lanes - 4;
    for (const track of tracks) labels.append(draw("text.track", { x: 4, y: track.top + (above ? -4 : 12) }, draw("title", {}, this.labelOf(track)), cut(this.labelOf(track), room, 12, 600)));
    for (const row of this.rows) labels.append(draw("text.lane", { x: this.left - 8, y: row.y + 11, "text-anchor": "end" }, draw("title", {}, row.lane.label), SHORT[row.lane.kind]));
    this.highlight = draw("rect.highlight", { height: LANE });
    const cover = draw("rect.cover", { x: this.left, y: 0, width: Math.max(0, width - 12 - this.left), height: placed.height, pointermove: (event) => this.point(event), pointerleave: () => this.leave() });
    this.svg.append(this.axis, labels, this.marks, this.highlight, cover);
    this.attachZoom(width, placed.height);
    this.svg.addEventListener("keydown", (event) => this.key(event));
    this.svg.addEventListener("blur", () => { this.cursor = null; this.leave(); });
    this.update();
    return this.svg;
  }

  labelOf(track) {
    return this.device === null || !track.label ? [track.label, track.device].filter(Boolean).join(" ") : track.label;
  }

  attachZoom(width, height) {
    const most = Math.max(8, (this.end - this.begin) / 0.05);
    this.zoom = d3.zoom().scaleExtent([1, most]).extent([[this.left, 0], [width - 12, height]]).translateExtent([[this.left, 0], [width - 12, height]])
      // By itself d3 drops every click on the page between the end of a drag and a timer. A busy browser runs that timer late.
      .clickDistance(Infinity)
      .filter(() => {
        const event = d3.event;
        // The wheel scrolls the page until this picture is meant.
        return event.type === "wheel" ? event.ctrlKey || event.metaKey || document.activeElement === this.svg : !event.button;
      })
      .on("start", () => { if (d3.event.sourceEvent && d3.event.sourceEvent.type === "mousedown") this.svg.focus({ preventScroll: true }); })
      .on("zoom", () => {
        this.transform = d3.event.transform;
        this.update();
      });
    d3.select(this.svg).call(this.zoom).call(this.zoom.transform, this.transform);
  }

  zoomBy(factor) { d3.select(this.svg).call(this.zoom.scaleBy, factor); }
  whole() { d3.select(this.svg).call(this.zoom.transform, d3.zoomIdentity); }

  /** Everything that moves with the zoom. */
  update() {
    this.x = this.transform.rescaleX(this.base);
    const [from, to] = this.x.domain();
    this.svg.dataset.from = from;
    this.svg.dataset.to = to;
    const perPoint = (to - from) / (this.base.range()[1] - this.left);
    this.axis.replaceChildren(...this.axisParts(from, to));
    const marks = [];
    let words = 0;
    for (const row of this.rows) {
      const level = levelFor(row.lane, perPoint);
      const paths = pathsOf(level, this.x, row.y, this.base.range()[1]);
      marks.push(draw("rect.back", { x: this.left, y: row.y, width: this.base.range()[1] - this.left, height: LANE }));
      if (paths.several) marks.push(draw(`path.${row.lane.kind}.several`, { d: paths.several }));
      if (paths.single) marks.push(draw(`path.${row.lane.kind}`, { d: paths.single }));
      if (words < 400) words += this.nameBlocks(row, level, marks);
    }
    this.marks.replaceChildren(...marks);
    this.showCursor();
  }

  axisParts(from, to) {
    const milliseconds = to - from >= 1000;
    const parts = [draw("text.unit", { x: 4, y: 14 }, milliseconds ? "ms" : "us")];
    for (const tick of this.x.ticks(Math.max(2, Math.floor((this.width - this.left) / 100)))) {
      const at = Math.round(this.x(tick)) + 0.5;
      parts.push(draw("line", { x1: at, x2: at, y1: 19, y2: this.height }));
      const number = String(+(milliseconds ? tick / 1000 : tick).toPrecision(9));
      if (at + widthOf(number, 11) / 2 < this.width) parts.push(draw("text", { x: at, y: 14, "text-anchor": "middle" }, number));
    }
    return parts;
  }

  /** Names on blocks that have room for some letters. */
  nameBlocks(row, level, marks) {
    const [from, to] = this.x.domain();
    let count = 0;
    eachInView(level, from, to, (at) => {
      const left = Math.max(this.left, this.x(level.begin[at]));
      const room = Math.min(this.base.range()[1], this.x(level.begin[at] + level.length[at])) - left - 6;
      if (room < 34 || (level.spans && level.spans[at] > 1) || count >= 100) return;
      ++count;
      marks.push(draw(`text.name.on-${row.lane.kind}`, { x: left + 3, y: row.y + 11 }, cut(shortName(this.view.names[level.name[at]]), room, 10.5)));
    });
    return count;
  }

  // --- what is under the pointer, and the cursor of the keyboard ---------------------------------------------------------------------

  levelOf(row) {
    const [from, to] = this.x.domain();
    return levelFor(row.lane, (to - from) / (this.base.range()[1] - this.left));
  }

  point(event) {
    const box = this.svg.getBoundingClientRect();
    const row = this.rows.find((one) => event.clientY - box.y >= one.y - 1 && event.clientY - box.y <= one.y + LANE);
    const slack = this.x.invert(3) - this.x.invert(0);
    const level = row && this.levelOf(row);
    const at = row ? blockAt(level, this.x.invert(event.clientX - box.x), slack) : -1;
    if (at < 0) return this.leave();
    this.mark(row, level, at);
    showTip(event.clientX, event.clientY, blockLines(this.view, row.lane, level, at));
  }

  leave() {
    if (this.cursor) return;
    this.highlight.classList.remove("on");
    hideTip();
  }

  mark(row, level, at) {
    const left = Math.max(this.left, this.x(level.begin[at]));
    const right = Math.min(this.base.range()[1], Math.max(this.x(level.begin[at] + level.length[at]), left + 2));
    this.highlight.setAttribute("x", left);
    this.highlight.setAttribute("y", row.y);
    this.highlight.setAttribute("width", Math.max(2, right - left));
    this.highlight.classList.add("on");
  }

  /** `follow` scrolls the page to it. */
  showCursor(follow = false) {
    if (!this.cursor) return this.highlight.classList.remove("on");
    const row = this.rows[this.cursor.row];
    const level = this.levelOf(row);
    const at = blockAt(level, this.cursor.time, Infinity);
    if (at < 0) return;
    this.mark(row, level, at);
    if (follow) this.highlight.scrollIntoView({ block: "nearest" });
    const box = this.svg.getBoundingClientRect();
    showTip(box.x + this.x(Math.max(level.begin[at], this.x.domain()[0])), box.y + row.y + 4, blockLines(this.view, row.lane, level, at));
  }

  /** To the block `step` further in its lane, and into view. */
  stepSpan(step) {
    if (!this.rows.length) return;
    if (!this.cursor) {
      this.cursor = { row: 0, time: this.x.domain()[0] };
      step = 0;
    }
    const level = this.levelOf(this.rows[this.cursor.row]);
    const now = blockAt(level, this.cursor.time, Infinity);
    const at = Math.max(0, Math.min(level.size - 1, now + step));
    if (!level.size) return;
    this.cursor.time = level.begin[at] + level.length[at] / 2;
    const [from, to] = this.x.domain();
    if (this.cursor.time < from || this.cursor.time > to) d3.select(this.svg).call(this.zoom.translateTo, this.base(this.cursor.time), 0);
    this.showCursor(true);
  }

  stepLane(step) {
    if (!this.cursor) return this.stepSpan(0);
    this.cursor.row = Math.max(0, Math.min(this.rows.length - 1, this.cursor.row + step));
    this.stepSpan(0);
  }

  key(event) {
    const pan = (share) => d3.select(this.svg).call(this.zoom.translateBy, (share * (this.base.range()[1] - this.left)) / this.transform.k, 0);
    const acts = {
      "+": () => this.zoomBy(2), "=": () => this.zoomBy(2), "-": () => this.zoomBy(1 / 2), "0": () => this.whole(), Home: () => this.whole(),
      ArrowRight: () => (event.shiftKey ? pan(-0.25) : this.stepSpan(1)), ArrowLeft: () => (event.shiftKey ? pan(0.25) : this.stepSpan(-1)),
      ArrowDown: () => this.stepLane(1), ArrowUp: () => this.stepLane(-1),
      Escape: () => { this.cursor = null; this.leave(); },
    };
    const act = acts[event.key];
    if (!act || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    act();
  }
}
