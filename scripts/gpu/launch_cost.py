#!/usr/bin/env python3
"""What a kernel launch of a PyTorch program costs more under `elbowroom run`, by the program's own clock: launches of programs in turns.

usage: scripts/gpu/launch_cost.py --elbowroom PROGRAM [--launches 5] [--seconds 225] [--json FILE]

Two ranks launch small kernels, faster than their GPU waits for anything else: some with no collective under way (outside), some while an
all-reduce runs (inside). The arms are the program alone, under `--policy gate`, which follows every launch, and under `auto`, which has
ended its comparisons by then and rests. A figure is the median over launches of the median time of one PyTorch operation, in us.
Needs two GPUs. Exit code 1 where a launch failed.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import tempfile
import time
from pathlib import Path

import launched

LAUNCHER = Path(__file__).resolve().parent.parent.parent / "examples" / "pytorch" / "launch.py"
OUTSIDE, INSIDE = 1000, 200  # launches in a step; those inside must end before the all-reduce does
REDUCED = 1 << 29  # elements of bf16: 1 GiB, about 4 ms


def pin(rank: int) -> None:
    """Processes differ by a third in what a launch takes them, by the core that they come to."""
    cores = sorted(os.sched_getaffinity(0))
    os.sched_setaffinity(0, {cores[(2 * rank + 1) * len(cores) // 4]})


def work(steps: int, warm_up: int) -> None:
    """One rank."""
    import torch
    import torch.distributed as dist

    rank = int(os.environ["RANK"])
    torch.cuda.set_device(rank)
    dist.init_process_group("nccl", device_id=torch.device("cuda", rank))
    pin(rank)
    small = torch.zeros(64, device="cuda")
    large = torch.zeros(REDUCED, device="cuda", dtype=torch.bfloat16)

    def launches(count: int) -> float:
        begin = time.perf_counter()
        for _ in range(count):
            small.add_(1.0)
        return 1e6 * (time.perf_counter() - begin) / count

    times: dict[str, list[float]] = {"outside": [], "inside": []}
    missed = 0
    for step in range(warm_up + steps):
        torch.cuda.synchronize()
        outside = launches(OUTSIDE)
        torch.cuda.synchronize()
        reducing = dist.all_reduce(large, async_op=True)
        inside = launches(INSIDE)
        missed += step >= warm_up and reducing.is_completed()
        reducing.wait()
        if step >= warm_up:
            times["outside"].append(outside)
            times["inside"].append(inside)
    torch.cuda.synchronize()
    line = json.dumps({"rank": rank, "missed": missed} | {where: statistics.median(of) for where, of in times.items()})
    os.write(sys.stdout.fileno(), f"{line}\n".encode())  # in one piece: the other rank writes to the same place
    dist.destroy_process_group()


def arms(elbowroom: str) -> dict[str, list[str]]:
    return {
        "alone": [],
        "following": [elbowroom, "run", "--no-memory", "--quiet", "--policy", "gate"],
        "rest": [elbowroom, "run", "--no-memory", "--quiet"],
    }


def launch(options: argparse.Namespace, arm: str, prefix: list[str]) -> dict:
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        under = [*prefix, "--report", str(report), "--"] if prefix else []
        command = [*under, sys.executable, str(LAUNCHER), "-n", "2", __file__, "--work", "--steps", str(options.steps), "--warm-up", str(options.warm_up)]
        done = launched.run(command, os.environ, options.timeout)
        rows = [json.loads(line) for line in done.output.splitlines() if line.startswith("{")]
        result = {"arm": arm, "code": done.code, "ranks": rows}
        if done.code:
            result["errors"] = done.errors[-2000:]
        if report.exists():
            total = json.loads(report.read_text())["total"]
            result |= {"overhead": total["overhead"], "launches": total["launches"]}
        return result


def summary(results: list[dict]) -> None:
    for where in ("outside", "inside"):
        of = {arm: sorted(row[where] for result in results if result["arm"] == arm for row in result["ranks"]) for arm in arms("")}
        if not all(of.values()):
            continue
        alone = statistics.median(of["alone"])
        for arm, times in of.items():
            print(f"# {where:8} {arm:10} {statistics.median(times):.3f} us ({times[0]:.3f}..{times[-1]:.3f}, {len(times)} ranks) {statistics.median(times) - alone:+.3f}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--elbowroom", default="elbowroom")
    parser.add_argument("--launches", type=int, default=5, help="of each arm")
    parser.add_argument("--seconds", type=float, default=225, help="no launch begins after these")
    parser.add_argument("--timeout", type=float, default=60, help="of one launch, in seconds")
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--warm-up", type=int, default=150, help="steps before them, in which `auto` compares")
    parser.add_argument("--json", default="")
    parser.add_argument("--work", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.work:
        work(options.steps, options.warm_up)
        return 0
    begin, results = time.monotonic(), []
    for _ in range(options.launches):
        for arm, prefix in arms(options.elbowroom).items():
            if time.monotonic() - begin < options.seconds:
                results.append(launch(options, arm, prefix))
                print(json.dumps(results[-1]), flush=True)
    summary(results)
    if options.json:
        Path(options.json).write_text(json.dumps(results, indent=1))
    return 1 if any(result["code"] for result in results) else 0


if __name__ == "__main__":
    sys.exit(main())
