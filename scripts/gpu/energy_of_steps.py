#!/usr/bin/env python3
"""Joules of a step by `elbowroom run --energy`, beside what the program itself reads of the GPUs' counters and power.

usage: scripts/gpu/energy_of_steps.py --elbowroom PROGRAM [--repeats 5] [--seconds 12] [--json FILE]

Two ranks multiply matrices and end each step with an all-reduce. Rank 0 reads the energy counters and the power of all GPUs in a thread of its
own, from its first counted step to its last. In turns with that, the same program runs without Elbowroom. Printed are the joules of a step from
the three, how far repetitions are apart, and what a step takes with and without. On one GPU, ranks that NCCL takes for two hosts share it.
Needs PyTorch and nvidia-ml-py. Exit code 1 where repetitions differ by more than 2 %, or the counter and the power by more than 5 %.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import tempfile
import threading
import time
from pathlib import Path

import launched

LAUNCHER = Path(__file__).resolve().parent.parent.parent / "examples" / "pytorch" / "launch.py"
SIZE = 8192
PRODUCTS = 12  # of a step, on each rank
PERIOD = 0.02
WARM_SECONDS = 4


class Readings:
    """The counters in joules and the power in watts, of all GPUs together, every 20 ms."""

    def __init__(self) -> None:
        import pynvml

        pynvml.nvmlInit()
        self._nvml = pynvml
        self._gpus = [pynvml.nvmlDeviceGetHandleByIndex(index) for index in range(pynvml.nvmlDeviceGetCount())]
        self.taken: list[tuple[float, float, float]] = []
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    def _read(self) -> None:
        while not self._over.wait(PERIOD):
            joules = sum(self._nvml.nvmlDeviceGetTotalEnergyConsumption(gpu) for gpu in self._gpus) / 1000
            self.taken.append((time.monotonic(), joules, sum(self._nvml.nvmlDeviceGetPowerUsage(gpu) for gpu in self._gpus) / 1000))

    def between(self, begin: float, end: float) -> tuple[float, float]:
        """Joules by the counters' moves and by the power, for as long as from begin to end."""
        self._over.set()
        self._thread.join()
        inside = [one for one in self.taken if begin <= one[0] <= end]
        moves = [now for before, now in zip(inside, inside[1:]) if now[1] != before[1]]
        watts = (moves[-1][1] - moves[0][1]) / (moves[-1][0] - moves[0][0])
        return watts * (end - begin), statistics.fmean(one[2] for one in inside) * (end - begin)


def work(seconds: float) -> None:
    """One rank."""
    import torch
    import torch.distributed as dist

    rank, count = int(os.environ["RANK"]), torch.cuda.device_count()
    if count < int(os.environ["WORLD_SIZE"]):
        os.environ |= {"NCCL_HOSTID": f"node-{rank}", "NCCL_SOCKET_IFNAME": "lo"}
    torch.cuda.set_device(rank % count)
    dist.init_process_group("nccl", device_id=torch.device("cuda", rank % count))
    a, b = (torch.randn(SIZE, SIZE, device="cuda", dtype=torch.bfloat16) for _ in range(2))
    summed, times = torch.zeros(1 << 20, device="cuda", dtype=torch.bfloat16), []

    def step() -> None:
        for _ in range(PRODUCTS):
            torch.mm(a, b)
        dist.all_reduce(summed)
        torch.cuda.synchronize()

    def how_many(of_seconds: float) -> int:
        """Steps in that time, the same number on both ranks."""
        began = time.monotonic()
        for _ in range(10):
            step()
        number = torch.tensor([of_seconds * 10 / (time.monotonic() - began)], device="cuda")
        dist.broadcast(number, 0)
        return max(int(number.item()), 1)

    for _ in range(how_many(WARM_SECONDS)):
        step()
    steps = how_many(seconds)
    readings, begin = Readings() if rank == 0 else None, time.monotonic()
    for _ in range(steps):
        step()
    end = time.monotonic()
    if readings is not None:
        counter, power = readings.between(begin, end)
        print(json.dumps({"steps": steps, "step_ms": 1e3 * (end - begin) / steps, "counter": counter / steps, "power": power / steps}))
    dist.destroy_process_group()


def run(prefix: list[str], seconds: float) -> dict:
    command = [*prefix, sys.executable, str(LAUNCHER), "-n", "2", __file__, "--work", "--seconds", str(seconds)]
    done = launched.run(command, os.environ, 60 + 3 * seconds)
    lines = [line for line in done.output.splitlines() if line.startswith("{")]
    if done.code or not lines:
        sys.exit(f"exit {done.code}\n{done.errors[-2000:]}")
    return json.loads(lines[-1])


def under_run(elbowroom: str, seconds: float) -> dict:
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        own = run([elbowroom, "run", "--no-memory", "--quiet", "--energy", "--report", str(report), "--"], seconds)
        return {"program": own, "run": json.loads(report.read_text())["energy"]}


def spread(values: list[float]) -> float:
    return (max(values) - min(values)) / statistics.median(values)


def summary(alone: list[dict], under: list[dict]) -> int:
    said = [one["run"]["joules_per_step"] for one in under]
    if None in said:
        print(f"# absent: {under[said.index(None)]['run']['why_absent']}")
        return 1
    own = [one["program"] for one in under]
    apart = [100 * (by_run / by_program["power"] - 1) for by_run, by_program in zip(said, own)]
    by_counter, by_power = (statistics.median(one[what] for one in own) for what in ("counter", "power"))
    print(f"# joules of a step: run {statistics.median(said):.2f}; the program's counter {by_counter:.2f}, its power {by_power:.2f}")
    print(f"# repetitions are apart by {100 * spread(said):.2f} %")
    print(f"# run against power {statistics.median(apart):+.2f} % ({min(apart):+.2f}..{max(apart):+.2f})")
    times = [statistics.median(one["step_ms"] for one in of) for of in (alone, own)]
    print(f"# a step takes {times[0]:.3f} ms alone, {times[1]:.3f} ms under run --energy ({100 * (times[1] / times[0] - 1):+.2f} %)")
    return 1 if spread(said) > 0.02 or max(map(abs, apart)) > 5 else 0


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
    return summary(alone, under)


if __name__ == "__main__":
    sys.exit(main())
