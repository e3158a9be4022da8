#!/usr/bin/env python3
"""How many launches wait for a collective's begin under two builds of `elbowroom run --policy gate`, and why the others do not.

usage: scripts/gpu/gates_of_builds.py --before PROGRAM --after PROGRAM [--programs loop,ddp] [--rounds 2] [--seconds 420] [--steps 60] [--json FILE]

Two ranks run small programs that differ in how far the host is ahead of its GPU, in turns under both builds. On a machine with one GPU the ranks
share it, as two hosts to NCCL: what is counted is as on two, step times are not. Needs PyTorch. Prints a JSON line for each launch, and for each
program and build the medians of launches. Exit code 1 where a launch failed or the later build sets no gate where the earlier one sets some.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import launched

LAUNCHER = launched.REPOSITORY / "examples" / "pytorch" / "launch.py"
LAYERS, WIDTH, ROWS = 8, 1024, 1 << 14
ELEMENTS = 1 << 22  # of an all-reduce, in bf16: 8 MiB
BUCKET_MIB = 8

Step = Callable[[int], None]


def loop(torch: Any, waits: bool) -> Step:
    """Layers that each hide an all-reduce, one in flight at a time. `waits`: the host does so for its GPU after each step."""
    inputs = torch.randn(ROWS, WIDTH, device="cuda", dtype=torch.bfloat16)
    weights = [torch.randn(WIDTH, WIDTH, device="cuda", dtype=torch.bfloat16) / 32 for _ in range(LAYERS)]
    buffers = [torch.zeros(ELEMENTS, device="cuda", dtype=torch.bfloat16) for _ in range(LAYERS)]

    def step(_number: int) -> None:
        values, last = inputs, None
        for weight, buffer in zip(weights, buffers, strict=True):
            values = torch.nn.functional.gelu(values @ weight)
            if last is not None:
                last.wait()
            last = torch.distributed.all_reduce(buffer, async_op=True)
        last.wait()
        if waits:
            torch.cuda.synchronize()

    return step


def ddp(torch: Any, rows: int, logged: int) -> Step:
    """`logged`: the host reads the loss every so many steps, and waits for its GPU with it."""
    layers = [layer for _ in range(LAYERS) for layer in (torch.nn.Linear(WIDTH, WIDTH), torch.nn.GELU())]
    model = torch.nn.parallel.DistributedDataParallel(torch.nn.Sequential(*layers).cuda(), bucket_cap_mb=BUCKET_MIB)
    optimizer = torch.optim.SGD(model.parameters(), lr=1e-4)
    inputs = torch.randn(rows, WIDTH, device="cuda")

    def step(number: int) -> None:
        loss = model(inputs).square().mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        if number % logged == 0:
            loss.item()

    return step


PROGRAMS: dict[str, Callable[[Any], Step]] = {
    "loop": lambda torch: loop(torch, waits=False),
    "loop_waits": lambda torch: loop(torch, waits=True),
    "ddp": lambda torch: ddp(torch, ROWS, logged=1),
    "ddp_logs": lambda torch: ddp(torch, ROWS, logged=10),
    "ddp_few_rows": lambda torch: ddp(torch, 256, logged=1),
}


def work(name: str, steps: int) -> None:
    """One rank."""
    import torch
    import torch.distributed as dist

    rank = int(os.environ["RANK"])
    device = launched.own_device(rank, torch)
    torch.cuda.set_device(device)
    dist.init_process_group("nccl", device_id=torch.device("cuda", device))
    step, times = PROGRAMS[name](torch), []
    for number in range(steps):
        begin = time.perf_counter()
        step(number)
        times.append(1e3 * (time.perf_counter() - begin))
    torch.cuda.synchronize()
    os.write(sys.stdout.fileno(), f"{json.dumps({'rank': rank, 'host_ms': statistics.median(times)})}\n".encode())
    dist.destroy_process_group()


def launch(options: argparse.Namespace, name: str, build: str) -> dict:
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        under = [build, "run", "--no-memory", "--quiet", "--policy", "gate", "--report", str(report), "--"]
        worker = [__file__, "--work", name, "--steps", str(options.steps)]
        done = launched.run([*under, sys.executable, str(LAUNCHER), "-n", "2", *worker], os.environ, options.timeout)
        rows = [json.loads(line) for line in done.output.splitlines() if line.startswith("{")]
        result: dict = {"code": done.code, "host_ms": [row["host_ms"] for row in rows]}
        if done.code:
            result["errors"] = done.errors[-1500:]
        if report.exists():
            total = json.loads(report.read_text())["total"]
            result |= {"gates": total["applied"]["gate"], "in_window": total["launches"]["in_window"], "refused": total["refused"], "passed_through": total["passed_through"]}
        return result


def summary(results: list[dict]) -> bool:
    """Whether each program that the earlier build gates is gated by the later one too."""
    good = True
    for name in dict.fromkeys(result["program"] for result in results):
        gates = {}
        for build in ("before", "after"):
            rows = [row for row in results if (row["program"], row["build"]) == (name, build) and "gates" in row]
            if rows:
                gates[build] = statistics.median(row["gates"] for row in rows)
                reasons = {reason: statistics.median(row["refused"].get(reason, 0) for row in rows) for row in rows for reason in row["refused"]}
                print(f"# {name:13} {build:6} {gates[build]:7.0f} gates of {statistics.median(row['in_window'] for row in rows):7.0f} in the window, refused {reasons}")
        good = good and (gates.get("before", 0) == 0 or gates.get("after", 0) > 0)
    return good


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--before", default="")
    parser.add_argument("--after", default="")
    parser.add_argument("--programs", default=",".join(PROGRAMS))
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=420, help="no launch begins after these")
    parser.add_argument("--timeout", type=float, default=60, help="of one launch, in seconds")
    parser.add_argument("--steps", type=int, default=60)
    parser.add_argument("--json", default="")
    parser.add_argument("--work", default="", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.work:
        work(options.work, options.steps)
        return 0
    begin, results = time.monotonic(), []
    for number in range(options.rounds):
        for name in options.programs.split(","):
            builds = [("before", options.before), ("after", options.after)]
            for build, program in builds if number % 2 == 0 else reversed(builds):
                if time.monotonic() - begin < options.seconds:
                    results.append({"program": name, "build": build, "round": number} | launch(options, name, program))
                    print(json.dumps(results[-1]), flush=True)
                    if options.json:
                        Path(options.json).write_text(json.dumps(results, indent=1) + "\n")
    return 0 if summary(results) and not any(result["code"] for result in results) else 1


if __name__ == "__main__":
    sys.exit(main())
