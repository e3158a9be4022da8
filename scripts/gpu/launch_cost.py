#!/usr/bin/env python3
"""What a kernel launch of a PyTorch program costs more under `elbowroom run`, everything counted, by the program's own clock.

usage: scripts/gpu/launch_cost.py --elbowroom PROGRAM [--before PROGRAM] [--arms alone,rest] [--launches 3] [--seconds 225] [--json FILE]

Two ranks launch an empty kernel in blocks of 100, in turns through `cuLaunchKernel` as the program finds it and through the driver's own,
and work on the CPU in between as programs do. The difference is what a launch costs more: `outside` with no collective under way, `inside`
while an all-reduce runs. Processes differ by a third in what a launch takes them; within one process the two can be compared. Other calls that a
step makes often are compared in the same way, with no collective under way.

The arms are the program alone, where both are the same function; `--policy gate`, which follows every launch; `auto` at rest; and that of an earlier
build. What an arm takes more than the program alone is printed with the 95 % interval of Student's t over the launches of the ranks. A first launch of `auto` compares and keeps what it chose, so that those behind it rest from the begin on. A launch that rested for less than RESTED of its launches
is marked and left out of the medians. Needs PyTorch 2.9 or later, and two GPUs. On one, ranks that NCCL takes for two hosts share it: give
--reduced-mib 16 then. Exit code 1 where a launch of the program failed.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import launched
from two_builds import interval

LAUNCHER = Path(__file__).resolve().parent.parent.parent / "examples" / "pytorch" / "launch.py"
DRIVER, LAUNCH = "libcuda.so.1", "cuLaunchKernel"
POINTER, WORD = ctypes.c_void_p, ctypes.c_uint
PROTOTYPES = {
    LAUNCH: [POINTER, *[WORD] * 7, *[POINTER] * 3],
    "cuEventRecord": [POINTER, POINTER],
    "cuStreamWaitEvent": [POINTER, POINTER, WORD],
    "cuEventQuery": [POINTER],
    "cuMemsetD8Async": [ctypes.c_uint64, ctypes.c_ubyte, ctypes.c_size_t, POINTER],
}
BLOCK = 100
RESTED = 0.8
WARM_BLOCKS = 10  # steps whose times do not count
COMPARING_STEPS = 3000  # of one collective: equal arms may take all rounds, of several repetitions a step


def base_of_driver() -> int:
    for line in Path("/proc/self/maps").read_text().splitlines():
        if "libcuda.so" in line:
            return int(line.partition("-")[0], 16)
    raise OSError(f"{DRIVER} is not loaded")


def address_of(function: object) -> int:
    return ctypes.cast(function, ctypes.c_void_p).value or 0  # type: ignore[arg-type]


def offsets_in_driver() -> dict[str, int]:
    """Where the driver's own functions lie. To be asked in a process that nothing is preloaded into."""
    library = ctypes.CDLL(DRIVER)
    base = base_of_driver()
    return {name: address_of(getattr(library, name)) - base for name in PROTOTYPES}


def arguments_of(torch: Any, held: list[Any]) -> dict[str, tuple]:
    """Of calls on the current stream. They are good as long as what `held` gets."""
    kernel = torch.cuda._compile_kernel('extern "C" __global__ void nothing() {}', "nothing")
    stream, event, memory = ctypes.c_void_p(torch.cuda.current_stream().cuda_stream), torch.cuda.Event(), torch.zeros(1024, device="cuda")
    event.record()
    recorded = ctypes.c_void_p(event.cuda_event)
    held += [kernel, event, memory]
    return {
        LAUNCH: (kernel.func, 1, 1, 1, 32, 1, 1, 0, stream, None, None),
        "cuEventRecord": (recorded, stream),
        "cuStreamWaitEvent": (stream, recorded, 0),
        "cuEventQuery": (recorded,),
        "cuMemsetD8Async": (memory.data_ptr(), 0, 64, stream),
    }


