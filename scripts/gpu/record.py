"""Recordings on two GPUs, in at most seven minutes: each program plain and under `elbowroom explain --`, what a step costs in both, and explain's answer.

    python3 -B scripts/gpu/record.py --elbowroom build/gpu/elbowroom --raw build/gpu/example_raw_overlap --out OUT

Needs two GPUs and the torch of the Python that runs this. ddp also has torch.profiler record at its end, behind the recording: its trace must have
kernels. Each is recorded under `elbowroom run --record` too. OUT has a recording, a document and an answer for each, and record.json.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import sys
import time
from pathlib import Path
from typing import Any

import launched

# Steps of some 14 s on an H100.
STEPS = {"ddp": 400, "fsdp2": 330, "tensor_parallel": 900, "raw_overlap": 2500, "moe": 300, "jax_data_parallel": 500}
OWN_PROCESS = ("raw_overlap", "jax_data_parallel")  # both GPUs in one process, and no PyTorch
AFTER = {"raw_overlap": "6"}
BEGIN = time.monotonic()


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--elbowroom", required=True)
    parser.add_argument("--raw", required=True, help="the program of examples/raw_overlap.cu")
    parser.add_argument("--out", required=True, type=Path)
    parser.add_argument("--programs", default=",".join(STEPS))
    parser.add_argument("--seconds", type=float, default=420, help="for all launches")
    parser.add_argument("--how", default="plain,explain,run", help="which launches of each program")
    parser.add_argument("--scale", type=float, default=1, help="of the numbers of steps")
    return parser.parse_args()


def program_command(raw: str, program: str, steps: int) -> list[str]:
    if program == "raw_overlap":
        return [raw, "--mode", "plain", "--steps", str(steps)]
    script = str(launched.REPOSITORY / "examples" / "programs" / f"{program}.py")
    if program in OWN_PROCESS:
        return [sys.executable, script, "--gpus", "2", "--steps", str(steps)]
    return [*launched.TORCHRUN, script, "--steps", str(steps)]


def steps_ms(program: str, output: str) -> list[float]:
    lines = [json.loads(line) for line in output.splitlines() if line.startswith("{") and ("steps_ms" in line or "modes" in line)]
    return [] if not lines else lines[-1]["modes"]["plain"]["ms"] if program == "raw_overlap" else lines[-1]["steps_ms"]


def launch(options: argparse.Namespace, program: str, how: str, extra: list[str]) -> dict[str, Any]:
    """`how`: plain, explain or run."""
    name = f"{program}-{how}"
    recording = options.out / f"{name}.tar"
    prefix = {
        "plain": [],
        "explain": [options.elbowroom, "explain", "--after", AFTER.get(program, "16"), "--json", str(options.out / f"{name}.json"), "--record", str(recording), "--"],
        "run": [options.elbowroom, "run", "--record", str(recording), "--"],
    }[how]
    left = options.seconds - (time.monotonic() - BEGIN)
    if left < 15:
        return {"program": program, "how": how, "left_out": "no time left"}
    begin = time.monotonic()
    done = launched.run([*prefix, *program_command(options.raw, program, int(STEPS[program] * options.scale)), *extra], dict(os.environ), min(left, 60))
    times = steps_ms(program, done.output)
    (options.out / f"{name}.out.txt").write_text(done.output)
    (options.out / f"{name}.err.txt").write_text(done.errors)
    result: dict[str, Any] = {"program": program, "how": how, "code": done.code, "seconds": round(time.monotonic() - begin, 1)}
    if times:
        # The recording is over in the last quarter.
        result |= {"median_ms": round(statistics.median(times), 4), "last_quarter_ms": round(statistics.median(times[-len(times) // 4 :]), 4)}
        result |= {"slowest_ms": round(max(times), 3), "steps": len(times)}
    result["says"] = [line for line in done.errors.splitlines() if line.startswith("elbowroom")]
    return result


def answer(options: argparse.Namespace, name: str) -> None:
    recording = options.out / f"{name}.tar"
    if recording.exists():
        done = launched.run([options.elbowroom, "explain", str(recording), "--json", str(options.out / f"{name}.json")], dict(os.environ), 60)
        (options.out / f"{name}.answer.txt").write_text(done.output + done.errors)
        print(f"== {name}: {done.output}{done.errors}", flush=True)


def main() -> int:
    options = parse()
    options.out.mkdir(parents=True, exist_ok=True)
    results = []

    def note(result: dict[str, Any]) -> None:
        results.append(result)
        print(json.dumps(result), flush=True)
        (options.out / "record.json").write_text(json.dumps(results, indent=1) + "\n")

    traces = options.out / "ddp-profiler"
    traces.mkdir(exist_ok=True)
    programs = [name for name in options.programs.split(",") if name in STEPS]
    for program in programs:
        for how in options.how.split(","):
            profiled = ["--trace", str(traces / "rank0.json")] if (program, how) == ("ddp", "explain") else []
            note(launch(options, program, how, profiled))
    if (traces / "rank0.json.rank1").exists():
        shutil.move(traces / "rank0.json.rank1", traces / "rank1.json")
    for program in programs:
        answer(options, f"{program}-explain")
        answer(options, f"{program}-run")
    if (traces / "rank0.json").exists():
        done = launched.run([options.elbowroom, "explain", str(traces)], dict(os.environ), 60)
        (options.out / "ddp-profiler.answer.txt").write_text(done.output + done.errors)
        print(f"== ddp by torch.profiler: {done.output}{done.errors}")
    return 0 if all(result.get("code", 1) == 0 for result in results) else 1


if __name__ == "__main__":
    sys.exit(main())
