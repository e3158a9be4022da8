#!/usr/bin/env python3
"""One rank of scripts/gpu/symmetric_trouble.py: a small model whose mean gradients are known to the bit, in one kind of trouble.

usage: trouble_cases.py CASE [--device cpu]      started as a rank; rank 0 prints one JSON line
"""

from __future__ import annotations

import contextlib
import gc
import json
import os
import sys
import weakref
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.algorithms.ddp_comm_hooks import default_hooks
from torch.nn.parallel import DistributedDataParallel

from trouble_model import ELEMENTS, LAYERS, ON_GPU, STEPS, Training, ddp, fsdp2

FULL = 0.99


def fill(keep_free: int) -> list[torch.Tensor]:
    """Takes the device's memory but for `keep_free` bytes."""
    if not ON_GPU:
        return []
    torch.cuda.empty_cache()
    free, _ = torch.cuda.mem_get_info()
    return [torch.empty(max(free - keep_free, 1), dtype=torch.uint8, device="cuda")]


def full(ranks: tuple[int, ...]) -> list[Training]:
    """99 % of the device are taken by the program itself, which fits."""
    training = ddp(gradient_as_bucket_view=True)
    training.step()
    held = fill(int((1 - FULL) * torch.cuda.mem_get_info()[1]) if ON_GPU else 0) if dist.get_rank() in ranks else []
    training.run()
    del held
    return [training]


def retries() -> list[Training]:
    """Long after the registration, one rank's allocator must free its cache to go on."""
    training = fsdp2()
    training.run()
    if dist.get_rank() == 1 and ON_GPU:
        free, _ = torch.cuda.mem_get_info()
        cached = torch.empty(int(0.4 * free), dtype=torch.uint8, device="cuda")
        del cached
        greater = torch.empty(int(0.8 * free), dtype=torch.uint8, device="cuda")  # fits only once the cache is given back
        del greater
        torch.cuda.empty_cache()
    training.run()
    return [training]


def rebuilt() -> list[Training]:
    """The model is wrapped again in the middle, as after its layers were frozen or exchanged."""
    first = ddp()
    first.run()
    first.wrapped = DistributedDataParallel(first.wrapped.module)
    gc.collect()
    first.run()
    return [first]


def dropped() -> list[Training]:
    """A model that the program drops goes at once, and the next one finds its memory. Python's garbage collector does not run."""
    ddp().step()  # PyTorch itself keeps the first model of a process
    gc.collect()
    gc.disable()
    first = ddp()
    first.run()
    wrong, alive = first.wrong, list(map(weakref.ref, first.parameters))
    del first
    wrong += sum(parameter() is not None for parameter in alive)
    second = ddp()
    second.steps = STEPS  # with those of the first one
    second.run()
    second.wrong += wrong
    gc.enable()
    return [second]


def many_dropped() -> list[Training]:
    """Ten models one after the other: the memory of one that was dropped is there for the next."""
    last = ddp()
    last.step()  # PyTorch itself keeps the first model of a process
    wrong, used, kept = last.wrong, [], []
    for number in range(10):
        last = ddp()
        last.run(16)  # 12 until the buffers are registered
        wrong += last.wrong
        if number == 3:
            last.wrapped(float(dist.get_rank() + 1)).backward()
            kept = [parameter.grad for parameter in last.parameters]
        torch.cuda.empty_cache()
        free, total = torch.cuda.mem_get_info() if ON_GPU else (0, 0)
        used.append(total - free)
    print(f"rank {dist.get_rank()} uses behind each model, MiB: {[size >> 20 for size in used]}", file=sys.stderr)
    # Beside the last one's buckets and those of the gradients that are kept there may be those of the model before.
    last.wrong = wrong + int(used[-1] > used[0] + 9 * LAYERS * ELEMENTS)
    last.wrong += sum((gradient != (dist.get_world_size() + 1) / 2).sum() for gradient in kept)
    return [last]


def two_models() -> list[Training]:
    both = [ddp(), ddp(bucket_cap_mb=40)]
    for _ in range(STEPS):
        for training in both:
            training.step()
    return both


