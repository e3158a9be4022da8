"""What changes make of programs: predicted by `elbowroom explain` from recordings, and measured on two GPUs.

    python3 -B scripts/gpu/changes.py --elbowroom ELBOWROOM --predict results/predictions/explain-changes.json    # no GPU
    python3 -B scripts/gpu/changes.py --elbowroom ELBOWROOM --out OUT [--programs lost_race,link]                 # two GPUs

The recordings are those of tests/cli/causes, or what record.py left in --recordings. A program is measured as it is before and after two of its changes. A change that
explain refuses is predicted to change nothing. OUT/changes.json has both; a row takes some 13 s, so that five programs need two calls.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import time
from pathlib import Path
from typing import Any

import launched
import record

PREDICTIONS = launched.REPOSITORY / "results" / "predictions"
RECORDINGS = launched.REPOSITORY / "tests" / "cli" / "causes"
PROGRAMS = ("program_order", "shared_stream", "lost_race", "late_peer", "link")
CHANGES = ("priority", "gate", "comm_blocks=4", "comm_blocks=8", "comm_blocks=16", "comm_blocks=32", "symmetric_memory")
STEPS = 60
UNTIL_DECIDED = 160  # steps, in which `run` finds what it keeps
BEGIN = time.monotonic()


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--elbowroom", required=True)
    parser.add_argument("--raw", default="", help="the program of examples/raw_overlap.cu")
    parser.add_argument("--predict", type=Path)
    parser.add_argument("--predictions", type=Path, default=PREDICTIONS / "explain-changes.json")
    parser.add_argument("--recordings", type=Path, default=RECORDINGS)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--programs", default=",".join(PROGRAMS))
    parser.add_argument("--seconds", type=float, default=560)
    options = parser.parse_args()
    if (options.predict is None) == (options.out is None):
        parser.error("expected --predict or --out")
    return options


def predictions(document: dict[str, Any]) -> list[dict[str, Any]]:
    """Of the changes that can be measured, from a document of elbowroom.explain/1."""
    step = document["step_us"]["median"]
    result = []
    for one in document["what_if"]:
        if one["change"] not in CHANGES:
            continue
        if "refused" in one:
            result.append({"change": one["change"], "predicted": 0.0, "refused": one["refused"]})
        else:
            result.append({"change": one["change"], "predicted": round(one["step_us"] / step - 1, 4), "ceiling": one["ceiling"]})
    return sorted(result, key=lambda one: CHANGES.index(one["change"]))


def recording_of(options: argparse.Namespace, program: str) -> Path:
    recorded = options.recordings / f"{program}-explain.tar"
    return recorded if recorded.exists() else options.recordings / f"{program}.tar.gz"


def predict(options: argparse.Namespace) -> int:
    programs = {}
    for program in options.programs.split(","):
        done = launched.run([options.elbowroom, "explain", str(recording_of(options, program)), "--json", "-"], dict(os.environ), 60)
        if done.code != 0:
            sys.exit(f"{program}: {done.errors}")
        programs[program] = predictions(json.loads(done.output))
    options.predict.write_text(json.dumps({"recorded": "2 x NVIDIA H200, PyTorch 2.11, NCCL 2.28.9", "programs": programs}, indent=1) + "\n")
    return 0


def command_of(options: argparse.Namespace, program: str, change: str) -> tuple[list[str], dict[str, str]]:
    if program in record.STEPS:
        warm_up = UNTIL_DECIDED if change == "symmetric_memory" else STEPS
        command = [*record.program_command(options.raw, program, STEPS), "--warm-up", str(warm_up)]
    else:
        command = [*launched.TORCHRUN, str(launched.REPOSITORY / "examples" / "causes" / f"{program}.py"), "--steps", str(STEPS)]
    if change == "symmetric_memory":
        return [options.elbowroom, "run", "--no-memory", "--", *command], {}
    if change in ("priority", "gate"):
        return [options.elbowroom, "run", "--policy", change, "--off", "symmetric", "--", *command], {}
    if change.startswith("comm_blocks="):
        blocks = change.partition("=")[2]
        return command, {"NCCL_MIN_CTAS": blocks, "NCCL_MAX_CTAS": blocks}
    return command, {}


def step_ms(options: argparse.Namespace, program: str, change: str) -> float | None:
    """The median of the second half of the steps; absent where the program failed or no time is left."""
    left = options.seconds - (time.monotonic() - BEGIN)
    if left < 20:
        return None
    command, more = command_of(options, program, change)
    done = launched.run(command, dict(os.environ) | more, min(left, 90))
    times = record.steps_ms(program, done.output)
    if done.code != 0 or not times:
        print(f"{program}, {change or 'plain'}: exit code {done.code}: {done.errors[-300:]}", file=sys.stderr)
        return None
    return statistics.median(times[STEPS // 2 :])


def measure(options: argparse.Namespace) -> int:
    options.out.mkdir(parents=True, exist_ok=True)
    known = json.loads(options.predictions.read_text())["programs"]
    rows = []
    for program in options.programs.split(","):
        before = step_ms(options, program, "")
        for pair in (known[program][at : at + 2] for at in range(0, len(known[program]), 2)):
            changed = [step_ms(options, program, one["change"]) for one in pair]
            after = step_ms(options, program, "")
            for one, ms in zip(pair, changed, strict=True):
                row = {"program": program, **one, "plain_ms": [before, after], "changed_ms": ms}
                if before is not None and ms is not None and after is not None:
                    row["measured"] = round(2 * ms / (before + after) - 1, 4)
                rows.append(row)
                print(json.dumps(row), flush=True)
            before = after if after is not None else before
            (options.out / "changes.json").write_text(json.dumps(rows, indent=1) + "\n")
    print(json.dumps(verdict(rows)))
    return 0


def verdict(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Of changes that measured 2 % or more: right signs and the error of the change; of all: the error as a share of the step. A ceiling is
    right where the gain stays below it."""
    measured = [row for row in rows if "measured" in row]

    def error_of(row: dict[str, Any]) -> float:
        below_ceiling = row.get("ceiling", False) and row["predicted"] <= row["measured"] <= 0
        return 0.0 if below_ceiling else abs(row["predicted"] - row["measured"])

    errors = [error_of(row) for row in measured]
    large = [(row, error) for row, error in zip(measured, errors, strict=True) if abs(row["measured"]) >= 0.02]
    signs = [row["predicted"] * row["measured"] > 0 for row, _ in large]
    return {
        "measured": len(measured),
        "of_2_percent": len(large),
        "right_signs": round(sum(signs) / len(signs), 3) if signs else None,
        "median_error_of_change": round(statistics.median(error / abs(row["measured"]) for row, error in large), 3) if large else None,
        "median_error_of_step": round(statistics.median(errors), 4) if errors else None,
    }


def main() -> int:
    options = parse()
    return predict(options) if options.predict is not None else measure(options)


if __name__ == "__main__":
    sys.exit(main())
