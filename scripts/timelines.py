#!/usr/bin/env python3
"""Draws the timelines of a trace (`elbowroom bench --trace FILE`) as one SVG: for each case a row for each scheme, compute above and
communication below (copies in a colour of their own), all rows of a case on one scale. Beside a case's name stands whether it was
measured or simulated, and for what machine; beneath it how far simulated times may be off.

usage: timelines.py TRACE[.gz]... --output FILE [--gpu N] [--only REGEX] [--schemes REGEX]
"""

from __future__ import annotations

import argparse
import gzip
import json
import re
import sys
from dataclasses import dataclass, field, replace
from html import escape
from pathlib import Path
from typing import Any

WIDTH, LABEL, LANE, GAP, TITLE = 960, 150, 13, 9, 26
COLORS = {"compute": "#4878a8", "communication": "#e08a2e", "copy": "#8a5fb0"}

Spans = list[dict[str, Any]]


@dataclass
class Case:
    """The rows of one case by scheme, the machine that its trace names ("simulated for 2 x ...") and what simulated times rest on."""

    machine: str
    model: str
    rows: dict[str, Spans] = field(default_factory=dict)


Cases = dict[str, Case]


def read_trace(path: Path) -> dict[str, Any]:
    opened = gzip.open(path, "rt", encoding="utf-8") if path.suffix == ".gz" else path.open(encoding="utf-8")
    with opened as file:
        return json.load(file)


def cases_of(document: dict[str, Any], gpu: int) -> Cases:
    """Spans of one GPU by case and scheme, in the trace's order."""
    origin = document["otherData"]
    if not origin["device"].startswith(origin["provenance"]):
        raise ValueError(f"otherData: provenance {origin['provenance']}, but device '{origin['device']}'")
    shown = {}
    cases: Cases = {}
    for event in document["traceEvents"]:
        if event.get("name") == "process_name" and event["args"]["name"].startswith(f"GPU {gpu} · "):
            case, scheme = label_of(event["args"]["name"].partition(" · ")[2])
            shown[event["pid"]] = cases.setdefault(case, Case(origin["device"], origin.get("model", ""))).rows.setdefault(scheme, [])
    for event in document["traceEvents"]:
        if event.get("ph") == "X" and event["pid"] in shown and event["cat"] in COLORS:
            shown[event["pid"]].append(event)
    return cases


def kind_of(span: dict[str, Any]) -> str:
    return "copy" if span["name"].startswith(("copy ", "copies ")) else span["cat"]


def bar(x: float, y: float, width: float, kind: str, title: str) -> str:
    return (
        f'<rect x="{x:.2f}" y="{y}" width="{max(width, 0.5):.2f}" height="{LANE}" fill="{COLORS[kind]}" stroke="#fff" '
        f'stroke-width="0.5"><title>{escape(title)}</title></rect>'
    )


def text(x: float, y: float, words: str, anchor: str = "start", weight: str = "normal") -> str:
    return f'<text x="{x:.2f}" y="{y}" text-anchor="{anchor}" font-weight="{weight}">{escape(words)}</text>'


def label_of(name: str) -> tuple[str, str]:
    """Case and scheme. A capped scheme's residency belongs to it ("gelu-ar shaped 5/SM"), a plan's number as well ("gelu-ar plan 2")."""
    found = re.fullmatch(r"(.*?) ((?:plan \d+|[a-z_]+)(?: \d+/SM)?)", name)
    return found.groups() if found else (name, "")


def title_of(span: dict[str, Any]) -> str:
    launch = span.get("args", {})
    what = f"{launch.get('grid', '?')} blocks of {launch.get('block', '?')} threads"
    return f"{span['cat']}, {span['dur'] / 1e3:.3f} ms, {span['name'] if kind_of(span) == 'copy' else what}"


def draw_scheme(scheme: str, spans: Spans, scale: float, y: int) -> list[str]:
    begin = min((span["ts"] for span in spans), default=0.0)
    end = max((span["ts"] + span["dur"] for span in spans), default=0.0)
    drawn = [text(LABEL - 8, y + LANE + 4, scheme, "end"), text(LABEL + (end - begin) * scale + 5, y + LANE + 4, f"{(end - begin) / 1e3:.2f} ms")]
    for span in spans:
        lane = y if span["cat"] == "compute" else y + LANE
        drawn.append(bar(LABEL + (span["ts"] - begin) * scale, lane, span["dur"] * scale, kind_of(span), title_of(span)))
    return drawn


def draw(cases: Cases) -> str:
    drawn, y = [], 6
    for name, case in cases.items():
        longest = max((span["ts"] + span["dur"] - spans[0]["ts"] for spans in case.rows.values() for span in spans), default=1.0)
        scale = (WIDTH - LABEL - 70) / longest
        drawn += [text(8, y + 14, name, weight="bold"), text(WIDTH - 8, y + 14, case.machine, "end")]
        y += TITLE
        if case.model:
            drawn.append(text(WIDTH - 8, y + 8, case.model, "end"))
            y += TITLE // 2
        for scheme, spans in case.rows.items():
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
    parser.add_argument("--schemes", default="", help="rows in whose scheme this is found")
    options = parser.parse_args()
    try:
        drawn = figure(options)
        options.output.write_text(drawn, encoding="utf-8")
    except (OSError, EOFError, ValueError, KeyError, TypeError, AttributeError, re.error) as error:
        print(f"timelines: {error}", file=sys.stderr)
        return 2
    return 0


def figure(options: argparse.Namespace) -> str:
    """Raises ValueError with one line where a file is no trace, two traces hold one case, or no case is chosen."""
    cases: Cases = {}
    passed_over: list[str] = []
    for path in options.traces:
        try:
            found = cases_of(read_trace(path), options.gpu)
        except (EOFError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise ValueError(f"{path}: {error!r}, expected a trace of elbowroom bench") from error
        passed_over += [case for case in found if not re.search(options.only, case)]
        chosen = {name: replace(case, rows=rows_of(case.rows, options.schemes)) for name, case in found.items() if name not in passed_over}
        if twice := cases.keys() & chosen.keys():
            raise ValueError(f"{path}: {min(twice)} is in an earlier trace as well, expected each case once")
        cases |= chosen
    if not cases:
        raise ValueError(f"--only: '{options.only}' is in none of {', '.join(passed_over) or 'no case'}")
    return draw(cases)


def rows_of(schemes: dict[str, Spans], wanted: str) -> dict[str, Spans]:
    rows = {scheme: spans for scheme, spans in schemes.items() if re.search(wanted, scheme)}
    if not rows:
        raise ValueError(f"--schemes: '{wanted}' is in none of {', '.join(schemes)}")
    return rows


if __name__ == "__main__":
    sys.exit(main())
