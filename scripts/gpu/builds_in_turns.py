#!/usr/bin/env python3
"""Programs under two builds of `elbowroom run` and without any, launch by launch in turns, on the same two GPUs.

usage: scripts/gpu/builds_in_turns.py --before PROGRAM --after PROGRAM [--raw EXAMPLE] [--launches 6] [--seconds 400] [--json FILE] [--policies gate,auto]
       scripts/gpu/builds_in_turns.py --before PROGRAM --after PROGRAM --programs ddp,fsdp2 [...]      those of the yardstick
       scripts/gpu/builds_in_turns.py --before PROGRAM --after PROGRAM --command NAME=COMMAND --step REGEX [...]      a program of others

The loops of examples/pytorch run in one process (`suite.py`), raw_overlap in one of its own. Printed are, for each program and policy, medians of
launches and the ratio of after to before with the 95 % interval of Student's t over the logarithms of launches; digests must be equal in all launches.
Exit code 1 where a launch failed or a digest differs.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import statistics
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import launched
from two_builds import interval

sys.path.insert(0, str(launched.REPOSITORY / "scripts" / "yardstick"))

import catalog  # noqa: E402
import launches  # noqa: E402

LOOPS = "overlap_loop,free_loop"


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--before", required=True)
    parser.add_argument("--after", required=True)
    parser.add_argument("--raw", default="")
    parser.add_argument("--policies", default="gate,auto", help="options may follow: auto+--profile=FILE")
    parser.add_argument("--programs", default="", help=f"some of {', '.join(catalog.NAMES)}, in the place of the loops")
    parser.add_argument("--command", action="append", default=[], help="NAME=COMMAND of a program of others, in the place of the loops")
    parser.add_argument("--step", default="", help="what it prints of a step: an expression with (?P<ms>...) or (?P<per_second>...)")
    parser.add_argument("--skip", type=int, default=0, help="steps at its begin that do not count")
    parser.add_argument("--launches", type=int, default=6)
    parser.add_argument("--steps", type=int, default=40)
    parser.add_argument("--warm-up", type=int, default=200, help="long enough for `auto` to decide")
    parser.add_argument("--seconds", type=float, default=400, help="no launch begins after these")
    parser.add_argument("--timeout", type=float, default=90)
    parser.add_argument("--json", default="")
    return parser.parse_args()


def programs(options: argparse.Namespace) -> dict[str, list[str]]:
    steps = ["--mode", "plain", "--steps", str(options.steps), "--warm-up", str(options.warm_up)]
    examples = launched.REPOSITORY / "examples" / "pytorch"
    found = {"loops": [sys.executable, str(examples / "launch.py"), "-n", "2", str(examples / "suite.py"), "--examples", LOOPS, "--rounds", "1", *steps]}
    if options.raw:
        found["raw_overlap"] = [options.raw, *steps]
    return found


def launch(command: list[str], build: str, policy: str, timeout: float) -> list[dict[str, Any]]:
    """One row for each example that the process ran."""
    environment = dict(os.environ, NCCL_NVLS_ENABLE="0")
    done = launched.run([build, "run", *(catalog.run_arm(f"--policy={policy}").elbowroom or ()), "--", *command] if build else command, environment, timeout)
    if done.code != 0:
        return [{"code": done.code, "errors": done.errors[-1500:]}]
    rows = []
    for line in filter(lambda text: text.startswith("{"), done.output.splitlines()):
        found = json.loads(line)
        plain = found["modes"]["plain"]
        times = [value for row in plain["ms"] for value in (row if isinstance(row, list) else [row])]
        rows.append({"code": 0, "example": found["example"], "ms": statistics.median(times), "digest": plain["digest"]})
    closing = [line for line in done.errors.splitlines() if line.startswith("elbowroom: ")][-1:]
    return [row | {"closing": closing} for row in rows]


def trained(program: catalog.Program, build: str, policy: str, options: argparse.Namespace) -> list[dict[str, Any]]:
    """A program of the yardstick. Its sums may differ in their last bits, so that its loss is kept and no digest."""
    plan = launches.Plan(build, options.raw, 2, options.steps, options.warm_up, options.timeout, options.skip)
    arm = catalog.Arm(catalog.PLAIN, "plain") if not build else catalog.run_arm(f"--policy={policy}")
    record = launches.launch(program, arm, plan, False, None)
    if "steps_ms" not in record:
        return [{"code": 1, "errors": record.get("failure", record.get("skipped", ""))}]
    return [{"code": 0, "example": program.name, "ms": statistics.median(record["steps_ms"]), "loss": record.get("loss"), "digest": ""}]


def change(before: list[float], after: list[float]) -> str:
    logs = [math.log(b / a) for a, b in zip(before, after, strict=False)]
    middle = statistics.median(after) / statistics.median(before) - 1
    if len(logs) < 3:
        return f"{100 * middle:+.1f} %"
    low, high = interval(logs)
    return f"{100 * middle:+.1f} % ({100 * math.expm1(low):+.1f}..{100 * math.expm1(high):+.1f})"


def main() -> int:
    options = parse()
    arms = [("plain", "", "")] + [(f"{name} {policy}", build, policy) for policy in options.policies.split(",") for name, build in (("before", options.before), ("after", options.after))]
    begin, results = time.monotonic(), []
    others = [catalog.given(text, options.step) for text in options.command] + (catalog.chosen(options.programs) if options.programs else [])
    how: dict[str, Callable[[str, str], list[dict[str, Any]]]] = {one.name: partial(trained, one, options=options) for one in others}
    how = how or {name: partial(launch, command, timeout=options.timeout) for name, command in programs(options).items()}
    for number in range(options.launches):
        for program, start in how.items():
            for arm, build, policy in arms if number % 2 == 0 else reversed(arms):
                if time.monotonic() - begin > options.seconds:
                    break
                rows = start(build, policy)
                results += [{"program": row.get("example", program), "arm": arm, "launch": number} | row for row in rows]
                print(f"{arm:14}", *(f"{row.get('example', program)} {row.get('ms', row['code'])}" for row in rows), flush=True)
                if options.json:
                    Path(options.json).write_text(json.dumps(results, indent=1) + "\n")
    failed = any(row["code"] for row in results)
    for program in dict.fromkeys(row["program"] for row in results if "ms" in row):
        rows = [row for row in results if row["program"] == program and "ms" in row]
        times = {arm: [row["ms"] for row in rows if row["arm"] == arm] for arm, _, _ in arms}
        if len({row["digest"] for row in rows}) > 1:
            print(f"{program}: digests differ")
            failed = True
        plain = statistics.median(times["plain"])
        for policy in options.policies.split(","):
            before, after = times[f"before {policy}"], times[f"after {policy}"]
            if before and after:
                changes = [f"{100 * (statistics.median(some) / plain - 1):+.1f} %" for some in (before, after)]
                print(f"{program} {policy}: plain {plain:.3f}, before {changes[0]}, after {changes[1]}; after against before {change(before, after)}, {min(len(before), len(after))} launches")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
