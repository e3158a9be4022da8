#!/usr/bin/env python3
"""What `elbowroom tune` gained over whole suites: of each tune document the medians over its cases.

A case's gain is what the stored choice takes less than the best baseline. Its share of the critical path is its overlap efficiency.

usage: gains.py TUNE.json[.gz]...
"""

from __future__ import annotations

import json
import statistics
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import packed

Case = dict[str, Any]

WORTH_WHILE = 0.05  # of the sequential time, saved by the critical path


def gain(case: Case) -> float:
    return 1 - case["time_us"] / case["baseline_time_us"]


def could_save(case: Case) -> float:
    return 1 - case["critical_path_us"] / case["sequential_us"]


def counted_twice(cases: list[Case]) -> list[str]:
    """Names of scenarios that more than one case runs, whatever the cases are called."""
    same = Counter(json.dumps(case["scenario"] | {"name": ""}, sort_keys=True) for case in cases)
    names = {case["scenario"]["name"] for case in cases if same[json.dumps(case["scenario"] | {"name": ""}, sort_keys=True)] > 1}
    return sorted(names)


def medians(cases: list[Case]) -> str:
    if not cases:
        return "no case"
    reached = [case["overlap_efficiency"] for case in cases if case["overlap_efficiency"] is not None]
    share = f"{100 * statistics.median(reached):.1f} %" if reached else "-"
    return f"{len(cases)} cases, gain {100 * statistics.median(map(gain, cases)):.1f} %, of the critical path {share}"


def lines_of(cases: list[Case]) -> list[str]:
    lines = [
        f"all: {medians(cases)}",
        f"where overlap could save more than {100 * WORTH_WHILE:.0f} %: {medians([case for case in cases if could_save(case) > WORTH_WHILE])}",
    ]
    return lines + [f"counted twice: {name}" for name in counted_twice(cases)]


def main(files: list[str]) -> int:
    if not files or files[0].startswith("-"):
        print(__doc__, file=sys.stderr)
        return 2
    for file in files:
        try:
            document = json.loads(packed.read(Path(file)))
            if document["schema"] != "elbowroom.tune/1":
                raise ValueError(f"schema {document['schema']}")
            lines = lines_of(document["cases"])
        except (OSError, ValueError, KeyError, TypeError) as error:
            print(f"gains: {file}: {error!r}, expected a document of elbowroom tune --json", file=sys.stderr)
            return 2
        print("\n".join([f"{Path(file).name} ({document['provenance']})", *(f"  {line}" for line in lines)]))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
