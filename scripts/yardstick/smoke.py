"""Every arm of every program once, with a few steps, several at a time: what crashes or hangs shows before anything is measured."""

from __future__ import annotations

import argparse
import dataclasses
import json
import statistics
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import catalog
import launches

STEPS = {"steps": 5, "warm_up": 5}
# All programs as they are first, then what is ours, then the rest.
SLACK_SECONDS = 25  # a launch that hangs is stopped so long after the time is over
ARMS = (catalog.PLAIN, catalog.RUN, catalog.OWN, catalog.LOCAL)

Case = tuple[catalog.Program, catalog.Arm]


def kinds_of(text: str) -> tuple[str, ...]:
    """Some of ARMS by comma; all of them for an empty text."""
    kinds = tuple(text.split(",")) if text else ARMS
    for kind in kinds:
        if kind not in ARMS:
            raise ValueError(f"--arms: '{kind}', expected some of {', '.join(ARMS)}")
    return kinds


def cases(programs: Sequence[catalog.Program], plan: launches.Plan, variants: Sequence[str], kinds: Sequence[str]) -> list[Case]:
    runnable = [program for program in programs if not launches.reason_not_to_run(program, plan)]
    arms = {program.name: catalog.arms_of(program, "", variants) for program in runnable}
    return [(program, arm) for kind in kinds for program in runnable for arm in arms[program.name] if arm.name.split(" ")[0] == kind]


def outcome(record: launches.Record) -> str:
    if "steps_ms" in record:
        memory = f", {record['peak_gib']} GiB" if "peak_gib" in record else ""
        return f"ok      {statistics.median(record['steps_ms']):9.2f} ms{memory}"
    return f"skipped {record['skipped']}" if "skipped" in record else f"FAILED  {record['failure']}"


def run(plan: launches.Plan, programs: Sequence[catalog.Program], options: argparse.Namespace, ends_at: float) -> int:
    """Prints a line for each launch; its times mean nothing, launches share the GPUs. Exit code 1 when one failed."""
    short = dataclasses.replace(plan, **STEPS)
    records: list[launches.Record] = []

    def one(case: Case) -> None:
        program, arm = case
        left = ends_at - time.monotonic()
        if left <= 0:
            return
        bounded = dataclasses.replace(short, timeout=min(plan.timeout, left + SLACK_SECONDS))
        record = launches.launch(program, arm, bounded, traced=program.traced and arm.name == catalog.PLAIN, counter=None)
        records.append(record)
        print(f"{record['seconds']:6.1f} s  {program.name:18} {arm.name:8} {outcome(record)}", flush=True)

    todo = cases(programs, plan, options.run or [""], kinds_of(options.arms))
    with ThreadPoolExecutor(options.jobs) as workers:
        list(workers.map(one, todo))
    if options.json:
        Path(options.json).write_text(json.dumps(records, indent=1) + "\n", encoding="utf-8")
    failed = [record for record in records if "failure" in record]
    for record in failed:
        print(f"\n== {record['program']}, {record['arm']}: {' '.join(record['command'])}\n{record['stderr']}")
    print(f"\n{len(records)} of {len(todo)} launched, {len(failed)} failed")
    return 1 if failed else 0
