"""What the examples share: ranks, settings, timing with CUDA events, digests, kernel records.

An example is a program of two ranks or more (torchrun, or launch.py beside this file). It prints one JSON line from rank 0 and
ends with exit code 77 where torch, CUDA or a second GPU is missing.
"""

from __future__ import annotations

import argparse
import gc
import hashlib
import itertools
import json
import os
import sys
import tempfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, NoReturn, Protocol

# NVLink multicast can put the GPUs of a shared host out of service. Read by NCCL and torch when they start.
os.environ["NCCL_NVLS_ENABLE"] = "0"
os.environ["TORCH_SYMM_MEM_DISABLE_MULTICAST"] = "1"

SKIPPED = 77
MODES = ("local", "plain", "high_priority_nccl")
SETTLE_STEPS = 2
LOCAL_WARM_UP = 10


def skip(reason: str) -> NoReturn:
    if os.environ.get("RANK", "0") == "0":
        print(f"skipped: {reason}", file=sys.stderr)
    sys.exit(SKIPPED)


try:
    import torch
    import torch.distributed as dist
except ImportError as error:
    skip(f"torch cannot be imported ({error})")

import kernel_records  # noqa: E402

# Whole numbers with the bits of an element, by its bytes.
WORDS = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}


@dataclass(frozen=True)
class Settings:
    modes: tuple[str, ...]
    steps: int
    warm_up: int
    rounds: int
    batch: int
    deterministic: bool
    profile_steps: int


class Workload(Protocol):
    def begin_block(self) -> None:
        """Called before each row of steps, untimed."""

    def step(self) -> None:
        """Enqueues one step; when it returns, the current stream waits for all of it."""

    def results(self) -> Iterable[torch.Tensor]:
        """What must be the same bit for bit, however the step was scheduled."""


@dataclass(frozen=True)
class Example:
    name: str
    prepare: Callable[[Settings, str], Workload]
    default_batch: int = 1


def parse_settings(arguments: list[str] | None = None) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    parser.add_argument("--mode", default="local,plain", help=f"of {', '.join(MODES)}; several by comma are interleaved")
    parser.add_argument("--steps", type=int, default=30, help="timed steps of each mode")
    parser.add_argument("--warm-up", type=int, default=10, help="steps of each mode right before its first timed one")
    parser.add_argument("--rounds", type=int, default=2, help="rows into which the steps of each mode are divided")
    parser.add_argument("--batch", type=int, default=0, help="sequences of a rank; 0: the example's own")
    parser.add_argument("--deterministic", action="store_true", help="deterministic algorithms")
    parser.add_argument("--profile-steps", type=int, default=0, help="steps of each mode to record after the timing")
    parser.add_argument("--examples", default="", help="suite.py only: NAME or NAME:BATCH, several by comma")
    options = parser.parse_args(arguments)
    for mode in options.mode.split(","):
        if mode not in MODES:
            parser.error(f"--mode: '{mode}', expected one of {', '.join(MODES)}")
    for name in ("steps", "rounds"):
        if getattr(options, name) < 1:
            parser.error(f"--{name}: {getattr(options, name)}, expected 1 or more")
    return options


def settings_of(options: argparse.Namespace, batch: int) -> Settings:
    return Settings(
        modes=tuple(options.mode.split(",")),
        steps=options.steps,
        warm_up=options.warm_up,
        rounds=min(options.rounds, options.steps),
        batch=batch,
        deterministic=options.deterministic,
        profile_steps=options.profile_steps,
    )


def join_ranks(deterministic: bool) -> None:
    """Makes this process a rank with a GPU of its own, or ends it with exit code 77."""
    if "RANK" not in os.environ:
        sys.exit("expected to be started as a rank: launch.py SCRIPT, or torchrun --nproc-per-node 2 SCRIPT")
    if not torch.cuda.is_available():
        skip("no CUDA device is usable")
    ranks = int(os.environ["WORLD_SIZE"])
    if torch.cuda.device_count() < max(ranks, 2):
        skip(f"{torch.cuda.device_count()} GPUs are here, {max(ranks, 2)} are needed")
    if deterministic:
        os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
        torch.use_deterministic_algorithms(True)
        torch.utils.deterministic.fill_uninitialized_memory = False
        torch.backends.cuda.enable_cudnn_sdp(False)  # may choose another algorithm from run to run
    device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
    torch.cuda.set_device(device)
    dist.init_process_group("nccl", timeout=timedelta(seconds=120), device_id=device)


def process_group(mode: str) -> dist.ProcessGroup:
    """The group whose streams have the mode's priority."""
    if mode != "high_priority_nccl":
        return dist.group.WORLD
    options = dist.ProcessGroupNCCL.Options()
    options.is_high_priority_stream = True
    return dist.new_group(backend="nccl", pg_options=options)


def seed(number: int) -> None:
    torch.manual_seed(number)
    torch.cuda.manual_seed(number)