class Call:
    """Blocks of one call, in turns by the function that the program finds and by the driver's own."""

    def __init__(self, name: str, arguments: tuple, offset: int, numbers: Any) -> None:
        prototype = ctypes.CFUNCTYPE(ctypes.c_int, *PROTOTYPES[name])
        found, own = address_of(getattr(ctypes.CDLL(DRIVER), name)), base_of_driver() + offset
        self._found, self._own, self.same = prototype(found), prototype(own), found == own
        self._arguments, self._numbers = arguments, numbers

    def _block(self, call: Callable[..., int]) -> float:
        begin = time.perf_counter()
        for _ in range(BLOCK):
            self._numbers.add_(1.0)
            call(*self._arguments)
        return 1e6 * (time.perf_counter() - begin) / BLOCK

    def difference(self, found_first: bool) -> float:
        """Microseconds that the call takes more as the program finds it."""
        first, second = (self._found, self._own) if found_first else (self._own, self._found)
        difference = self._block(first) - self._block(second)
        return difference if found_first else -difference


def both_orders(differences: list[float]) -> float:
    """The first of two blocks takes longer: the mean of the medians with either function first."""
    return (statistics.median(differences[::2]) + statistics.median(differences[1::2])) / 2


def work(steps: int, warm_up: int, offsets: dict[str, int], reduced_mib: int) -> None:
    """One rank."""
    import torch
    import torch.distributed as dist

    rank = int(os.environ["RANK"])
    device = launched.own_device(rank, torch)
    torch.cuda.set_device(device)
    dist.init_process_group("nccl", device_id=torch.device("cuda", device))
    large = torch.zeros(reduced_mib << 19, device="cuda", dtype=torch.bfloat16)
    numbers, held = torch.zeros(64), []
    calls = {name: Call(name, arguments, offsets[name], numbers) for name, arguments in arguments_of(torch, held).items()}
    launches = calls.pop(LAUNCH)
    times: dict[str, list[float]] = {where: [] for where in ("outside", "inside", *calls)}
    missed = 0
    for step in range(warm_up + steps):
        torch.cuda.synchronize()
        if step < warm_up - WARM_BLOCKS:  # what `auto` compares
            dist.all_reduce(large)
            continue
        outside = launches.difference(step % 2 == 0)
        torch.cuda.synchronize()
        reducing = dist.all_reduce(large, async_op=True)
        inside = launches.difference(step % 2 == 0)
        missed += step >= warm_up and reducing.is_completed()
        reducing.wait()
        torch.cuda.synchronize()
        others = {name: call.difference(step % 2 == 0) for name, call in calls.items()}
        if step >= warm_up:
            for where, time_of in ({"outside": outside, "inside": inside} | others).items():
                times[where].append(time_of)
    torch.cuda.synchronize()
    line = json.dumps({"rank": rank, "missed": missed, "same_function": launches.same} | {where: both_orders(of) for where, of in times.items()})
    os.write(sys.stdout.fileno(), f"{line}\n".encode())  # in one piece: the other rank writes to the same place
    dist.destroy_process_group()


def arms(options: argparse.Namespace) -> dict[str, list[str]]:
    every = {
        "alone": [],
        "following": [options.elbowroom, "run", "--no-memory", "--quiet", "--policy", "gate"],
        "rest": [options.elbowroom, "run", "--quiet"],
        "rest before": [options.before, "run", "--quiet"],
    }
    chosen = options.arms.split(",") if options.arms else [arm for arm in every if options.before or arm != "rest before"]
    return {arm: every[arm] for arm in chosen}


