#!/usr/bin/env python3
"""Draws the timelines of a trace (`headroom bench --trace FILE`) as one SVG: for each case a row for each scheme, compute above and
communication below, all rows of a case on one scale. Copy engines launch no kernel and leave no bar.

usage: timelines.py TRACE[.gz]... --output FILE [--gpu N] [--only REGEX]
"""

from __future__ import annotations

import argparse
import gzip
import json
import re
import sys
from collections import defaultdict
from html import escape
from pathlib import Path
from typing import Any

WIDTH, LABEL, LANE, GAP, TITLE = 960, 150, 13, 9, 26
COLORS = {"compute": "#4878a8", "communication": "#e08a2e"}

Spans = list[dict[str, Any]]
Cases = dict[str, dict[str, Spans]]


def read_trace(path: Path) -> dict[str, Any]:
    opened = gzip.open(path, "rt", encoding="utf-8") if path.suffix == ".gz" else path.open(encoding="utf-8")
    with opened as file:
        return json.load(file)


def cases_of(document: dict[str, Any], gpu: int) -> Cases:
    """Spans of one GPU by case and scheme, in the trace's order."""
    shown = {}
    cases: Cases = defaultdict(dict)
    for event in document["traceEvents"]:
        if event.get("name") == "process_name" and event["args"]["name"].startswith(f"GPU {gpu} · "):
            label = event["args"]["name"].partition(" · ")[2]
            # A capped scheme's residency belongs to it: "gelu-ar shaped 5/SM".
            case, scheme = re.fullmatch(r"(.*?) ([a-z_]+(?: \d+/SM)?)", label).groups()
            shown[event["pid"]] = cases[case].setdefault(scheme, [])
    for event in document["traceEvents"]:
        if event.get("ph") == "X" and event["pid"] in shown:
            shown[event["pid"]].append(event)
    return cases


def bar(x: float, y: float, width: float, kind: str, title: str) -> str:
    return (
        f'<rect x="{x:.2f}" y="{y}" width="{max(width, 0.5):.2f}" height="{LANE}" fill="{COLORS[kind]}" stroke="#fff" '
        f'stroke-width="0.5"><title>{escape(title)}</title></rect>'
    )


def text(x: float, y: float, words: str, anchor: str = "start", weight: str = "normal") -> str:
    return f'<text x="{x:.2f}" y="{y}" text-anchor="{anchor}" font-weight="{weight}">{escape(words)}</text>'


def draw_scheme(scheme: str, spans: Spans, scale: float, y: int) -> list[str]:
    begin = min((span["ts"] for span in spans), default=0.0)
    end = max((span["ts"] + span["dur"] for span in spans), default=0.0)
    drawn = [text(LABEL - 8, y + LANE + 4, scheme, "end"), text(LABEL + (end - begin) * scale + 5, y + LANE + 4, f"{(end - begin) / 1e3:.2f} ms")]
    for span in spans:
        lane = y if span["cat"] == "compute" else y + LANE
        title = f"{span['cat']}, {span['dur'] / 1e3:.3f} ms, {span['args']['grid']} blocks of {span['args']['block']} threads"
        drawn.append(bar(LABEL + (span["ts"] - begin) * scale, lane, span["dur"] * scale, span["cat"], title))
    return drawn


def draw(cases: Cases) -> str:
    drawn, y = [], 6
    for case, schemes in cases.items():
        longest = max((span["ts"] + span["dur"] - spans[0]["ts"] for spans in schemes.values() for span in spans), default=1.0)
        scale = (WIDTH - LABEL - 70) / longest
        drawn.append(text(8, y + 14, case, weight="bold"))
        y += TITLE
        for scheme, spans in schemes.items():
            drawn += draw_scheme(scheme, spans, scale, y)
            y += 2 * LANE + GAP
    header = f'<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{y}" viewBox="0 0 {WIDTH} {y}" font-family="sans-serif" font-size="12">'
    return "\n".join([header, f'<rect width="{WIDTH}" height="{y}" fill="#fff"/>', *drawn, "</svg>", ""])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("traces", nargs="+", type=Path)
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--gpu", type=int, default=0)
    parser.add_argument("--only", default="", help="cases in whose name this is found")
    options = parser.parse_args()
    cases: Cases = {}
    for path in options.traces:
        try:
            cases |= cases_of(read_trace(path), options.gpu)
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            print(f"timelines: {path}: {error!r}, expected a trace of headroom bench", file=sys.stderr)
            return 2
    chosen = {case: schemes for case, schemes in cases.items() if re.search(options.only, case)}
    if not chosen:
        print(f"timelines: --only: '{options.only}' is in none of {', '.join(cases) or 'no case'}", file=sys.stderr)
        return 2
    options.output.write_text(draw(chosen), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
