"""Training with PyTorch's own tensor parallelism: `parallelize_module` with DTensor, eager, small layers, so that the host is the limit."""

from __future__ import annotations

import argparse

import llama
import loop
import torch
import torch.distributed as dist
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.tensor.parallel import ColwiseParallel, RowwiseParallel, parallelize_module

RATE = 1e-4
PLAN = {name: ColwiseParallel() for name in ("gate", "up")} | {"down": RowwiseParallel()}


class Mlp(torch.nn.Module):
    def __init__(self, hidden: int, ffn: int) -> None:
        super().__init__()
        kind = {"bias": False, "dtype": torch.bfloat16}
        self.norm = llama.RmsNorm(hidden, dtype=torch.bfloat16)
        self.gate, self.up = torch.nn.Linear(hidden, ffn, **kind), torch.nn.Linear(hidden, ffn, **kind)
        self.down = torch.nn.Linear(ffn, hidden, **kind)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        normed = self.norm(x)
        return x + self.down(torch.nn.functional.silu(self.gate(normed)) * self.up(normed))


def training_of(options: argparse.Namespace, device: torch.device) -> loop.Training:
    with device:
        model = torch.nn.Sequential(*(Mlp(options.hidden, options.ffn) for _ in range(options.layers)))
    if not options.local:
        mesh = init_device_mesh(device.type, (dist.get_world_size(),))
        for layer in model:
            parallelize_module(layer, mesh, PLAN)
    inputs = torch.randn(options.tokens, options.hidden, device=device, dtype=torch.bfloat16)
    training = loop.Training(model, lambda: model(inputs).float().square().mean(), RATE)
    # The norms are plain tensors beside the DTensors of the products, which one call cannot update together.
    training.optimizer = torch.optim.SGD(model.parameters(), lr=RATE, foreach=False)
    return training


def main() -> None:
    options = loop.parser(__doc__, layers=32, hidden=2048, ffn=5632, tokens=2048)
    options = options.parse_args()
    with loop.ranks(options) as device:
        training = training_of(options, device)
        loop.run("dtensor_tp", options, device, training.step, training.results)


if __name__ == "__main__":
    main()