def launch(options: argparse.Namespace, arm: str, prefix: list[str], offsets: dict[str, int], memory: str, warm_up: int) -> dict:
    """`memory`: the folder in which `auto` keeps what it chose."""
    with tempfile.TemporaryDirectory() as folder:
        report = Path(folder) / "report.json"
        under = [*prefix, "--report", str(report), "--"] if prefix else []
        worker = [__file__, "--work", "--offsets", json.dumps(offsets), "--steps", str(options.steps), "--warm-up", str(warm_up)]
        worker += ["--reduced-mib", str(options.reduced_mib)]
        done = launched.run([*under, sys.executable, str(LAUNCHER), "-n", "2", *worker], os.environ | {"XDG_CACHE_HOME": memory}, options.timeout)
        rows = [json.loads(line) for line in done.output.splitlines() if line.startswith("{")]
        result = {"arm": arm, "code": done.code, "ranks": rows}
        if done.code:
            result["errors"] = done.errors[-2000:]
        if report.exists():
            run = json.loads(report.read_text())
            total, trials = run["total"], [process["ab"] for process in run["processes"] if "ab" in process]
            result |= {"overhead": total["overhead"], "launches": total["launches"]}
            result["compared"] = [{name: trial.get(name) for name in ("state", "arm", "remembered", "choices")} for trial in trials]
        if arm.startswith("rest") and result.get("launches", {}).get("at_rest", 0) < RESTED * result.get("launches", {}).get("total", 1):
            result["left_out"] = "it compared for too long"
        return result


def against_alone(times: dict[str, list[float]], arm: str) -> str:
    if arm == "alone" or min(len(times.get("alone", [])), len(times[arm])) < 3:
        return ""
    differences = [under - alone for alone, under in zip(times["alone"], times[arm], strict=False)]
    low, high = interval(differences)
    return f", {statistics.fmean(differences):+.3f} more than alone ({low:+.3f}..{high:+.3f})"


def summary(results: list[dict]) -> None:
    for where in ("outside", "inside", *list(PROTOTYPES)[1:]):
        times: dict[str, list[float]] = {}
        for result in results:
            if "left_out" not in result:
                times.setdefault(result["arm"], []).extend(row[where] for row in sorted(result["ranks"], key=lambda row: row["rank"]))
        for arm, of in times.items():
            print(f"# {where:17} {arm:11} {statistics.median(of):+.3f} us ({min(of):+.3f}..{max(of):+.3f}, {len(of)} ranks){against_alone(times, arm)}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--elbowroom", default="elbowroom")
    parser.add_argument("--before", default="", help="of an earlier build")
    parser.add_argument("--arms", default="", help="some of alone, following, rest, rest before")
    parser.add_argument("--launches", type=int, default=3, help="of each arm")
    parser.add_argument("--seconds", type=float, default=225, help="no launch begins after these")
    parser.add_argument("--timeout", type=float, default=60, help="of one launch, in seconds")
    parser.add_argument("--steps", type=int, default=100)
    parser.add_argument("--warm-up", type=int, default=100, help="steps before them")
    parser.add_argument("--reduced-mib", type=int, default=1024, help="of the all-reduce, which is to take longer than two blocks")
    parser.add_argument("--json", default="")
    parser.add_argument("--work", action="store_true", help=argparse.SUPPRESS)
    parser.add_argument("--offsets", type=json.loads, default={}, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.work:
        work(options.steps, options.warm_up, options.offsets, options.reduced_mib)
        return 0
    begin, results, offsets = time.monotonic(), [], offsets_in_driver()
    with tempfile.TemporaryDirectory() as folder:
        memory = {arm: f"{folder}/{arm}" for arm in arms(options)}
        for arm, prefix in arms(options).items():
            if arm.startswith("rest"):
                launch(options, arm, prefix, offsets, memory[arm], COMPARING_STEPS)
        for number in range(options.launches):
            for arm, prefix in list(arms(options).items())[:: 1 if number % 2 == 0 else -1]:
                if time.monotonic() - begin < options.seconds:
                    results.append(launch(options, arm, prefix, offsets, memory[arm], options.warm_up))
                    print(json.dumps(results[-1]), flush=True)
    summary(results)
    if options.json:
        Path(options.json).write_text(json.dumps(results, indent=1))
    return 1 if any(result["code"] for result in results) else 0


if __name__ == "__main__":
    sys.exit(main())
