"""Training with DistributedDataParallel as Lightning's Fabric wraps it, in bf16-mixed precision. Exit code 77: Lightning is missing."""

from __future__ import annotations

import argparse

import llama
import loop
import torch

try:
    from lightning.fabric import Fabric
    from lightning.fabric.plugins.environments import TorchElasticEnvironment
except ImportError as error:
    loop.skip(f"lightning cannot be imported ({error})")

RATE = 1e-4


class Training(loop.Training):
    def __init__(self, plain: loop.Training, fabric: Fabric) -> None:
        self.__dict__.update(plain.__dict__)
        self._fabric = fabric

    def forward_backward(self) -> None:
        loss = self._forward()
        self._fabric.backward(loss)
        self.loss = loss.detach()


def training_of(options: argparse.Namespace, device: torch.device) -> loop.Training:
    model = llama.transformer(options, device, torch.float32)
    if options.local:
        return llama.training(model, options, device)
    accelerator = "cuda" if device.type == "cuda" else "cpu"
    started = TorchElasticEnvironment()  # its variables are there whoever has started the ranks
    fabric = Fabric(accelerator=accelerator, strategy="ddp", devices=torch.distributed.get_world_size(), precision="bf16-mixed", plugins=started)
    fabric.launch()
    wrapped, optimizer = fabric.setup(model, torch.optim.AdamW(model.parameters(), lr=RATE))
    training = Training(llama.training(wrapped, options, device), fabric)
    training.optimizer = optimizer
    return training


def main() -> None:
    options = loop.parser(__doc__, **llama.SIZES | {"layers": 4}).parse_args()
    with loop.ranks(options) as device:
        training = training_of(options, device)
        loop.run("lightning_fabric", options, device, training.step, training.results)


if __name__ == "__main__":
    main()
