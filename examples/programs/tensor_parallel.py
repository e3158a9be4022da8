"""Layers of an MLP with tensor and sequence parallelism, written by hand with plain collectives.

A rank holds a slice of each weight and of the tokens: all-gather, column-parallel product, row-parallel product, reduce-scatter.
In the backward pass collectives run beside the products of weight gradients. --async-tp takes PyTorch's fused products on symmetric
memory instead, which cut collective and product into pieces.
"""

from __future__ import annotations

import argparse

import loop
import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn
from torch.autograd.function import once_differentiable

SIZES = {"layers": 8, "hidden": 4096, "ffn": 14336, "tokens": 8192}


class Plain:
    """Collectives of their own."""

    def gather(self, shard: torch.Tensor) -> tuple[torch.Tensor, dist.Work | None]:
        full = shard.new_empty(shard.shape[0] * dist.get_world_size(), *shard.shape[1:])
        return full, dist.all_gather_into_tensor(full, shard.contiguous(), async_op=True)

    def scatter(self, full: torch.Tensor) -> tuple[torch.Tensor, dist.Work | None]:
        shard = full.new_empty(full.shape[0] // dist.get_world_size(), *full.shape[1:])
        return shard, dist.reduce_scatter_tensor(shard, full, async_op=True)

    def gathered_product(self, shard: torch.Tensor, weight: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        full, work = self.gather(shard)
        wait(work)
        return full, full @ weight

    def scattered_product(self, full: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
        shard, work = self.scatter(full @ weight)
        wait(work)
        return shard


class Local(Plain):
    """The same products on memory of the same size; what would come from other ranks is there already."""

    def __init__(self, tokens: int, hidden: int, device: torch.device) -> None:
        self._full = torch.randn(tokens, hidden, device=device, dtype=torch.bfloat16)

    def gather(self, shard: torch.Tensor) -> tuple[torch.Tensor, dist.Work | None]:
        return self._full, None

    def scatter(self, full: torch.Tensor) -> tuple[torch.Tensor, dist.Work | None]:
        return full[: full.shape[0] // dist.get_world_size()], None


class Fused(Plain):
    """PyTorch's switch: symmetric memory, copies beside pieces of the product."""

    def __init__(self) -> None:
        from torch.distributed._symmetric_memory import enable_symm_mem_for_group

        self._group = dist.group.WORLD.group_name
        enable_symm_mem_for_group(self._group)

    def gathered_product(self, shard: torch.Tensor, weight: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        full, products = torch.ops.symm_mem.fused_all_gather_matmul(shard.contiguous(), [weight], 0, self._group)
        return full, products[0]

    def scattered_product(self, full: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
        return torch.ops.symm_mem.fused_matmul_reduce_scatter(full, weight, "sum", 0, self._group)


def wait(work: dist.Work | None) -> None:
    if work is not None:
        work.wait()


class ColumnParallel(torch.autograd.Function):
    """Tokens of all ranks times this rank's columns."""

    @staticmethod
    def forward(ctx, shard: torch.Tensor, weight: torch.Tensor, group: Plain) -> torch.Tensor:
        ctx.save_for_backward(shard, weight)
        ctx.group = group
        return group.gathered_product(shard, weight.t())[1]

    @staticmethod
    @once_differentiable
    def backward(ctx, gradient: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, None]:
        shard, weight = ctx.saved_tensors
        full, gathering = ctx.group.gather(shard)
        if isinstance(ctx.group, Fused):
            of_shard, scattering = ctx.group.scattered_product(gradient, weight), None
            wait(gathering)
        else:
            partial = gradient @ weight
            wait(gathering)
            of_shard, scattering = ctx.group.scatter(partial)
        of_weight = gradient.t() @ full
        wait(scattering)
        return of_shard, of_weight, None


class RowParallel(torch.autograd.Function):
    """Sums over ranks of this rank's rows, for its own tokens."""

    @staticmethod
    def forward(ctx, x: torch.Tensor, weight: torch.Tensor, group: Plain) -> torch.Tensor:
        ctx.save_for_backward(x, weight)
        ctx.group = group
        return group.scattered_product(x, weight.t())

    @staticmethod
    @once_differentiable
    def backward(ctx, gradient: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, None]:
        x, weight = ctx.saved_tensors
        full, of_x = ctx.group.gathered_product(gradient, weight)
        return of_x, full.t() @ x, None


class Layer(nn.Module):
    def __init__(self, hidden: int, ffn: int, group: Plain) -> None:
        super().__init__()
        self.norm = nn.Parameter(torch.ones(hidden, dtype=torch.bfloat16))
        self.up = nn.Parameter(torch.randn(ffn, hidden, dtype=torch.bfloat16) / hidden**0.5)
        self.down = nn.Parameter(torch.randn(hidden, ffn, dtype=torch.bfloat16) / ffn**0.5)
        self.group = group

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        normed = F.rms_norm(x, (x.shape[-1],), self.norm, 1e-5)
        inner = F.gelu(ColumnParallel.apply(normed, self.up, self.group))
        return x + RowParallel.apply(inner, self.down, self.group)


def group_of(options: argparse.Namespace, device: torch.device) -> Plain:
    if options.local:
        return Local(options.tokens, options.hidden, device)
    return Fused() if options.async_tp else Plain()


def training_of(options: argparse.Namespace, device: torch.device) -> loop.Training:
    ranks = dist.get_world_size()
    group = group_of(options, device)
    with device:
        model = nn.Sequential(*(Layer(options.hidden, options.ffn // ranks, group) for _ in range(options.layers)))
        shard = torch.randn(options.tokens // ranks, options.hidden, dtype=torch.bfloat16)
    return loop.Training(model, lambda: model(shard).float().square().mean(), rate=1e-4)


def main() -> None:
    options = loop.parser(__doc__, **SIZES)
    options.add_argument("--async-tp", action="store_true", help="PyTorch's fused products on symmetric memory")
    options = options.parse_args()
    with loop.ranks(options) as device:
        training = training_of(options, device)
        loop.run("tensor_parallel", options, device, training.step, training.results)


if __name__ == "__main__":
    main()
