#!/usr/bin/env python3
"""What `auto` decides where its arms act and are equal: launches of a program that computes next to nothing beside its collectives.

usage: scripts/gpu/equal_arms.py --elbowroom PROGRAM [--launches 10] [--at-once 1] [--seconds 420] [--timeout 100] [--json FILE]

Two ranks take turns between a product and an all-reduce, beside which one kernel of one block runs. A launch passes where every process has compared an arm and ends with the program as it is. On a machine with one GPU the ranks share it, as two hosts to
NCCL; --at-once then lets launches disturb one another. Needs PyTorch. Prints a JSON line for each launch. Exit code 1 where fewer than 95 % pass.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import launched

LAUNCHER = Path(__file__).resolve().parent.parent.parent / "examples" / "pytorch" / "launch.py"
COLLECTIVES = 6  # what `auto` takes together as a step at least
ELEMENTS, WIDTH = 1 << 18, 2048
ENOUGH = 0.95


def work(steps: int) -> None:
    """One rank."""
    import torch
    import torch.distributed as dist

    device = launched.own_device(int(os.environ["RANK"]), torch)
    torch.cuda.set_device(device)
    dist.init_process_group("nccl", device_id=torch.device("cuda", device))
    left = torch.ones(WIDTH, WIDTH, device="cuda", dtype=torch.bfloat16)
    summed = torch.ones(ELEMENTS, device="cuda")
    few = torch.ones(32, device="cuda")
    for _ in range(steps * COLLECTIVES):
        left = (left @ left).clamp_(0, 1)
        reducing = dist.all_reduce(summed, async_op=True)
        few.neg_()
        reducing.wait()
    torch.cuda.synchronize()
    dist.destroy_process_group()


def launch(options: argparse.Namespace) -> dict:
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        under = [options.elbowroom, "run", "--no-memory", "--same-bits", "--report", str(report), "--"]
        worker = [__file__, "--work", "--steps", str(options.steps)]
        begin = time.monotonic()
        done = launched.run([*under, sys.executable, str(LAUNCHER), "-n", "2", *worker], os.environ, options.timeout)
        result = {"code": done.code, "seconds": round(time.monotonic() - begin, 1)}
        if done.code:
            result["errors"] = done.errors[-2000:]
        if report.exists():
            trials = [process.get("ab", {}) for process in json.loads(report.read_text())["processes"]]
            result["trials"] = [{"arm": trial["arm"], "arms": trial["arms"]} for trial in trials if trial.get("decisions")]
        result["said"] = [line for line in done.errors.splitlines() if line.startswith("elbowroom run: ")]
        trials = result.get("trials", [])
        compared = bool(trials) and all(len(trial["arms"]) > 1 for trial in trials)
        result["passes"] = done.code == 0 and compared and all(trial["arm"] == "plain" for trial in trials)
        print(json.dumps(result), flush=True)
        return result


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--elbowroom", default="elbowroom")
    parser.add_argument("--launches", type=int, default=10)
    parser.add_argument("--at-once", type=int, default=1, help="launches side by side")
    parser.add_argument("--seconds", type=float, default=420, help="no launch begins after these")
    parser.add_argument("--timeout", type=float, default=100, help="of one launch, in seconds")
    parser.add_argument("--steps", type=int, default=400)
    parser.add_argument("--json", default="")
    parser.add_argument("--work", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.work:
        work(options.steps)
        return 0
    begin = time.monotonic()
    with ThreadPoolExecutor(options.at_once) as pool:
        left = [pool.submit(lambda: launch(options) if time.monotonic() - begin < options.seconds else None) for _ in range(options.launches)]
        results = [result for result in (one.result() for one in left) if result]
    passed = sum(result["passes"] for result in results)
    launched.closing(results, passed, "launches", begin, options.json)
    return 0 if len(results) == options.launches and passed >= ENOUGH * len(results) else 1


if __name__ == "__main__":
    sys.exit(main())
