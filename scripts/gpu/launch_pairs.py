#!/usr/bin/env python3
"""What a launch costs more under builds of `elbowroom run` at rest: `launch_pairs.cu` alone and under each, in turns.

usage: scripts/gpu/launch_pairs.py --build NAME=PROGRAM [--build NAME=PROGRAM...] [--rounds 8] [--kib 0,256] [--json FILE]

Within each process the function that the program finds is compared with the driver's own, launch by launch. Printed is that difference, in nanoseconds:
the median of processes, and the 95 % interval of Student's t. Needs nvcc, one GPU. `at_rest` is the least share of a process's launches that rested.
Exit code 1 where a process failed.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from two_builds import interval

SOURCE = Path(__file__).with_suffix(".cu")


def build(folder: str) -> str:
    program = f"{folder}/launch_pairs"
    subprocess.run(["nvcc", "-O2", "-std=c++17", "-o", program, str(SOURCE), "-lcuda"], check=True)
    return program


def measure(program: str, elbowroom: str, offset: str, kib: str, folder: str) -> dict:
    report = Path(folder) / "report.json"
    under = [elbowroom, "run", "--no-memory", "--quiet", "--report", str(report), "--"] if elbowroom else []
    done = subprocess.run([*under, program, offset, kib], capture_output=True, text=True, timeout=60, check=False)
    if done.returncode:
        return {"code": done.returncode, "errors": done.stderr[-500:]}
    found, own = map(float, done.stdout.split())
    row = {"code": 0, "found_ns": found, "own_ns": own}
    if elbowroom:
        launches = json.loads(report.read_text())["total"]["launches"]
        row["at_rest"] = launches["at_rest"] / launches["total"]
    return row


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", action="append", required=True, metavar="NAME=PROGRAM")
    parser.add_argument("--rounds", type=int, default=8)
    parser.add_argument("--kib", default="0,256", help="of other memory that is read before each launch")
    parser.add_argument("--json", default="")
    options = parser.parse_args()
    arms = {"alone": ""} | dict(one.split("=", 1) for one in options.build)
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        program = build(folder)
        offset = subprocess.run([program, "--offset"], capture_output=True, text=True, check=True).stdout.strip()
        for number in range(options.rounds):
            for kib in options.kib.split(","):
                for arm in list(arms)[:: 1 if number % 2 == 0 else -1]:
                    rows.append({"arm": arm, "kib": kib} | measure(program, arms[arm], offset, kib, folder))
    for kib in options.kib.split(","):
        for arm in arms:
            chosen = [row for row in rows if (row["arm"], row["kib"]) == (arm, kib) and not row["code"]]
            more = [row["found_ns"] - row["own_ns"] for row in chosen]
            if len(more) > 2:
                low, high = interval(more)
                rested = f", at rest {min(row['at_rest'] for row in chosen):.2f}" if arm != "alone" else ""
                own = statistics.median(row["own_ns"] for row in chosen)
                print(f"# {kib:>4} KiB {arm:8} {statistics.median(more):+6.1f} ns ({low:+.1f}..{high:+.1f}) of {own:.0f}{rested}, {len(more)} processes")
    if options.json:
        Path(options.json).write_text(json.dumps(rows, indent=1) + "\n")
    return 1 if any(row["code"] for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
