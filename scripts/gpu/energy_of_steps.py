#!/usr/bin/env python3
"""Joules of a step by `elbowroom run --energy`, beside what the program itself reads of the GPU's counter and power.

usage: scripts/gpu/energy_of_steps.py --elbowroom PROGRAM [--repeats 5] [--seconds 12] [--json FILE]

One process on one GPU multiplies matrices and ends each step with an all-reduce of its one rank. It reads the energy counter and the power in a
thread of its own, from its first counted step to its last. In turns with that, the same program runs without Elbowroom. Printed are the joules of
a step from the three, how far repetitions are apart, and what the program's steps take with and without. Needs PyTorch and nvidia-ml-py. Exit code 1 where repetitions
differ by more than 2 %, or where the counter and the power differ by more than 5 %.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

SIZE = 8192
PRODUCTS = 24  # of a step
PERIOD = 0.02


class Readings:
    """The counter in joules and the power in watts, every 20 ms."""

    def __init__(self) -> None:
        import pynvml

        pynvml.nvmlInit()
        self._nvml, self._gpu = pynvml, pynvml.nvmlDeviceGetHandleByIndex(0)
        self.taken: list[tuple[float, float, float]] = []
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def _read(self) -> None:
        while not self._over.wait(PERIOD):
            joules = self._nvml.nvmlDeviceGetTotalEnergyConsumption(self._gpu) / 1000
            self.taken.append((time.monotonic(), joules, self._nvml.nvmlDeviceGetPowerUsage(self._gpu) / 1000))

    def between(self, begin: float, end: float) -> tuple[float, float]:
        """Joules by the counter's moves and by the power, for as long as from begin to end."""
        self._over.set()
        self._thread.join()
        inside = [one for one in self.taken if begin <= one[0] <= end]
        moves = [now for before, now in zip(inside, inside[1:]) if now[1] != before[1]]
        watts = (moves[-1][1] - moves[0][1]) / (moves[-1][0] - moves[0][0])
        return watts * (end - begin), statistics.fmean(one[2] for one in inside) * (end - begin)


def work(seconds: float) -> None:
    os.environ |= {"RANK": "0", "WORLD_SIZE": "1", "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": "29711"}
    import torch
    import torch.distributed as dist

    dist.init_process_group("nccl", device_id=torch.device("cuda", 0))
    a, b = (torch.randn(SIZE, SIZE, device="cuda", dtype=torch.bfloat16) for _ in range(2))
    word, times = torch.zeros(1 << 20, device="cuda"), []

    def step() -> None:
        for _ in range(PRODUCTS):
            torch.mm(a, b)
        dist.all_reduce(word)
        torch.cuda.synchronize()

    until = time.monotonic() + 4  # warm
    while time.monotonic() < until:
        step()
    readings, begin = Readings(), time.monotonic()
    while not times or times[-1] - begin < seconds:
        step()
        times.append(time.monotonic())
    counter, power = readings.between(begin, times[-1])
    steps = len(times)
    print(json.dumps({"steps": steps, "step_ms": 1e3 * (times[-1] - begin) / steps, "counter": counter / steps, "power": power / steps}))
    dist.destroy_process_group()


def run(prefix: list[str], seconds: float) -> dict:
    done = subprocess.run([*prefix, sys.executable, __file__, "--work", "--seconds", str(seconds)], capture_output=True, text=True, check=False)
    lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
    if done.returncode or not lines:
        sys.exit(f"exit {done.returncode}\n{done.stderr[-2000:]}")
    return json.loads(lines[-1])


def under_run(elbowroom: str, seconds: float) -> dict:
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        own = run([elbowroom, "run", "--no-memory", "--quiet", "--energy", "--report", str(report), "--"], seconds)
        return {"program": own, "run": json.loads(report.read_text())["energy"]}


def spread(values: list[float]) -> float:
    return (max(values) - min(values)) / statistics.median(values)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--elbowroom", default="elbowroom")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=12, help="of counted steps")
    parser.add_argument("--json", default="")
    parser.add_argument("--work", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.work:
        work(options.seconds)
        return 0
    alone, under = [], []
    for _ in range(options.repeats):
        alone.append(run([], options.seconds))
        under.append(under_run(options.elbowroom, options.seconds))
        print(json.dumps({"alone": alone[-1], "under": under[-1]}), flush=True)
    if options.json:
        Path(options.json).write_text(json.dumps({"alone": alone, "under": under}, indent=1))
    said = [one["run"]["joules_per_step"] for one in under]
    if None in said:
        print(f"# absent: {under[said.index(None)]['run']['why_absent']}")
        return 1
    own = [one["program"] for one in under]
    apart = [said_here / by_program["power"] - 1 for said_here, by_program in zip(said, own)]
    print(f"# joules of a step: run {statistics.median(said):.2f}, the program's counter {statistics.median(one['counter'] for one in own):.2f}, power {statistics.median(one['power'] for one in own):.2f}")
    print(f"# repetitions apart by {100 * spread(said):.2f} %; counter against power {100 * statistics.median(apart):+.2f} % ({100 * min(apart):+.2f}..{100 * max(apart):+.2f})")
    times = [statistics.median(one["step_ms"] for one in of) for of in (alone, own)]
    print(f"# a step takes {times[0]:.3f} ms alone, {times[1]:.3f} ms under run --energy ({100 * (times[1] / times[0] - 1):+.2f} %)")
    return 1 if spread(said) > 0.02 or max(map(abs, apart)) > 0.05 else 0


if __name__ == "__main__":
    sys.exit(main())