def timed_row(workload: Workload, before: int, steps: int) -> list[float]:
    """Milliseconds of each step, from one step's end to the next one's, after `before` untimed ones. The host runs ahead, as in a
    training loop, and nothing but steps is enqueued: what watches a program's repetition sees one."""
    workload.begin_block()
    torch.cuda.synchronize()
    dist.barrier()
    for _ in range(before):
        workload.step()
    events = [torch.cuda.Event(enable_timing=True) for _ in range(steps + 1)]
    events[0].record()
    for event in events[1:]:
        workload.step()
        event.record()
    torch.cuda.synchronize()
    return [begin.elapsed_time(end) for begin, end in itertools.pairwise(events)]


def slowest_rank(times: list[float]) -> list[float]:
    gathered: list[list[float]] = [[] for _ in range(dist.get_world_size())]
    dist.all_gather_object(gathered, times)
    return [max(of_step) for of_step in zip(*gathered, strict=True)]


def fingerprint(tensor: torch.Tensor) -> str:
    """A number that changes with any bit and with the order of elements: whole-number arithmetic, the same in any order of sums."""
    local = tensor.detach()
    local = local.to_local() if hasattr(local, "to_local") else local
    flat = local.contiguous().view(-1)
    words = flat.view(WORDS[flat.element_size()])
    total = 0
    for begin in range(0, words.numel(), 1 << 24):
        part = words[begin : begin + (1 << 24)].to(torch.int64)
        weights = torch.arange(begin, begin + part.numel(), device=part.device, dtype=torch.int64) % 65_521 + 1
        total = (total * 31 + int((part * weights).sum().item())) % (1 << 64)
    return f"{tuple(local.shape)}:{local.dtype}:{total:016x}"


def digest(workload: Workload) -> str:
    """Of the results of all ranks."""
    own = hashlib.sha256("\n".join(fingerprint(tensor) for tensor in workload.results()).encode()).hexdigest()
    gathered = [""] * dist.get_world_size()
    dist.all_gather_object(gathered, own)
    return hashlib.sha256("".join(gathered).encode()).hexdigest()


def recorded_breakdown(workload: Workload, steps: int) -> dict[str, float]:
    """Kernel records of this rank. Recording slows the host down, so it stays apart from the timing."""
    workload.begin_block()
    torch.cuda.synchronize()
    dist.barrier()
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) as profile:
        for _ in range(steps):
            workload.step()
        torch.cuda.synchronize()
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "trace.json")
        profile.export_chrome_trace(path)
        with open(path, encoding="utf-8") as file:
            return kernel_records.breakdown(kernel_records.records_of_trace(json.load(file)), steps)


def untimed_steps(settings: Settings, mode: str, round_number: int) -> int:
    """Local compute has nothing to settle but clocks."""
    if round_number > 0:
        return SETTLE_STEPS
    return min(settings.warm_up, LOCAL_WARM_UP) if mode == "local" else settings.warm_up


def measure(example: Example, settings: Settings) -> dict[str, Any]:
    """All modes of one example: rows of steps in turns, the first of each mode after its warm-up; then digests and records."""
    workloads = {mode: example.prepare(settings, mode) for mode in settings.modes}
    rows: dict[str, list[float]] = {mode: [] for mode in settings.modes}
    for number in range(settings.rounds):
        steps = settings.steps // settings.rounds + (number < settings.steps % settings.rounds)
        for mode, workload in workloads.items():
            rows[mode] += slowest_rank(timed_row(workload, untimed_steps(settings, mode, number), steps))
    modes: dict[str, Any] = {}
    for mode, workload in workloads.items():
        modes[mode] = {"ms": [round(time, 4) for time in rows[mode]], "digest": digest(workload)}
    if settings.profile_steps > 0:
        for mode, workload in workloads.items():
            try:
                modes[mode]["kernels_ms"] = recorded_breakdown(workload, settings.profile_steps)
            except (RuntimeError, AssertionError, OSError) as error:  # the times above stand without records
                modes[mode]["no_records"] = f"{type(error).__name__}: {error}"
    return {
        "schema": "elbowroom.example/1",
        "example": example.name,
        "batch": settings.batch,
        "warm_up": settings.warm_up,
        "deterministic": settings.deterministic,
        "link": "host" if os.environ.get("NCCL_P2P_DISABLE") == "1" else "direct",
        "gpus": dist.get_world_size(),
        "device": torch.cuda.get_device_name(),
        "versions": {
            "torch": torch.__version__,
            "cuda": torch.version.cuda,
            "nccl": ".".join(str(part) for part in torch.cuda.nccl.version()),
        },
        "modes": modes,
    }


def run(cases: list[tuple[Example, int]], options: argparse.Namespace) -> int:
    """Measures (example, batch) after (example, batch) as one of the ranks; a line each."""
    join_ranks(options.deterministic)
    try:
        for example, batch in cases:
            measured = measure(example, settings_of(options, batch or example.default_batch))
            if dist.get_rank() == 0:
                print(json.dumps(measured), flush=True)
            gc.collect()
            torch.cuda.empty_cache()
    finally:
        dist.destroy_process_group()
    return 0


def main(example: Example) -> int:
    options = parse_settings()
    return run([(example, options.batch)], options)
