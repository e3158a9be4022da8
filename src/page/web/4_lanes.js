// One lane of a timeline: its level for a zoom, the blocks in view, the path that draws them.

const LANE = 15, LANE_GAP = 1, TRACK_GAP = 9;

/** The end of the last block that begins at or before a time may lie behind others: how far to look back. */
function prepareLane(lane) {
  for (const level of lane.levels) {
    level.longest = level.length.reduce((most, one) => Math.max(most, one), 0);
    level.size = level.begin.length;
  }
  return lane;
}

/** The coarsest level that loses nothing which a point of the picture could show; the finest where none is fine enough. */
function levelFor(lane, microsecondsPerPoint) {
  return lane.levels.find((level) => level.resolution <= microsecondsPerPoint) ?? lane.levels[lane.levels.length - 1];
}

/** First block that begins at `time` or later. */
function firstFrom(level, time) {
  let low = 0, high = level.size;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (level.begin[middle] < time) low = middle + 1; else high = middle;
  }
  return low;
}

/** Calls `see(index)` for each block that touches the view. */
function eachInView(level, from, to, see) {
  for (let at = firstFrom(level, from - level.longest); at < level.size && level.begin[at] <= to; ++at) {
    if (level.begin[at] + level.length[at] >= from) see(at);
  }
}

/** Two paths: single spans, and blocks of several; with at least a point for each block, and none where nothing would be seen. */
function pathsOf(level, x, y, width) {
  const [from, to] = x.domain();
  const paths = { single: "", several: "" };
  const reached = { single: -1, several: -1 };
  eachInView(level, from, to, (at) => {
    const left = Math.max(x.range()[0], x(level.begin[at]));
    const right = Math.min(width, Math.max(x(level.begin[at] + level.length[at]), left + 1));
    const kind = level.spans && level.spans[at] > 1 ? "several" : "single";
    if (right - reached[kind] < 0.5) return;
    reached[kind] = right;
    paths[kind] += `M${left.toFixed(2)},${y}H${right.toFixed(2)}v${LANE}H${left.toFixed(2)}z`;
  });
  return paths;
}

/** The block under a time, or the nearest within `slack`. */
function blockAt(level, time, slack) {
  let best = -1, distance = slack;
  eachInView(level, time - slack, time + slack, (at) => {
    const away = Math.max(level.begin[at] - time, time - level.begin[at] - level.length[at], 0);
    if (best < 0 ? away <= distance : away < distance || (away === 0 && level.length[at] < level.length[best])) {
      best = at;
      distance = away;
    }
  });
  return best;
}

/** What is known of a block, its numbers as the trace has them. */
function blockLines(view, lane, level, at) {
  const several = level.spans && level.spans[at] > 1;
  const name = view.names[level.name[at]] || "no name";
  const launch = view.launches[level.launch[at]];
  if (several) {
    return [`${level.spans[at]} spans, the longest ${name}`, `${lane.kind}, ${lane.label}`,
      `from ${level.begin[at]} us, ${level.length[at]} us, busy ${level.busy[at]} us`, "zoom in to tell them apart"];
  }
  return [name, `${lane.kind}, ${lane.label}`, `from ${level.begin[at]} us, ${level.length[at]} us`, launch];
}

/** Where lanes lie, one track below the other; `above` is the room for a track's name above its lanes. */
function placeLanes(tracks, above) {
  const rows = [];
  let y = 24;
  for (const track of tracks) {
    y += above;
    const top = y;
    for (const lane of track.lanes) {
      rows.push({ track, lane, y });
      y += LANE + LANE_GAP;
    }
    track.top = top;
    track.bottom = Math.max(y, top + LANE);
    y = track.bottom + TRACK_GAP;
  }
  return { rows, height: y };
}

/** A kernel's name for a block that has little room: without its type, namespaces, template and arguments; a collective by its operation. */
function shortName(name) {
  const collective = /^nccl(?:Symk)?DevKernel_([A-Za-z]+)/.exec(name);
  if (collective) return collective[1];
  const plain = name.replace(/^void /, "").replaceAll("(anonymous namespace)::", "").split(/[<(]/)[0];
  return plain.slice(plain.lastIndexOf("::") + 1).replace(/^:/, "") || name;
}

const SHORT = { compute: "compute", communication: "comm", copy: "copies", other: "other" };
