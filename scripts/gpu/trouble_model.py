"""A small model whose mean gradients are known to the bit, as one rank of scripts/gpu/trouble_cases.py trains it."""

from __future__ import annotations

import sys
from typing import Any

import torch
import torch.distributed as dist
from torch import nn
from torch.nn.parallel import DistributedDataParallel

ELEMENTS = 4 << 20  # of each of the parameters
LAYERS = 6
STEPS = 48  # 12 until the buffers are registered, 10 until they are compared, 9 at least until ranks meet
ON_GPU = "cpu" not in sys.argv


class Layer(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.zeros(ELEMENTS if ON_GPU else 1 << 12, device="cuda" if ON_GPU else "cpu"))

    def forward(self, scale: float) -> torch.Tensor:
        return (self.weight * scale).sum()  # the gradient is `scale`, everywhere


class Model(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.ModuleList(Layer() for _ in range(LAYERS))

    def forward(self, scale: float) -> torch.Tensor:
        return sum(layer(scale) for layer in self.layers)


class Training:
    """Counts the gradients that are not the mean over the ranks, all of them whole halves and so exact in every type."""

    def __init__(self, wrapped: nn.Module, model: Model) -> None:
        self.wrapped, self.parameters = wrapped, list(model.parameters())
        self.optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
        self.wrong = torch.zeros((), dtype=torch.int64, device="cuda" if ON_GPU else "cpu")
        self.steps = 0
        self.passes = 1  # of which the last one alone is all-reduced, where there are several

    def step(self) -> None:
        turn = self.steps % 4 + 1
        self.steps += 1
        for number in range(self.passes):
            if self.passes > 1:
                self.wrapped.set_requires_all_reduce(number == self.passes - 1)
            self.wrapped(float(turn * (dist.get_rank() + 1))).backward()
        ranks = dist.get_world_size()
        mean = self.passes * turn * (ranks + 1) / 2
        for parameter in self.wrapped.parameters():
            gradient = parameter.grad.to_local() if hasattr(parameter.grad, "to_local") else parameter.grad
            self.wrong += (gradient != mean).sum()
        self.optimizer.step()
        self.optimizer.zero_grad()

    def run(self, steps: int = STEPS) -> None:
        for _ in range(steps):
            self.step()


def ddp(hook: Any = None, **more: Any) -> Training:
    model = Model()
    wrapped = DistributedDataParallel(model, **more)
    if hook is not None:
        wrapped.register_comm_hook(None, hook)
    return Training(wrapped, model)


def fsdp2(passes: int = 1) -> Training:
    """Several passes: of HSDP, whose copies are one."""
    from torch.distributed.device_mesh import init_device_mesh
    from torch.distributed.fsdp import fully_shard

    model = Model()
    shape, names = ((dist.get_world_size(),), ("shards",)) if passes == 1 else ((1, dist.get_world_size()), ("copies", "shards"))
    mesh = init_device_mesh("cuda" if ON_GPU else "cpu", shape, mesh_dim_names=names)
    for layer in model.layers:
        fully_shard(layer, mesh=mesh)
    training = Training(fully_shard(model, mesh=mesh), model)
    training.passes = passes
    return training
