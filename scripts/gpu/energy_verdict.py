#!/usr/bin/env python3
"""Reads what scripts/gpu/energy.sh measured: how far apart the repeats lie, how far the counter is from the power samples, the table of
schemes by time and joules, and what `tune` chose. Exit code 1 where repeats are further apart than 2 % or counter and power than 5 %.

usage: scripts/gpu/energy_verdict.py FOLDER
"""

from __future__ import annotations

import json
import statistics
import sys
from pathlib import Path
from typing import Any

MOST_SPREAD = 0.02
MOST_DISAGREEMENT = 0.05


def results(path: Path) -> list[tuple[str, dict[str, Any]]]:
    """Each scheme that has joules, with its case."""
    cases = json.loads(path.read_text())["cases"]
    for case in cases:
        if "no_energy" in case:
            print(f"{path.name}: no energy: {case['no_energy']}")
    return [(case["scenario"]["name"], result) for case in cases for result in case["results"] if "energy" in result]


def searched(case: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    """The schedules of which a search with an energy objective measured joules, in the form of results()."""
    name = case["scenario"]["name"]
    rows = [one for one in case["afresh"] if "energy" in one]
    return [(name, {"scheme": one["schedule"], "time_us": {"median": statistics.median(one["times_us"])}, "energy": one["energy"]}) for one in rows]


def spread(repeats: list[list[tuple[str, dict[str, Any]]]]) -> bool:
    if not repeats:
        print("repeats: none")
        return True
    joules: dict[str, list[float]] = {}
    for name, result in (row for rows in repeats for row in rows):
        joules.setdefault(f"{name} {result['scheme']}", []).append(result["energy"]["joules"])
    good = bool(joules)
    for label, values in joules.items():
        apart = max(values) / min(values) - 1
        good &= len(values) >= 5 and apart <= MOST_SPREAD
        print(f"repeats of {label}: {', '.join(f'{value:.4g}' for value in values)} J, {100 * apart:.2f} % apart")
    return good


def agreement(rows: list[tuple[str, dict[str, Any]]]) -> bool:
    ratios = [ratio for _, result in rows if (ratio := result["energy"]["counter_over_power"]) is not None]
    if not ratios:
        print("counter / power: no power samples")
        return False
    print(f"counter / power: {min(ratios):.4f} to {max(ratios):.4f} in {len(ratios)} spans")
    return max(abs(ratio - 1) for ratio in ratios) <= MOST_DISAGREEMENT


def table(rows: list[tuple[str, dict[str, Any]]]) -> None:
    print("\n| case | scheme | time (ms) | J per iteration | interval (J) | idle (J) | ends off by (%) | clocks fell by |")
    print("| --- | --- | ---: | ---: | ---: | ---: | ---: | --- |")
    for name, result in rows:
        energy = result["energy"]
        fell = ", ".join(energy["clocks_fell_by"]) or "-"
        print(
            f"| {name} | {result['scheme']} | {result['time_us']['median'] / 1000:.3f} | {energy['joules']:.4g} | {energy['low']:.4g}..{energy['high']:.4g} "
            f"| {energy['idle_joules']:.4g} | {100 * energy['resolution']:.2f} | {fell} |"
        )


def main() -> int:
    folder = Path(sys.argv[1])
    repeats = [results(path) for path in sorted(folder.glob("repeat-*.json"))]
    rows = [row for path in sorted(folder.glob("table-*.json")) for row in results(path)]
    tuned = [case for path in folder.glob("tune.json") for case in json.loads(path.read_text())["cases"]]
    good = spread(repeats) & agreement([row for one in [*repeats, rows, *map(searched, tuned)] for row in one])
    table(rows)
    for case in tuned:
        table(searched(case))
        print(f"tune: {case['reason']}")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
