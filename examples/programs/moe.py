"""A mixture of experts, trained: a rank's tokens go in two halves, so that one's all-to-all can run beside the other's experts.

Without --uneven every expert gets as many tokens. With it a router decides for each token: ranks exchange counts, hosts read them,
and the first ranks' experts get more, as in real mixtures.
"""

from __future__ import annotations

import argparse

import loop
import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn
from torch.distributed._functional_collectives import all_to_all_single_autograd

SIZES = {"layers": 6, "hidden": 4096, "ffn": 4096, "tokens": 8192, "experts": 4}
HALVES = 2
Splits = list[int] | None


class LeftOut(torch.autograd.Function):
    """In place of an all-to-all: as many rows as it would bring, which are there already."""

    @staticmethod
    def forward(ctx, x: torch.Tensor, rows: int) -> torch.Tensor:
        ctx.rows = x.shape[0]
        return _of_length(x, rows)

    @staticmethod
    def backward(ctx, gradient: torch.Tensor) -> tuple[torch.Tensor, None]:
        return _of_length(gradient, ctx.rows), None


def _of_length(x: torch.Tensor, rows: int) -> torch.Tensor:
    repeats = -(-rows // x.shape[0])
    return x.repeat(repeats, 1)[:rows] if repeats > 1 else x[:rows]


class Exchange:
    def __init__(self, local: bool) -> None:
        self._local = local

    def tokens(self, x: torch.Tensor, received: Splits, sent: Splits) -> torch.Tensor:
        if self._local:
            return LeftOut.apply(x, x.shape[0] if received is None else sum(received))
        return all_to_all_single_autograd(x, received, sent, dist.group.WORLD)

    def counts(self, sent: torch.Tensor) -> torch.Tensor:
        """How many tokens each rank sends here."""
        if self._local:
            return sent[dist.get_rank()].expand(dist.get_world_size())
        received = torch.empty_like(sent)
        dist.all_to_all_single(received, sent)
        return received


class Router(nn.Module):
    """Chooses one rank for each token; `skew` favours the first ranks."""

    def __init__(self, hidden: int) -> None:
        super().__init__()
        ranks = dist.get_world_size()
        self.gate = nn.Parameter(torch.randn(hidden, ranks, dtype=torch.bfloat16) / hidden**0.5)
        self.register_buffer("skew", torch.linspace(0.5, 0.0, ranks))

    def forward(self, x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        """For sorting the tokens by rank: the order, the weights in that order, how many go to each rank."""
        weights = (x @ self.gate).float().softmax(-1)
        chosen = (weights + self.skew).argmax(-1)
        order = chosen.argsort()
        counts = torch.zeros(weights.shape[1], dtype=torch.int64, device=x.device)
        counts = counts.scatter_add(0, chosen, torch.ones_like(chosen))
        return order, weights.gather(1, chosen[:, None])[order].to(x.dtype), counts


class Experts(nn.Module):
    """Those of this rank; what arrives is divided evenly among them."""

    def __init__(self, experts: int, hidden: int, ffn: int) -> None:
        super().__init__()
        self.up = nn.Parameter(torch.randn(experts, hidden, 2 * ffn, dtype=torch.bfloat16) / hidden**0.5)
        self.down = nn.Parameter(torch.randn(experts, ffn, hidden, dtype=torch.bfloat16) / ffn**0.5)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        outputs = []
        for rows, up, down in zip(x.tensor_split(len(self.up)), self.up, self.down, strict=True):
            gate, value = (rows @ up).chunk(2, dim=-1)
            outputs.append((F.silu(gate) * value) @ down)
        return torch.cat(outputs)


class Layer(nn.Module):
    def __init__(self, options: argparse.Namespace, exchange: Exchange) -> None:
        super().__init__()
        self.norm = nn.Parameter(torch.ones(options.hidden, dtype=torch.bfloat16))
        self.router = Router(options.hidden) if options.uneven else None
        self.experts = Experts(options.experts, options.hidden, options.ffn)
        self.exchange = exchange

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        halves = F.rms_norm(x, (x.shape[-1],), self.norm, 1e-5).chunk(HALVES)
        outputs = self.routed(halves) if self.router else self.even(halves)
        return x + torch.cat(outputs)

    def even(self, halves: tuple[torch.Tensor, ...]) -> list[torch.Tensor]:
        arriving = [self.exchange.tokens(half, None, None) for half in halves]
        return [self.exchange.tokens(self.experts(tokens), None, None) for tokens in arriving]

    def routed(self, halves: tuple[torch.Tensor, ...]) -> list[torch.Tensor]:
        routes = [self.router(half) for half in halves]
        splits = [(self.exchange.counts(counts).tolist(), counts.tolist()) for _, _, counts in routes]
        arriving = [
            self.exchange.tokens(half[order], received, sent)
            for half, (order, _, _), (received, sent) in zip(halves, routes, splits, strict=True)
        ]
        returned = [
            self.exchange.tokens(self.experts(tokens), sent, received)
            for tokens, (received, sent) in zip(arriving, splits, strict=True)
        ]
        return [
            torch.empty_like(half).index_copy(0, order, weights * tokens)
            for half, (order, weights, _), tokens in zip(halves, routes, returned, strict=True)
        ]


def training_of(options: argparse.Namespace, device: torch.device) -> loop.Training:
    exchange = Exchange(options.local)
    torch.manual_seed(1 + dist.get_rank())
    with device:
        model = nn.Sequential(*(Layer(options, exchange) for _ in range(options.layers)))
        tokens = torch.randn(options.tokens, options.hidden, dtype=torch.bfloat16)
    return loop.Training(model, lambda: model(tokens).float().square().mean(), rate=1e-4)


def main() -> None:
    options = loop.parser(__doc__, **SIZES)
    options.add_argument("--uneven", action="store_true", help="a router decides, ranks get different numbers of tokens")
    options = options.parse_args()
    with loop.ranks(options) as device:
        training = training_of(options, device)
        loop.run("moe", options, device, training.step, training.results)


if __name__ == "__main__":
    main()
