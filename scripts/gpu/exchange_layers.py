"""Layers of the mixture of experts and of tensor parallelism (examples/programs), written for ways that have a place of their own for
each exchange (exchange_ways.py): each starts as soon as its input is there and is waited for where its output is used.
"""

from __future__ import annotations

import sys
from pathlib import Path

import torch
import torch.distributed as dist
import torch.nn.functional as F
from exchange_ways import Exchange, Way
from torch.autograd.function import once_differentiable

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "examples" / "programs"))
import moe  # noqa: E402
import tensor_parallel  # noqa: E402
from tensor_parallel import ColumnParallel  # noqa: E402


class Flight:
    """What the two ends of an all-to-all share: forward starts at one and waits at the other, backward the other way round."""

    def __init__(self, way: Way) -> None:
        self._way = way
        self._exchange: Exchange | None = None

    def start(self, x: torch.Tensor) -> torch.Tensor:
        self._exchange = self._way.start("all_to_all", x)
        return self._exchange.output

    def start_backward(self, gradient: torch.Tensor) -> torch.Tensor:
        output = self.start(gradient)
        if self._way.waits_at_once and self._exchange is not None:
            self._exchange.wait()
        return output

    def wait(self) -> None:
        exchange, self._exchange = self._exchange, None
        exchange.wait()


class Start(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x: torch.Tensor, flight: Flight) -> torch.Tensor:
        ctx.flight = flight
        return flight.start(x)

    @staticmethod
    def backward(ctx, gradient: torch.Tensor) -> tuple[torch.Tensor, None]:
        ctx.flight.wait()
        return gradient, None


class Finish(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x: torch.Tensor, flight: Flight) -> torch.Tensor:
        ctx.flight = flight
        flight.wait()
        return x.view_as(x)

    @staticmethod
    def backward(ctx, gradient: torch.Tensor) -> tuple[torch.Tensor, None]:
        return ctx.flight.start_backward(gradient), None


def joined(way: Way, parts: tuple[torch.Tensor, ...]) -> torch.Tensor:
    return torch.cat(parts, out=way.room((sum(map(len, parts)), *parts[0].shape[1:]), parts[0]))


class Divided(torch.autograd.Function):
    """tensor_split, whose gradient is produced where the way has room for it."""

    @staticmethod
    def forward(ctx, x: torch.Tensor, parts: int, way: Way) -> tuple[torch.Tensor, ...]:
        ctx.way = way
        return x.tensor_split(parts)

    @staticmethod
    def backward(ctx, *gradients: torch.Tensor) -> tuple[torch.Tensor, None, None]:
        return joined(ctx.way, gradients), None, None


class Joined(torch.autograd.Function):
    """cat, produced where the way has room for it."""

    @staticmethod
    def forward(ctx, way: Way, *parts: torch.Tensor) -> torch.Tensor:
        ctx.rows = [len(part) for part in parts]
        return joined(way, parts)

    @staticmethod
    def backward(ctx, gradient: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        return None, *gradient.split(ctx.rows)


class ExpertLayer(moe.Layer):
    def even(self, halves: tuple[torch.Tensor, ...]) -> list[torch.Tensor]:
        way = self.exchange
        if isinstance(way, moe.Exchange):
            return super().even(halves)
        arriving = [self.started(way, half) for half in halves]
        returned = [self.started(way, self.computed(way, Finish.apply(*tokens))) for tokens in arriving]
        return [Finish.apply(*tokens) for tokens in returned]

    @staticmethod
    def started(way: Way, x: torch.Tensor) -> tuple[torch.Tensor, Flight]:
        flight = Flight(way)
        return Start.apply(x, flight), flight

    def computed(self, way: Way, x: torch.Tensor) -> torch.Tensor:
        """moe.Experts, with room for what is sent."""
        outputs, experts = [], self.experts
        for rows, up, down in zip(Divided.apply(x, len(experts.up), way), experts.up, experts.down, strict=True):
            gate, value = (rows @ up).chunk(2, dim=-1)
            outputs.append((F.silu(gate) * value) @ down)
        return Joined.apply(way, *outputs)


class Group(tensor_parallel.Plain):
    """Collectives by ways; where there is none, the program's."""

    def __init__(self, gathers: Way, scatters: Way | None) -> None:
        self._gathers, self._scatters = gathers, scatters

    def gather(self, shard: torch.Tensor) -> tuple[torch.Tensor, Exchange]:
        exchange = self._gathers.start("all_gather", shard)
        return exchange.output, exchange

    def scatter(self, full: torch.Tensor) -> tuple[torch.Tensor, Exchange | dist.Work | None]:
        if self._scatters is None:
            return super().scatter(full)
        exchange = self._scatters.start("reduce_scatter", full)
        return exchange.output, exchange

    def product(self, full: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
        """One whose sum is scattered."""
        if self._scatters is None:
            return full @ weight
        return torch.mm(full, weight, out=self._scatters.room((len(full), weight.shape[1]), full))

    def scattered_product(self, full: torch.Tensor, weight: torch.Tensor) -> torch.Tensor:
        shard, scattering = self.scatter(self.product(full, weight))
        tensor_parallel.wait(scattering)
        return shard


class Column(ColumnParallel):
    @staticmethod
    @once_differentiable
    def backward(ctx, gradient: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, None]:
        if not isinstance(ctx.group, Group):
            return ColumnParallel.backward(ctx, gradient)
        shard, weight = ctx.saved_tensors
        full, gathering = ctx.group.gather(shard)
        partial = ctx.group.product(gradient, weight)
        gathering.wait()
        of_shard, scattering = ctx.group.scatter(partial)
        of_weight = gradient.t() @ full
        tensor_parallel.wait(scattering)
        return of_shard, of_weight, None
