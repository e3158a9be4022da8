"""What the programs share, as scripts of one user would: options, ranks, the timed loop, the line at the end.

Nothing here is Elbowroom's. Start a program with torchrun, one process for each GPU:

    torchrun --nproc-per-node 2 ddp.py --steps 40

Rank 0 prints the time of each step and ends with one JSON line. Exit code 77: torch, a GPU or a second GPU is missing.
"""

from __future__ import annotations

import argparse
import hashlib
import itertools
import json
import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import NoReturn

SKIPPED = 77


def skip(reason: str) -> NoReturn:
    if os.environ.get("RANK", "0") == "0":
        print(f"skipped: {reason}", file=sys.stderr)
    sys.exit(SKIPPED)


try:
    import torch
    import torch.distributed as dist
except ImportError as error:
    skip(f"torch cannot be imported ({error})")

# Whole numbers with the bits of an element, by its bytes.
WORDS = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}


def parser(description: str | None, **sizes: int) -> argparse.ArgumentParser:
    options = argparse.ArgumentParser(description=(description or "").partition("\n")[0])
    options.add_argument("--steps", type=int, default=40, help="timed steps")
    options.add_argument("--warm-up", type=int, default=10, help="steps before them")
    options.add_argument("--local", action="store_true", help="the same computation, communication left out")
    options.add_argument("--deterministic", action="store_true", help="deterministic algorithms, and a digest of the results")
    options.add_argument("--trace", default="", help="file for a torch.profiler trace of rank 0, of steps after the timed ones; rank N writes FILE.rankN")
    options.add_argument("--device", choices=("cuda", "cpu"), default="cuda", help="cpu: gloo, to try the program out")
    for name, size in sizes.items():
        options.add_argument(f"--{name.replace('_', '-')}", type=int, default=size)
    return options


def _device(options: argparse.Namespace) -> torch.device:
    here = int(os.environ.get("LOCAL_WORLD_SIZE", os.environ["WORLD_SIZE"]))
    if options.device == "cpu":
        return torch.device("cpu")
    if not torch.cuda.is_available():
        skip("no CUDA device is usable")
    if torch.cuda.device_count() < here:
        skip(f"{torch.cuda.device_count()} GPUs are here, {here} are needed")
    if os.environ["WORLD_SIZE"] == "1":
        skip("1 rank, 2 are needed")
    device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
    torch.cuda.set_device(device)
    return device


@contextmanager
def ranks(options: argparse.Namespace) -> Iterator[torch.device]:
    """This process as one of the ranks, with a device of its own."""
    if "RANK" not in os.environ:
        sys.exit("expected to be started as a rank: torchrun --nproc-per-node 2 PROGRAM")
    if options.deterministic:
        os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
        torch.use_deterministic_algorithms(True)
    device = _device(options)
    on_gpu = device.type == "cuda"
    dist.init_process_group("nccl" if on_gpu else "gloo", device_id=device if on_gpu else None)
    try:
        torch.manual_seed(1)
        yield device
    finally:
        dist.destroy_process_group()


class Training:
    """Forward, backward and plain SGD; `forward` gives the loss."""

    def __init__(self, model: torch.nn.Module, forward: Callable[[], torch.Tensor], rate: float) -> None:
        self.model = model
        self.optimizer = torch.optim.SGD(model.parameters(), lr=rate, foreach=True)
        self.loss = torch.zeros(())
        self._forward = forward

    def forward_backward(self) -> None:
        loss = self._forward()
        loss.backward()
        self.loss = loss.detach()

    def step(self) -> None:
        self.optimizer.zero_grad(set_to_none=True)
        self.forward_backward()
        self.optimizer.step()

    def results(self) -> Iterator[torch.Tensor]:
        yield self.loss
        yield from self.model.parameters()


