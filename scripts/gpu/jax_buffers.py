"""JAX with XLA's buffers on symmetric memory: plain and under `elbowroom run --set xla_symmetric_buffers=1`, in turns.

Needs two GPUs and jax[cuda12] or jax[cuda13] for the Python that runs this. Each program of examples/programs trains for some 30 s a launch.

    python3 -B scripts/gpu/jax_buffers.py --elbowroom build/release/bin/elbowroom --json jax.json

`--own-blocks` adds XLA's flag alone, with NCCL's own number of blocks, which was slower than plain. Losses of all launches of a program must be equal
to 1 %. Exit code 77: JAX or the second GPU is missing.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
from pathlib import Path
from typing import Any

import launched

PROGRAMS = ("jax_data_parallel", "jax_fully_sharded")
OPTION = ["--set", "xla_symmetric_buffers=1"]
FLAG = "--xla_gpu_experimental_enable_nccl_symmetric_buffers=true"  # jax 0.7.2 to 0.12.0
SKIPPED = 77


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--elbowroom", default="build/release/bin/elbowroom")
    parser.add_argument("--programs", default=",".join(PROGRAMS))
    parser.add_argument("--pairs", type=int, default=3)
    parser.add_argument("--steps", type=int, default=60)
    parser.add_argument("--timeout", type=float, default=200)
    parser.add_argument("--own-blocks", action="store_true")
    parser.add_argument("--json", default="")
    return parser.parse_args()


def launch(options: argparse.Namespace, program: str, what: str) -> dict[str, Any]:
    path = launched.REPOSITORY / "examples" / "programs" / f"{program}.py"
    command = [sys.executable, str(path), "--steps", str(options.steps)]
    environment = dict(os.environ, NCCL_NVLS_ENABLE="0")
    if what in ("run", "option"):
        command = [options.elbowroom, "run", *(OPTION if what == "option" else []), "--", *command]
    if what == "own blocks":
        environment["XLA_FLAGS"] = FLAG
    done = launched.run(command, environment, options.timeout)
    result: dict[str, Any] = {"program": program, "what": what, "code": done.code}
    result["closing"] = [line for line in done.errors.splitlines() if line.startswith("elbowroom: ")][-1:]
    if done.code == 0:
        line = json.loads(done.output.strip().splitlines()[-1])
        result |= {"ms": statistics.median(line["steps_ms"]), "loss": line["loss"], "device": line["device"], "versions": line["versions"]}
    else:
        result["errors"] = done.errors[-2000:]
    return result


def main() -> int:
    options, results, failed = parse(), [], False
    kinds = ["plain", "run", "option"] + (["own blocks"] if options.own_blocks else [])
    for program in options.programs.split(","):
        for pair in range(options.pairs):
            for what in kinds if pair % 2 == 0 else reversed(kinds):
                result = launch(options, program, what)
                if result["code"] == SKIPPED:
                    print(result["errors"], file=sys.stderr)
                    return SKIPPED
                results.append(result)
                print(f"{program:18} {what:10} {result.get('ms', result['code'])} ms  {' '.join(result['closing'])}", flush=True)
        times = {what: [one["ms"] for one in results if one["program"] == program and one["what"] == what and "ms" in one] for what in kinds}
        losses = [one["loss"] for one in results if one["program"] == program and "loss" in one]
        failed |= not all(times.values()) or max(losses) - min(losses) > 0.01 * abs(losses[0])
        if times["plain"]:
            plain = statistics.median(times["plain"])
            medians = {what: statistics.median(some) for what, some in times.items() if some}
            words = [f"{what} {median:.2f} ({100 * (median / plain - 1):+.1f} %)" for what, median in medians.items()]
            print(f"{program}: {', '.join(words)}, loss {losses}", flush=True)
    if options.json:
        Path(options.json).write_text(json.dumps(results, indent=1) + "\n")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
