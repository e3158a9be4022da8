#!/usr/bin/env python3
"""Whether two builds of `elbowroom` measure the same: `bench` of one suite by both in turns, on one machine.

usage: scripts/gpu/two_builds.py BEFORE AFTER [--suite quick] [--rounds 5] [--seconds 240] [--json FILE] [BENCH OPTION...]

Machines of one model differ by more than trials of one process do, so that recorded pages tell builds apart only roughly. Printed is, for each
case and scheme, the ratio of medians of rounds, after over before: median, and 95 % interval of Student's t over rounds. Rounds whose plans differ
are left out, and counted. Exit code 1 where an interval lies as a whole beyond 1 %.
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

T_975 = {2: 4.303, 3: 3.182, 4: 2.776, 5: 2.571, 6: 2.447, 7: 2.365, 8: 2.306, 9: 2.262}  # two-sided 95 %, by degrees of freedom
BOUND = 0.01

Times = dict[str, tuple[str, float]]


def bench(program: str, suite: str, options: list[str]) -> Times:
    """By "case scheme": the plan, as text, and the median in microseconds."""
    with tempfile.TemporaryDirectory() as folder:
        result = Path(folder) / "result.json"
        done = subprocess.run([program, "bench", "--suite", suite, "--json", str(result), *options], capture_output=True, text=True, check=False)
        if done.returncode:
            sys.exit(f"{program} bench: exit {done.returncode}\n{done.stderr.strip()[-2000:]}")
        cases = json.loads(result.read_text(encoding="utf-8"))["cases"]
    found: Times = {}
    for case in cases:
        name = case.get("name") or case["scenario"]["name"]
        for one in case["results"]:
            found[f"{name} {one['scheme']}"] = (json.dumps(one["plan"].get("blocks_per_sm")), one["time_us"]["median"])
    return found


def interval(logs: list[float]) -> tuple[float, float]:
    """Student's t, 95 %, about the mean of three values or more."""
    reach = T_975[min(len(logs) - 1, max(T_975))] * statistics.stdev(logs) / math.sqrt(len(logs))
    return statistics.fmean(logs) - reach, statistics.fmean(logs) + reach


def compared(rounds: list[tuple[Times, Times]]) -> list[dict]:
    rows = []
    for name in rounds[0][0]:
        both = [(before[name], after[name]) for before, after in rounds if name in before and name in after]
        same = [math.log(after[1] / before[1]) for before, after in both if before[0] == after[0]]
        row: dict = {"name": name, "rounds": len(same), "other_plans": len(both) - len(same)}
        if same:
            row["ratio"] = math.exp(statistics.median(same))
        if len(same) > 2:
            low, high = interval(same)
            row |= {"low": math.exp(low), "high": math.exp(high)}
        rows.append(row)
    return rows


def apart(row: dict) -> bool:
    return "low" in row and (row["low"] > 1 + BOUND or row["high"] < 1 - BOUND)


def said(row: dict) -> str:
    if "ratio" not in row:
        return f"{row['name']}: plans differ in all {row['other_plans']} rounds"
    text = f"{row['name']}: {row['ratio']:.4f}"
    if "low" in row:
        text += f" ({row['low']:.4f}..{row['high']:.4f})"
    return text + f", {row['rounds']} rounds" + (f", {row['other_plans']} with other plans" if row["other_plans"] else "") + (" APART" if apart(row) else "")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("before")
    parser.add_argument("after")
    parser.add_argument("--suite", default="quick")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=240, help="no round begins after these")
    parser.add_argument("--json", default="")
    options, more = parser.parse_known_args()
    begin, rounds = time.monotonic(), []
    for number in range(options.rounds):
        if time.monotonic() - begin > options.seconds:
            break
        order = (options.before, options.after) if number % 2 == 0 else (options.after, options.before)
        measured = {program: bench(program, options.suite, more) for program in order}
        rounds.append((measured[options.before], measured[options.after]))
    rows = compared(rounds)
    print("\n".join(said(row) for row in rows))
    if options.json:
        Path(options.json).write_text(json.dumps({"suite": options.suite, "options": more, "rows": rows, "rounds": rounds}, indent=1) + "\n", encoding="utf-8")
    return 1 if any(apart(row) for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