class Clock:
    """Times of steps: on a GPU from one step's end to the next one's, while the host runs ahead as in a training loop."""

    def __init__(self, device: torch.device, steps: int) -> None:
        self._events = [torch.cuda.Event(enable_timing=True) for _ in range(steps + 1)] if device.type == "cuda" else []
        self._ends: list[float] = []
        self._cpu: list[float] = []

    def mark(self) -> None:
        if self._events:
            self._events[len(self._ends)].record()
        self._ends.append(time.perf_counter())
        self._cpu.append(time.process_time())

    def steps_ms(self) -> list[float]:
        if self._events:
            return [begin.elapsed_time(end) for begin, end in itertools.pairwise(self._events)]
        return [1e3 * (end - begin) for begin, end in itertools.pairwise(self._ends)]

    def cpu_ms(self) -> list[float]:
        """What the process computed on its CPUs, all threads together."""
        return [1e3 * (end - begin) for begin, end in itertools.pairwise(self._cpu)]


def slowest_rank(times: list[float]) -> list[float]:
    gathered: list[list[float]] = [[] for _ in range(dist.get_world_size())]
    dist.all_gather_object(gathered, times)
    return [round(max(of_step), 4) for of_step in zip(*gathered, strict=True)]


def checksum(tensor: torch.Tensor) -> int:
    """Whole-number arithmetic: the same in any order of sums."""
    local = tensor.detach()
    local = local.to_local() if hasattr(local, "to_local") else local
    flat = local.contiguous().view(-1)
    return int(flat.view(WORDS[flat.element_size()]).sum(dtype=torch.int64).item())


def digest(results: Iterable[torch.Tensor]) -> str:
    """Of the results of all ranks."""
    gathered: list[list[int]] = [[] for _ in range(dist.get_world_size())]
    dist.all_gather_object(gathered, [checksum(tensor) for tensor in results])
    return hashlib.sha256(str(gathered).encode()).hexdigest()[:16]


def record(device: torch.device, step: Callable[[], None], path: str, first: int = 2, steps: int = 6) -> None:
    """The first steps are left out: the profiler holds their launches up most, and ranks come to their collectives late."""
    activity = torch.profiler.ProfilerActivity.CUDA if device.type == "cuda" else torch.profiler.ProfilerActivity.CPU
    schedule = torch.profiler.schedule(wait=0, warmup=first, active=steps, repeat=1)
    with torch.profiler.profile(activities=[activity], schedule=schedule) as profile:
        for number in range(1, first + steps + 1):
            step()
            if number in (first, first + steps):
                synchronize(device)  # no kernel is on both sides of the recording's begin or end
            profile.step()
    rank = dist.get_rank()
    profile.export_chrome_trace(path if rank == 0 else f"{path}.rank{rank}")


def synchronize(device: torch.device) -> None:
    if device.type == "cuda":
        torch.cuda.synchronize()


def versions() -> dict[str, str]:
    found = {"torch": torch.__version__, "cuda": torch.version.cuda or "none"}
    if torch.cuda.is_available():
        found["nccl"] = ".".join(str(part) for part in torch.cuda.nccl.version())
    return found


def run(
    program: str,
    options: argparse.Namespace,
    device: torch.device,
    step: Callable[[], None],
    results: Callable[[], Iterable[torch.Tensor]],
) -> None:
    """Warms up, times `options.steps` steps and prints. The first of `results` is the loss, or the output where there is none."""
    for _ in range(options.warm_up):
        step()
    synchronize(device)
    span = [time.time()]
    clock = Clock(device, options.steps)
    clock.mark()
    for _ in range(options.steps):
        step()
        clock.mark()
    synchronize(device)
    span.append(time.time())
    line = {
        "program": program,
        "steps_ms": slowest_rank(clock.steps_ms()),
        "cpu_ms": slowest_rank(clock.cpu_ms()),
        "span": span,
        "loss": float(next(iter(results())).detach().float().mean()),
        "digest": digest(results()) if options.deterministic else None,
        "local": options.local,
        "gpus": dist.get_world_size(),
        "device": torch.cuda.get_device_name() if device.type == "cuda" else "cpu",
        "peak_gib": round(torch.cuda.max_memory_reserved() / 2**30, 1) if device.type == "cuda" else 0.0,
        "versions": versions(),
    }
    if dist.get_rank() == 0:
        for number, milliseconds in enumerate(line["steps_ms"]):
            print(f"step {number}: {milliseconds:.3f} ms")
        print(json.dumps(line), flush=True)
    if options.trace:
        record(device, step, options.trace)
