"""The same DDP training again and again in one process: which step and which parameter's gradient first differs between trials.

A trial builds the model anew from the same seed and trains a few steps with deterministic algorithms; every gradient of every step
is reduced to one whole number on the device. Run under `elbowroom run` it tells whether a policy changes a bit, and how often;
--jitter puts pauses of random length on the compute stream, which tells whether the program itself depends on timing; --dirty leaves
other bits in all memory before each trial, which tells whether it reads memory that it has not written.

usage: python3 launch.py -n 2 repeatability.py [--trials N] [--steps N] [--jitter MICROSECONDS] [--dirty]
Rank 0 prints one JSON line; exit code 1 when a trial differs from the first, 77 without torch or two GPUs.
"""

from __future__ import annotations

import argparse
import gc
import hashlib
import json
import random
import sys

import common
import torch
import torch.distributed as dist
import transformer
from torch import nn
from torch.nn.parallel import DistributedDataParallel

CYCLES_PER_MICROSECOND = 1_900


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    parser.add_argument("--trials", type=int, default=20)
    parser.add_argument("--steps", type=int, default=8)
    parser.add_argument("--batch", type=int, default=1)
    parser.add_argument("--jitter", type=int, default=0, help="greatest pause behind a layer's backward pass, microseconds")
    parser.add_argument("--dirty", action="store_true", help="fill the memory that a trial will take with bits of its own")
    return parser.parse_args()


def add_jitter(model: nn.Module, greatest: int, choice: random.Random) -> None:
    def pause(*_: object) -> None:
        if choice.random() < 0.5:
            torch.cuda._sleep(choice.randrange(1, greatest * CYCLES_PER_MICROSECOND))

    for module in model.modules():
        if isinstance(module, nn.Linear):
            module.register_full_backward_hook(pause)


def checksum(tensor: torch.Tensor) -> torch.Tensor:
    """Whole-number arithmetic: the same in any order of sums."""
    return tensor.detach().view(-1).view(common.WORDS[tensor.element_size()]).sum(dtype=torch.int64)


def leave_dirty(number: int) -> None:
    """All cached and most free memory gets bits that differ from trial to trial; NaNs among them, which spread where they are read."""
    torch.cuda.synchronize()
    torch.cuda.empty_cache()
    free, _ = torch.cuda.mem_get_info()
    pieces = [torch.empty(1 << 30, dtype=torch.uint8, device="cuda") for _ in range(min(free // (1 << 30) - 4, 32))]
    pieces += [torch.empty(1 << 20, dtype=torch.uint8, device="cuda") for _ in range(256)]
    for piece in pieces:
        piece.fill_((number * 37 + 255) % 256)
    del pieces
    torch.cuda.synchronize()


def trial(options: argparse.Namespace, number: int) -> torch.Tensor:
    """[steps, 1 + parameters]: the loss, then each gradient after its all-reduce."""
    if options.dirty:
        leave_dirty(number)
    common.seed(1)
    model = transformer.Transformer()
    if options.jitter:
        add_jitter(model, options.jitter, random.Random(1000 * number + dist.get_rank()))
    wrapped = DistributedDataParallel(model, device_ids=[torch.cuda.current_device()])
    training = transformer.TrainingStep(wrapped, options.batch)
    sums = []
    for _ in range(options.steps):
        training.step()
        loss, *tensors = training.results()
        sums.append(torch.stack([checksum(loss)] + [checksum(gradient) for gradient in tensors[1::2]]))
    return torch.stack(sums).cpu()


def main() -> int:
    options = parse()
    common.join_ranks(deterministic=True)
    names = ["loss"] + [name for name, _ in transformer.Transformer().named_parameters()]
    differing = []
    first = trial(options, 0)
    for number in range(1, options.trials):
        gc.collect()
        sums = trial(options, number)
        steps, places = (sums != first).nonzero(as_tuple=True)
        if len(steps):
            step = int(steps.min())
            where = [names[int(place)] for at, place in zip(steps, places) if int(at) == step]
            differing.append({"trial": number, "step": step, "first": where[:8], "of": len(where)})
    gathered: list[list[dict[str, object]]] = [[] for _ in range(dist.get_world_size())]
    dist.all_gather_object(gathered, differing)
    if dist.get_rank() == 0:
        digest = hashlib.sha256(first.numpy().tobytes()).hexdigest()[:16]  # of the first trial: for comparison between launches
        settings = {"trials": options.trials, "steps": options.steps, "jitter_us": options.jitter, "dirty": options.dirty}
        print(json.dumps(settings | {"digest": digest, "differing": gathered}))
    dist.destroy_process_group()
    return 1 if any(gathered) else 0


if __name__ == "__main__":
    sys.exit(main())
