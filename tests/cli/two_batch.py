#!/usr/bin/env python3
"""The table of micro-batches in pairs in docs/steps.md has what the simulator says now: two_batch.py PROGRAM SOURCE"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

EXPERTS = "--layers 2 --hidden 2048 --ffn 8192 --experts 4"
TENSORS = "--layers 2 --hidden 4096 --ffn 16384"
PLAN = ["--scheme", "concurrent", "--plan", "priority,copy_engine"]


def times(program: str, folder: str, options: list[str]) -> list[float]:
    """Of sequential, concurrent and the plan, in ms."""
    step, result = f"{folder}/step.json", f"{folder}/result.json"
    subprocess.run([program, "step", "transformer", *options, "--micro", "2", "--json", step], check=True, capture_output=True)
    subprocess.run([program, "bench", "--backend", "sim", "--device", "h100", "--scenario", step, *PLAN, "--json", result], check=True, capture_output=True)
    return [one["time_us"]["median"] / 1000 for one in json.loads(Path(result).read_text())["cases"][0]["results"]]


def row(program: str, folder: str, options: str) -> str:
    words = [*(TENSORS if "--tp" in options else EXPERTS).split(), *options.split()]
    plain, pairs = times(program, folder, words), times(program, folder, [*words, "--two-batch"])
    change = 100 * (min(pairs) / min(plain) - 1)
    return "| " + " | ".join([f"`{options}`", *(f"{time:.2f}" for time in [*plain, *pairs[1:]]), f"{change:.1f}"]) + " |"


def main() -> int:
    program, page = sys.argv[1], (Path(sys.argv[2]) / "docs/steps.md").read_text()
    rows = re.findall(r"^\| `(--[^`]*)` \| (?:[\d.]+ \| ){5}-?[\d.]+ \|$", page, re.M)
    with tempfile.TemporaryDirectory() as folder:
        wrong = [now for options in rows if (now := row(program, folder, options)) not in page]
    if len(rows) < 5:
        wrong.append(f"{len(rows)} rows, expected 5")
    print("\n".join(f"docs/steps.md: expected {one}" for one in wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
