#!/usr/bin/env python3
"""Device memory that one rank's all-reduce kernels read and write, by Nsight Compute's two DRAM counters: the ring of ordinary buffers
against symmetric memory with 16 blocks.

Two processes run a loop of examples/pytorch; ncu watches the one of rank 0. Both counters fit into one pass, so no kernel is replayed:
a replayed collective would wait for ever for a peer that has gone on. ncu lets one kernel of its process run at a time, so nothing
else uses that GPU's memory. It takes two GPUs, PyTorch, ncu in PATH and the right to read counters (ERR_NVGPUCTRPERM says it lacks).

usage: traffic.py OUT    writes OUT/traffic-ring.csv, OUT/traffic-symmetric.csv and prints bytes of memory for each byte sent
"""

from __future__ import annotations

import csv
import os
import shutil
import statistics
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SENT = 256 << 20  # bytes that each of two ranks sends for an all-reduce of 256 MiB: 2 x (n - 1) / n of it
COUNTERS = ("dram__bytes_read.sum", "dram__bytes_write.sum")
UNITS = {"byte": 1.0, "Kbyte": 1e3, "Mbyte": 1e6, "Gbyte": 1e9}
LIMIT_S = 240
RUNS = {
    "ring": ("overlap_loop.py", "ncclDevKernel_AllReduce", {}),
    "symmetric": ("symmetric_loop.py", "ncclSymkDevKernel_AllReduce", {"NCCL_MIN_CTAS": "16", "NCCL_MAX_CTAS": "16"}),
}
# Rank 0 runs under ncu, its peer as it is.
RANK = 'if [ "$RANK" = 0 ]; then exec "$@"; else shift "$NCU_WORDS"; exec "$@"; fi'


def command_of(example: str, kernel: str) -> tuple[list[str], int]:
    """What a rank runs, and how many of its words are ncu's."""
    ncu = ["ncu", "--replay-mode", "application", "--cache-control", "none", "--clock-control", "none", "--csv", "--page", "raw"]
    ncu += ["--metrics", ",".join(COUNTERS), "--kernel-name", f"regex:{kernel}", "--launch-skip", "8", "--launch-count", "8"]
    program = [sys.executable, "-B", str(ROOT / "examples/pytorch" / example), "--mode", "plain", "--steps", "2", "--warm-up", "2"]
    return [*ncu, *program], len(ncu)


def run(example: str, kernel: str, settings: dict[str, str]) -> str:
    sys.path.insert(0, str(ROOT / "examples/pytorch"))
    from launch import free_port, rank_environment, stop  # noqa: PLC0415

    command, words = command_of(example, kernel)
    port = free_port()
    ranks = []
    for rank in range(2):
        environment = rank_environment(rank, 2, port) | settings | {"NCCL_NVLS_ENABLE": "0", "NCU_WORDS": str(words)}
        output = subprocess.PIPE if rank == 0 else subprocess.DEVNULL
        ranks.append(subprocess.Popen(["bash", "-c", RANK, "rank", *command], env=environment, stdout=output, text=True))
    try:
        said, _ = ranks[0].communicate(timeout=LIMIT_S)
    finally:
        stop(ranks)
    return said


def memory_bytes(said: str) -> list[float]:
    """Bytes read and written by each kernel, from ncu's table: a row of headings, one of units, one for each kernel."""
    lines = said.splitlines()
    begin = next((at for at, line in enumerate(lines) if line.startswith('"ID"')), None)
    if begin is None:
        raise ValueError(f"no table of ncu, it said: {lines[-1] if lines else 'nothing'}")
    headings, units, *kernels = csv.reader(lines[begin:])
    columns = [headings.index(counter) for counter in COUNTERS]
    return [sum(float(row[at].replace(",", "")) * UNITS[units[at]] for at in columns) for row in kernels if len(row) == len(headings)]


def main(arguments: list[str]) -> int:
    if len(arguments) != 1 or arguments[0].startswith("-"):
        print(__doc__, file=sys.stderr)
        return 2
    if shutil.which("ncu") is None:
        print("traffic: ncu (Nsight Compute) is not in PATH", file=sys.stderr)
        return 77
    out = Path(arguments[0])
    out.mkdir(parents=True, exist_ok=True)
    for name, (example, kernel, settings) in RUNS.items():
        try:
            said = run(example, kernel, settings)
            (out / f"traffic-{name}.csv").write_text(said, encoding="utf-8")
            moved = memory_bytes(said)
            median = statistics.median(moved)
        except (OSError, ValueError, KeyError, subprocess.TimeoutExpired) as error:
            print(f"traffic: {name}: {error}", file=sys.stderr)
            return 1
        print(f"{name}: {median / SENT:.2f} B of memory for each byte sent ({min(moved) / SENT:.2f}..{max(moved) / SENT:.2f}, {len(moved)} kernels)")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
