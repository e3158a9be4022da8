#!/usr/bin/env python3
"""What ranks of a job can meet, under `elbowroom run` and without it: nothing may hang, no sum may be wrong. Each case is a launch of its own by
torchrun; the program alone says how it has to end. Prints one JSON line for each launch.

usage: scripts/gpu/rank_trouble.py --elbowroom PROGRAM [--cases late,killed] [--launches 1] [--seconds 420] [--timeout 100] [--json FILE]

Two ranks. On a machine with one GPU they share it, as two hosts to NCCL. Exit code 1 where a launch hung, a sum was wrong, or a launch under `run` ended in another way than the program alone.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import launched

# A process group that lost a peer ends its process at once, and not after a minute of gathering what the others were doing.
ALWAYS = {"NCCL_NVLS_ENABLE": "0", "TORCH_SYMM_MEM_DISABLE_MULTICAST": "1", "OMP_NUM_THREADS": "1", "TORCH_NCCL_ENABLE_MONITORING": "0",
          "TORCH_NCCL_DUMP_ON_TIMEOUT": "0"}
PROGRAM = Path(__file__).resolve().parent / "rank_trouble_cases.py"
AT_ONCE = 4  # launches side by side
RANKS = 2


@dataclass(frozen=True)
class Case:
    """`ends`: that the job ends well. `attempts`: what torchrun may start. `under`: more arguments of `elbowroom run`."""

    ends: bool = True
    attempts: int = 1
    environment: dict[str, str] = field(default_factory=dict)
    under: tuple[str, ...] = ()


CASES = {
    "loop": Case(),
    "late": Case(),
    "killed": Case(ends=False),
    "ended_early": Case(ends=False),
    "raises": Case(ends=False),
    "elastic": Case(attempts=2),
    "one_connection": Case(environment={"CUDA_DEVICE_MAX_CONNECTIONS": "1"}),
    "communicators": Case(),
    "grouped": Case(),
    "remade": Case(),
    "captured": Case(),
    "spinning": Case(),
    "spinning_named": Case(under=("--communication", "wait_for_peer")),
}


def arms(elbowroom: str) -> dict[str, list[str]]:
    return {
        "alone": [],
        "run": [elbowroom, "run", "--no-memory"],
        "gate": [elbowroom, "run", "--no-memory", "--policy", "gate"],
    }


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--elbowroom", default="elbowroom")
    parser.add_argument("--cases", default="")
    parser.add_argument("--launches", type=int, default=1, help="of each case in each arm")
    parser.add_argument("--seconds", type=float, default=420, help="no launch begins after these")
    parser.add_argument("--timeout", type=float, default=100, help="of one launch, in seconds")
    parser.add_argument("--device", choices=("cuda", "cpu"), default="cuda")
    parser.add_argument("--json", default="")
    options = parser.parse_args()
    options.cases = options.cases.split(",") if options.cases else list(CASES)
    for name in options.cases:
        if name not in CASES:
            parser.error(f"--cases: '{name}', expected some of {', '.join(CASES)}")
    return options


def launch(name: str, arm: str, prefix: list[str], options: argparse.Namespace) -> dict[str, Any]:
    case = CASES[name]
    environment = os.environ | ALWAYS | case.environment
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        under = [*prefix, *case.under, "--report", str(report), "--"] if prefix else []
        torchrun = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", str(RANKS)]
        torchrun += ["--max-restarts", str(case.attempts - 1)]
        begin = time.monotonic()
        done = launched.run([*under, *torchrun, str(PROGRAM), name, options.device], environment, options.timeout)
        result = {"case": name, "arm": arm, "code": done.code, "seconds": round(time.monotonic() - begin, 1)}
        result["ranks"] = [json.loads(line) for line in done.output.splitlines() if line.startswith('{"rank"')]
        result["reason"] = judged(case, done, result["ranks"])
        if result["reason"]:
            result["errors"] = done.errors[-20000:]
        if report.exists():
            total = json.loads(report.read_text())["total"]
            result["launches"] = total["launches"]
        result["said"] = [line for line in done.errors.splitlines() if line.startswith("elbowroom: ")][:4]
        return result


def judged(case: Case, done: launched.Done, ranks: list[dict[str, Any]]) -> str:
    """Empty, or why the launch failed."""
    if done.code == launched.TIMED_OUT:
        return "it hung"
    if any(rank["wrong"] for rank in ranks):
        return f"wrong sums: {[rank['wrong'] for rank in ranks]}"
    if case.ends != (done.code == 0):
        return f"exit code {done.code}"
    if case.ends and len(ranks) != RANKS:
        return f"{len(ranks)} of {RANKS} ranks came to the end"
    return ""


def main() -> int:
    options = arguments()
    begin, results = time.monotonic(), []

    def one(pair: tuple[str, str]) -> None:
        name, arm = pair
        if time.monotonic() - begin > options.seconds:
            result: dict[str, Any] = {"case": name, "arm": arm, "reason": f"not begun: {options.seconds:.0f} s were over"}
        else:
            result = launch(name, arm, arms(options.elbowroom)[arm], options)
        results.append(result)
        print(json.dumps(result), flush=True)

    with ThreadPoolExecutor(AT_ONCE) as pool:
        list(pool.map(one, [(name, arm) for name in options.cases for arm in arms(options.elbowroom)] * options.launches))
    return launched.closing(results, sum(not result["reason"] for result in results), "launches", begin, options.json)


if __name__ == "__main__":
    sys.exit(main())
