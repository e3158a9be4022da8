#!/usr/bin/env python3
"""Time of `elbowroom plan LIBRARY` beside `cuobjdump -res-usage LIBRARY` alone, in turns.

usage: plan_file_speed.py ELBOWROOM LIBRARY [--device D] [--rounds N] [--cuobjdump PROGRAM]

LIBRARY has thousands of kernels: libnccl.so.2 of `pip install nvidia-nccl-cu13==2.28.9` has 5,000 and more. PROGRAM (found in PATH) is that of
`pip install nvidia-cuda-cuobjdump`. The median of N rounds (5) counts. Exit code 1 where `plan` takes more than twice the time, of the processors or by the clock.
"""

from __future__ import annotations

import argparse
import os
import resource
import shutil
import statistics
import subprocess
import sys
import time

BAR = 2.0


def timed(command: list[str]) -> tuple[float, float, bytes]:
    """Seconds of the processors, with those of its children, seconds by the clock, and what it printed."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    begin = time.perf_counter()
    printed = subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
    clock = time.perf_counter() - begin
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, clock, printed


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("elbowroom")
    parser.add_argument("library")
    parser.add_argument("--device", default="h100")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--cuobjdump", default=shutil.which("cuobjdump"))
    arguments = parser.parse_args()
    if arguments.cuobjdump is None:
        print("no cuobjdump in PATH", file=sys.stderr)
        return 77
    # `plan` takes the one that stands first in PATH.
    os.environ["PATH"] = os.path.dirname(os.path.abspath(arguments.cuobjdump)) + os.pathsep + os.environ["PATH"]
    commands = {
        "cuobjdump -res-usage": [arguments.cuobjdump, "-res-usage", arguments.library],
        "plan": [arguments.elbowroom, "plan", arguments.library, "--device", arguments.device, "--threads", "256"],
        "plan --json -": [arguments.elbowroom, "plan", arguments.library, "--device", arguments.device, "--threads", "256", "--json", "-"],
    }
    seen: dict[str, list[tuple[float, float]]] = {name: [] for name in commands}
    kernels = 0
    for _ in range(arguments.rounds):
        for name, command in commands.items():
            processor, clock, printed = timed(command)
            seen[name].append((processor, clock))
            if name == "cuobjdump -res-usage":
                kernels = printed.count(b" Function ")
    medians = {name: [statistics.median(times) for times in zip(*rounds)] for name, rounds in seen.items()}
    alone = medians["cuobjdump -res-usage"]
    print(f"# {kernels:,} kernels of {os.path.basename(arguments.library)}, {arguments.rounds} rounds in turns, medians")
    print(f"{'':24}{'processors (s)':>16}{'clock (s)':>12}{'ratios':>16}")
    worst = 0.0
    for name, (processor, clock) in medians.items():
        ratios = processor / alone[0], clock / alone[1]
        worst = max(worst, *ratios)
        print(f"{name:24}{processor:16.2f}{clock:12.2f}{ratios[0]:10.2f}{ratios[1]:6.2f}")
    return 0 if worst <= BAR else 1


if __name__ == "__main__":
    sys.exit(main())
