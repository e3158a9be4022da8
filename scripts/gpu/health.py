#!/usr/bin/env python3
"""Whether the GPUs of this machine hold their clocks: products on all of them at once, for some seconds.

usage: scripts/gpu/health.py [--seconds 4] [--least TFLOPS]

Prints for each GPU the TFLOP/s of bf16 products in the first and the last second, its clock and what slows it. Exit code 1 where a
GPU ends below --least (450), which an H100 or H200 at its power limit stays above: timings of such a machine say nothing.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time

import torch

SIZE = 8192
FIELDS = "index,clocks.sm,power.draw,temperature.gpu,clocks_event_reasons.active"


def batch(products: int, factors: list[tuple[torch.Tensor, ...]]) -> list[float]:
    """TFLOP/s of each GPU, all at work together."""
    spans = []
    for left, right, out in factors:
        with torch.cuda.device(left.device):
            begin, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
            begin.record()
            for _ in range(products):
                torch.mm(left, right, out=out)
            end.record()
            spans.append((begin, end))
    for _, end in spans:
        end.synchronize()
    return [2 * SIZE**3 * products / (begin.elapsed_time(end) / 1e3) / 1e12 for begin, end in spans]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=4)
    parser.add_argument("--least", type=float, default=450, help="TFLOP/s")
    options = parser.parse_args()
    factors = []
    for index in range(torch.cuda.device_count()):
        factors.append(tuple(torch.randn(SIZE, SIZE, device=f"cuda:{index}", dtype=torch.bfloat16) for _ in range(3)))
    batch(20, factors)
    first = last = batch(200, factors)
    until = time.monotonic() + options.seconds
    while time.monotonic() < until:
        last = batch(200, factors)
    said = subprocess.run(["nvidia-smi", f"--query-gpu={FIELDS}", "--format=csv,noheader"], capture_output=True, text=True, check=False)
    print(said.stdout.strip() or said.stderr.strip())
    for index, (early, late) in enumerate(zip(first, last)):
        print(f"GPU {index}: {early:.0f} TFLOP/s at the begin, {late:.0f} at the end")
    return 0 if min(last) >= options.least else 1


if __name__ == "__main__":
    sys.exit(main())
