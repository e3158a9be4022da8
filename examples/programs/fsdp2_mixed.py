"""Training with FSDP2 as recipes for large models do it: fp32 master weights, bf16 copies, recomputed and compiled layers, AdamW.

--reduce fp32 sums gradients in fp32, as torchtitan does; bf16 sums half the bytes. --two trains two such models in turns, as distillation or
an actor and its critic do.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator

import llama
import loop
import torch
from torch.distributed.algorithms._checkpoint.checkpoint_wrapper import checkpoint_wrapper
from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard

RATE = 1e-4
SUMS = {"bf16": torch.bfloat16, "fp32": torch.float32}


def model_of(options: argparse.Namespace, device: torch.device) -> llama.Transformer:
    with device:
        model = llama.Transformer(llama.shape_of(options), torch.float32)
    for number, block in enumerate(model.blocks):
        model.blocks[number] = checkpoint_wrapper(block, preserve_rng_state=False)
        if not options.eager:
            model.blocks[number].compile()
    if options.local:
        return model.to(torch.bfloat16)
    policy = MixedPrecisionPolicy(param_dtype=torch.bfloat16, reduce_dtype=SUMS[options.reduce])
    for module in (*model.blocks, model):
        fully_shard(module, mp_policy=policy)
    return model


class Turns:
    """One step of each of the trainings."""

    def __init__(self, trainings: list[loop.Training]) -> None:
        self._trainings = trainings

    def step(self) -> None:
        for training in self._trainings:
            training.step()

    def results(self) -> Iterator[torch.Tensor]:
        for training in self._trainings:
            yield from training.results()


def training_of(options: argparse.Namespace, device: torch.device) -> loop.Training:
    training = llama.training(model_of(options, device), options, device)
    training.optimizer = torch.optim.AdamW(training.model.parameters(), lr=RATE, fused=device.type == "cuda")
    return training


def main() -> None:
    options = loop.parser(__doc__, **llama.SIZES | {"batch": 2})
    options.add_argument("--reduce", choices=tuple(SUMS), default="bf16", help="in which type gradients are summed")
    options.add_argument("--two", action="store_true", help="two models in turns")
    options.add_argument("--eager", action="store_true", help="layers are not compiled")
    options = options.parse_args()
    with loop.ranks(options) as device:
        turns = Turns([training_of(options, device) for _ in range(2 if options.two else 1)])
        loop.run("fsdp2_mixed", options, device, turns.step, turns.results)


if __name__ == "__main__":
    main()