def remade_group() -> list[Training]:
    first = ddp()
    first.run()
    del first.wrapped
    gc.collect()
    dist.destroy_process_group()
    os.environ["MASTER_PORT"] = str(int(os.environ["MASTER_PORT"]) + 1)  # the old store may not have closed its port yet
    join()
    second = ddp()
    second.run()
    return [first, second]


def forked_loader() -> list[Training]:
    training = ddp()
    training.run(4)
    numbers = list(range(4 * STEPS))  # which is a data set
    for _ in torch.utils.data.DataLoader(numbers, batch_size=4, num_workers=2, multiprocessing_context="fork"):
        training.step()
    return [training]


def other_allocations() -> list[Training]:
    """Rank 1 allocates and frees other sizes all the time, also from inside the forward."""
    training = ddp()
    kept: list[torch.Tensor] = []

    def allocate(module: nn.Module, inputs: Any) -> None:
        if dist.get_rank() == 1:
            kept.append(torch.zeros(1 + 3_000_000 * (len(kept) % 5), device="cuda" if ON_GPU else "cpu"))
            del kept[: max(len(kept) - 7, 0)]

    training.wrapped.module.layers[2].register_forward_pre_hook(allocate)
    training.run()
    return [training]


def keeps_gradients() -> list[Training]:
    """Rank 1 keeps what one step has left, and it must not change."""
    training = ddp()
    training.run(STEPS // 2)
    kept: list[torch.Tensor] = []

    def keep(optimizer: Any, arguments: Any, named: Any) -> None:
        if dist.get_rank() == 1 and not kept:
            kept.extend(parameter.grad[100:] for parameter in training.parameters)

    training.optimizer.register_step_pre_hook(keep)
    training.step()
    before = [gradient.clone() for gradient in kept]
    training.run(STEPS // 2)
    training.wrong += sum((now != then).sum() for now, then in zip(kept, before, strict=True))
    del kept[:]
    training.run(4)
    return [training]


def late_readers() -> list[Training]:
    """A stream reads each step's gradients long after the program has dropped them, and has said so to the allocator."""
    training = ddp()
    side = torch.cuda.Stream() if ON_GPU else None

    def read_later(optimizer: Any, arguments: Any, named: Any) -> None:
        if side is None:
            return
        side.wait_stream(torch.cuda.current_stream())
        turn = (training.steps - 1) % 4 + 1
        with torch.cuda.stream(side):
            torch.cuda._sleep(100_000_000)  # some 50 ms
            for parameter in training.parameters:
                late = (parameter.grad != turn * (dist.get_world_size() + 1) / 2).sum()
                wrong.add_(late)
                parameter.grad.record_stream(side)

    wrong = torch.zeros((), dtype=torch.int64, device="cuda" if ON_GPU else "cpu")
    training.optimizer.register_step_pre_hook(read_later)
    training.run()
    if side is not None:
        side.synchronize()
    training.wrong += wrong
    return [training]


def joins() -> list[Training]:
    """Rank 1 runs out of inputs, and joins with zeros from memory of its own."""
    training = ddp()
    training.run()
    rank = dist.get_rank()
    with training.wrapped.join():
        for _ in range(4 - 2 * rank):
            training.optimizer.zero_grad()
            training.wrapped(float(rank + 1)).backward()
    mean = 3 / 2 if rank == 1 else 1 / 2  # rank 0 has had the last two steps alone
    training.wrong += sum((parameter.grad != mean).sum() for parameter in training.parameters)
    training.optimizer.zero_grad()
    training.run(4)
    return [training]


def captured() -> list[Training]:
    """A step as a CUDA graph, behind steps without one. All on one stream that is not the default one, as PyTorch asks for."""
    if not ON_GPU:
        return [(training := ddp(), training.run())[0]]
    side = torch.cuda.Stream()
    with torch.cuda.stream(side):
        training = ddp()
        training.run()
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph, stream=side, capture_error_mode="thread_local"):
        training.wrapped(float(dist.get_rank() + 1)).backward()
    with torch.cuda.stream(side):
        for _ in range(3):
            for parameter in training.parameters:
                parameter.grad.zero_()
            graph.replay()
            training.wrong += sum((parameter.grad != (dist.get_world_size() + 1) / 2).sum() for parameter in training.parameters)
    torch.cuda.synchronize()
    return [training]


@contextlib.contextmanager
def replaced(module: str, path: str, value: Any) -> Iterator[None]:
    """Something of the package that the hook loaded. Nothing where the hook is not there."""
    __import__("elbowroom." + module)
    owner = sys.modules["elbowroom." + module]
    *outer, name = path.split(".")
    for part in outer:
        owner = getattr(owner, part)
    plain = getattr(owner, name)
    setattr(owner, name, value(plain))
    try:
        yield
    finally:
        setattr(owner, name, plain)


def verdict(slower: bool) -> Any:
    """What is said of the steps' times, whatever they are: launches that share a GPU, and one that is nearly full, have no times of worth."""
    return replaced("timing", "proven_slower", lambda plain: lambda before, after: slower)


def fails_on_one_rank() -> list[Training]:
    """NCCL registers on all ranks, and one of them says that it failed."""

    def failing(plain: Any) -> Any:
        def register(self: Any, address: int, size: int) -> None:
            plain(self, address, size)
            if dist.get_rank() == 1:
                raise RuntimeError("as if cuMemMap had answered 801")

        return register

    with replaced("registrations", "Registrations.register", failing):
        training = ddp()
        training.run()
    return [training]


def called_slower(make: Any) -> list[Training]:
    """Steps are called slower whatever they take, so that all ranks give back in the middle of the run."""
    with verdict(True):
        training = make()
        for _ in range(2 * STEPS):
            training.step()
            if ON_GPU:
                torch.cuda.synchronize()  # times are known soon
    return [training]


CASES = {
    "plain_ddp": lambda: [(training := ddp(), training.run())[0]],
    "compressed": lambda: [(training := ddp(default_hooks.bf16_compress_hook), training.run())[0]],
    "compressed_wrapper": lambda: [(training := ddp(default_hooks.fp16_compress_wrapper(default_hooks.allreduce_hook)), training.run())[0]],
    "full": lambda: full((0, 1)),
    "full_on_one_rank": lambda: full((1,)),
    "retries": retries,
    "hsdp_passes": lambda: [(training := fsdp2(passes=3), training.run())[0]],
    "rebuilt": rebuilt,
    "dropped": dropped,
    "many_dropped": many_dropped,
    "two_models": two_models,
    "remade_group": remade_group,
    "forked_loader": forked_loader,
    "other_allocations": other_allocations,
    "fails_on_one_rank": fails_on_one_rank,
    "keeps_gradients": keeps_gradients,
    "late_readers": late_readers,
    "joins": joins,
    "captured": captured,
    "slower_ddp": lambda: called_slower(ddp),
    "slower_fsdp2": lambda: called_slower(fsdp2),
    "slower_hsdp": lambda: called_slower(lambda: fsdp2(passes=3)),
    "slower_compressed": lambda: called_slower(lambda: ddp(default_hooks.bf16_compress_hook)),
}


def join() -> None:
    device = torch.device("cuda", int(os.environ["LOCAL_RANK"])) if ON_GPU else None
    dist.init_process_group("nccl" if ON_GPU else "gloo", timeout=timedelta(seconds=90), device_id=device)


def main() -> None:
    if ON_GPU:
        torch.cuda.set_device(int(os.environ["LOCAL_RANK"]))
    join()
    with verdict(False):
        trainings = CASES[sys.argv[1]]()
    import elbowroom

    own = {
        "wrong": sum(int(training.wrong) for training in trainings),
        "steps": sum(training.steps for training in trainings),
        "buffers": elbowroom.report()["buffers"],
        "refused": elbowroom.report()["refused"],
    }
    everyone: list[Any] = [None] * dist.get_world_size()
    dist.all_gather_object(everyone, own)
    if dist.get_rank() == 0:
        print(json.dumps({"case": sys.argv[1], "ranks": everyone}), flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
