#!/usr/bin/env python3
"""Simulated steps on 64 to 4,096 ranks under three schemes, as the table of docs/results/scale.md.

usage: scale.py [ELBOWROOM]

Each replica's work stays the same (weak scaling). Ranks are H100s, 8 a host with 8 x 400 Gb/s (h100-8x400).
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

SCHEMES = ("sequential", "concurrent", "priority")
RANKS = (64, 256, 1024, 4096)
LLAMA_8B = ("--preset", "llama-3-8b", "--tokens", "8192", "--recompute", "full")
OF_59B = ("--layers", "80", "--hidden", "8192", "--ffn", "28672", "--heads", "64", "--sequence", "4096", "--tokens", "65536")
WAYS = {
    "data, 8B": lambda ranks: (*LLAMA_8B, "--dp", str(ranks)),
    "sharded, 8B": lambda ranks: (*LLAMA_8B, "--fsdp", str(ranks)),
    "sharded in hosts of 8, 8B": lambda ranks: (*LLAMA_8B, "--fsdp", "8", "--dp", str(ranks // 8)),
    "pipeline, 59B": lambda ranks: (*OF_59B, "--tp", "8", "--pp", "8", "--micro", "16", "--dp", str(ranks // 64)),
}


def run(*command: str) -> tuple[float, float]:
    """Processor time in seconds and greatest memory in MB of a command that succeeds."""
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    if status != 0:
        sys.exit(f"scale.py: {' '.join(command)}: failed")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1000


def main() -> None:
    binary = sys.argv[1] if len(sys.argv) > 1 else "elbowroom"
    print("| step | ranks |", " | ".join(f"{scheme} (ms)" for scheme in SCHEMES), "| reduction (%) | bench (s) | (MB) |")
    print("| --- | ---: |" + " ---: |" * (len(SCHEMES) + 3))
    with tempfile.TemporaryDirectory() as folder:
        step, result = (str(pathlib.Path(folder) / name) for name in ("step.json", "result.json"))
        for way, options in WAYS.items():
            for ranks in RANKS:
                run(binary, "step", "transformer", *options(ranks), "--json", step)
                taken, memory = run(binary, "bench", "--scenario", step, "--backend", "sim", "--device", "h100", "--machine",
                                    "h100-8x400", "--scheme", ",".join(SCHEMES), "--json", result)
                results = json.loads(pathlib.Path(result).read_text())["cases"][0]["results"]
                times = {row["scheme"]: row["time_us"]["median"] / 1000 for row in results}
                reduction = 100 * (1 - min(times.values()) / times["sequential"])
                print(f"| {way} | {ranks:,} |", " | ".join(f"{times[scheme]:,.0f}" for scheme in SCHEMES),
                      f"| {reduction:.0f} | {taken:.1f} | {memory:.0f} |", flush=True)


if __name__ == "__main__":
    main()
