"""What holds in which PyTorch, part by part, on CPUs: both processes of a pair run PyTorch's own DDP and FSDP2 with and without the parts.

usage: seams_by_version.py [VERSION...|newest|here]      without arguments: those that the table of elbowroom.parts must hold in
`here` is the PyTorch of this Python. Ends with 1 where a version holds less than the table says, or its buckets or staging buffers do not hold.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import stand_ins
import torch_environment

from elbowroom import parts

HERE = Path(__file__).resolve().parent
LAUNCHER = HERE.parents[1] / "examples" / "pytorch" / "launch.py"
CHECKED = ("2.9.1", "2.11.0", "2.14.1", "2.15.0")
RUNS = {
    "ddp": ("plain", "plain+bf16", "none", "bf16"),
    "fsdp2": ("plain", "plain+mixed", "plain+divided+mixed", "default", "mixed", "divided+mixed"),
}
assert stand_ins.PYTHON


def said_by(python: Path, kind: str) -> dict[str, dict[str, Any]]:
    command = [python, "-B", LAUNCHER, "-n", "2", HERE / "torch_ranks.py", kind, *RUNS[kind]]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=900, env=os.environ | {"OMP_NUM_THREADS": "1"})
    lines = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
    if len(lines) != len(RUNS[kind]):
        raise SystemExit(f"{python}: {kind}: exit code {done.returncode}\n{done.stderr[-2000:]}")
    return dict(zip(RUNS[kind], lines, strict=True))


def buffers(said: dict[str, Any], what: str) -> dict[str, Any]:
    return next((entry for entry in said["buffers"] if entry["what"] == what), {"state": "absent", "reason": "no such buffers", "direct": 0, "in_place": 0})


# Of each part: the run that shows it, and whether it did.
Shown = Callable[[dict[str, Any]], bool]
SHOWS: dict[str, tuple[str, str, Shown]] = {
    parts.BUCKETS.name: ("ddp", "none", lambda said: buffers(said, "DDP buckets")["state"] == "registered"),
    parts.IN_PLACE.name: ("ddp", "none", lambda said: buffers(said, "DDP buckets")["in_place"] > 0),
    parts.COMPRESSED.name: ("ddp", "bf16", lambda said: buffers(said, "DDP compressed copies")["state"] == "registered"),
    parts.STAGING.name: ("fsdp2", "default", lambda said: buffers(said, "FSDP2 staging buffers")["state"] == "registered"),
    parts.RESULTS.name: ("fsdp2", "default", lambda said: buffers(said, "FSDP2 staging buffers")["copies"] == 0),
    parts.SUMS.name: ("fsdp2", "mixed", lambda said: "sums" in said["events"]),
    parts.DIVISION.name: ("fsdp2", "divided+mixed", lambda said: "divided" in said["events"]),
    parts.DIRECT_GATHERS.name: ("fsdp2", "default", lambda said: buffers(said, "FSDP2 staging buffers")["direct"] > 0),
}


def held(python: Path) -> dict[str, str]:
    """Of each part: empty where it holds, else why not."""
    said = {kind: said_by(python, kind) for kind in RUNS}
    reasons = {}
    for part in parts.PARTS:
        kind, run, shown = SHOWS[part.name]
        one, plain = said[kind][run], said[kind]["+".join(["plain", *run.split("+")]).replace("+none", "").replace("+default", "")]
        out = next((left["reason"] for left in one["left_out"] if left["part"] == part.name), "")
        if one["digest"] != plain["digest"]:
            out = f"results of {kind} {run} differ from those without it"
        elif not out and not shown(one):
            out = "; ".join(entry["reason"] for entry in one["buffers"] if entry["reason"]) or "it did not act"
        reasons[part.name] = out
    return reasons


def expected(version: str, part: str) -> str:
    return parts.MISSING.get((part, ".".join(version.split(".")[:2])), "")


def report(python: Path) -> bool:
    version = torch_environment.output_of(python, "-c", "import torch; print(torch.__version__)").strip()
    known = ".".join(version.split(".")[:2]) in parts.VERSIONS
    print(f"PyTorch {version}{'' if known else ', which no test knows'}")
    right = True
    for part, reason in held(python).items():
        wrong = known and bool(reason) != bool(expected(version, part))
        right = right and not wrong
        print(f"  {part:<26} {'no: ' + reason if reason else 'holds'}{' (the table says otherwise)' if wrong else ''}", flush=True)
        if reason and part in (parts.BUCKETS.name, parts.STAGING.name):
            right = False
    return right


def main(versions: list[str]) -> int:
    right = True
    for version in versions or CHECKED:
        python = Path(sys.executable) if version == "here" else torch_environment.environment("" if version == "newest" else version)
        right = report(python) and right
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
