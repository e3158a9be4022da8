#!/usr/bin/env python3
"""What `elbowroom run` at rest adds to a step of the yardstick's programs on the host, by parts: how often a step calls CUDA, by what a call costs.

usage: scripts/gpu/added_host_time.py --cost FILE [--programs moe,pipeline] [--gpus 2] [--seconds 200] [--json FILE]

Host times of whole launches differ by a quarter where other programs share the machine's CPUs, and what `run` adds cannot be seen in them. So
the calls that rank 0 makes in a step are counted by the profiler, with nothing preloaded. FILE is what launch_cost.py wrote: what each kind of
call takes more at rest, as the program finds it, than the driver's own function. Calls that have no hook cost nothing, and hooked ones that were
not timed count as the dearest kind. Not in the sum: what caches and threads make of it, and steps in which `auto` compares.
"""

from __future__ import annotations

import argparse
import collections
import json
import os
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import launched

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "scripts" / "yardstick"))

import catalog  # noqa: E402
import launches  # noqa: E402
from traces import TRACED_STEPS  # noqa: E402

HOST_BOUND = "moe,moe_uneven,pipeline,decode,ddp_powersgd"
TIMED = {
    "outside": ("cudaLaunchKernel", "cuLaunchKernel", "cudaLaunchKernelExC", "cuLaunchKernelEx"),
    "cuEventRecord": ("cudaEventRecord", "cudaEventRecordWithFlags"),
    "cuStreamWaitEvent": ("cudaStreamWaitEvent",),
    "cuEventQuery": ("cudaEventQuery",),
    "cuMemsetD8Async": ("cudaMemsetAsync",),
}
NOT_HOOKED = {
    "cudaDeviceGetAttribute",
    "cudaGetErrorString",
    "cudaGetFuncBySymbol",
    "cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags",
    "cudaPeekAtLastError",
    "cudaStreamIsCapturing",
    "cudaThreadExchangeStreamCaptureMode",
}
KIND_OF = {call: kind for kind, calls in TIMED.items() for call in calls}
HOST_CATEGORIES = ("cuda_runtime", "cuda_driver")


def costs(path: Path) -> dict[str, tuple[float, float]]:
    """Microseconds of each kind of call at rest: the median of ranks, and the greatest."""
    ranks = [row for result in json.loads(path.read_text()) if result["arm"] == "rest" and "left_out" not in result for row in result["ranks"]]
    if not ranks:
        raise ValueError(f"{path}: expected launches at rest, none is there")
    return {kind: (statistics.median(row[kind] for row in ranks), max(row[kind] for row in ranks)) for kind in TIMED}


def calls_of_a_step(trace: Path) -> dict[str, float]:
    events = json.loads(trace.read_text(encoding="utf-8"))["traceEvents"]
    names = collections.Counter(event["name"] for event in events if event.get("cat") in HOST_CATEGORIES)
    for name in NOT_HOOKED:
        names.pop(name, None)
    return {name: count / TRACED_STEPS for name, count in names.most_common()}


def added_us(calls: dict[str, float], cost: dict[str, tuple[float, float]], which: int) -> float:
    """`which`: 0 for the medians, 1 for the greatest. A call that seemed cheaper than the driver's own counts as nothing."""
    dearest = max(of_kind[which] for of_kind in cost.values())
    of = {kind: max(0.0, of_kind[which]) for kind, of_kind in cost.items()}
    return sum(count * (of[KIND_OF[name]] if name in KIND_OF else max(0.0, dearest)) for name, count in calls.items())


def measured(program: catalog.Program, options: argparse.Namespace, cost: dict[str, tuple[float, float]]) -> dict[str, Any]:
    plan = launches.Plan("", "", options.gpus, options.steps, options.warm_up, options.timeout)
    with tempfile.TemporaryDirectory() as folder:
        trace = Path(folder) / "trace.json"
        command = [*launches.program_command(program, catalog.Arm(catalog.PLAIN, "plain"), plan), "--trace", str(trace)]
        done = launched.run(command, os.environ | catalog.ALWAYS, options.timeout)
        line = launches.line_of(done.output)
        if done.code or line is None or not trace.exists():
            return {"program": program.name, "code": done.code, "errors": done.errors[-2000:]}
        calls = calls_of_a_step(trace)
    step_ms = statistics.median(line["steps_ms"])
    added = [added_us(calls, cost, which) for which in (0, 1)]
    shares = [round(0.1 * us / step_ms, 4) for us in added]
    return {"program": program.name, "code": 0, "step_ms": step_ms, "calls": calls, "added_us": added, "percent": shares}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cost", type=Path, required=True)
    parser.add_argument("--programs", default=HOST_BOUND)
    parser.add_argument("--gpus", type=int, default=2)
    parser.add_argument("--steps", type=int, default=40)
    parser.add_argument("--warm-up", type=int, default=40)
    parser.add_argument("--timeout", type=float, default=90, help="of one launch, in seconds")
    parser.add_argument("--seconds", type=float, default=200, help="no launch begins after these")
    parser.add_argument("--json", default="")
    options = parser.parse_args()
    try:
        programs, cost = catalog.chosen(options.programs), costs(options.cost)
    except (OSError, ValueError, KeyError, TypeError) as error:
        sys.exit(f"added_host_time: {error}")
    begin, results = time.monotonic(), []
    for program in programs:
        if time.monotonic() - begin > options.seconds:
            break
        result = measured(program, options, cost)
        results.append(result)
        if result["code"]:
            print(f"{program.name}: exit code {result['code']}: {result['errors'][-300:]}")
            continue
        of_kind = collections.Counter({kind: 0.0 for kind in (*TIMED, "others")})
        for call, count in result["calls"].items():
            of_kind[KIND_OF.get(call, "others")] += count
        counts = ", ".join(f"{kind} {count:.0f}" for kind, count in of_kind.items())
        added, percent = result["added_us"], result["percent"]
        print(f"{program.name}: {result['step_ms']:.2f} ms, +{added[0]:.0f} us (at most {added[1]:.0f}), {percent[0]:.3f} % ({percent[1]:.3f}): {counts}", flush=True)
    if options.json:
        Path(options.json).write_text(json.dumps({"cost": cost, "programs": results}, indent=1))
    return 1 if any(result["code"] for result in results) else 0


if __name__ == "__main__":
    sys.exit(main())
