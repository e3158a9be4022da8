"""Decoder inference with tensor parallelism: a step decodes --new tokens of a small batch, with two small all-reduces per layer.

--one-shot takes PyTorch's one-shot all-reduces on symmetric memory, its own switch for small messages.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator

import loop
import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn

HEAD = 128
Reduce = Callable[[torch.Tensor], torch.Tensor]


def left_out(x: torch.Tensor) -> torch.Tensor:
    return x


def all_reduced(x: torch.Tensor) -> torch.Tensor:
    dist.all_reduce(x)
    return x


def one_shot(options: argparse.Namespace, device: torch.device) -> Reduce:
    import torch.distributed._symmetric_memory as symmetric_memory

    group = dist.group.WORLD.group_name
    symmetric_memory.enable_symm_mem_for_group(group)
    buffer = symmetric_memory.empty(options.batch, options.hidden, device=device, dtype=torch.bfloat16)
    symmetric_memory.rendezvous(buffer, group)
    return lambda x: torch.ops.symm_mem.one_shot_all_reduce(buffer.copy_(x), "sum", group)


class Layer(nn.Module):
    """This rank's heads and its slice of the MLP."""

    def __init__(self, options: argparse.Namespace, reduce: Reduce) -> None:
        super().__init__()
        ranks = dist.get_world_size()
        self.head = min(HEAD, options.hidden // ranks)
        heads = options.hidden // ranks // self.head

        def linear(inputs: int, outputs: int) -> nn.Linear:
            return nn.Linear(inputs, outputs, bias=False, dtype=torch.bfloat16)

        self.attention_norm = nn.Parameter(torch.ones(options.hidden, dtype=torch.bfloat16))
        self.ffn_norm = nn.Parameter(torch.ones(options.hidden, dtype=torch.bfloat16))
        self.qkv, self.output = linear(options.hidden, 3 * heads * self.head), linear(heads * self.head, options.hidden)
        self.up, self.down = linear(options.hidden, 2 * options.ffn // ranks), linear(options.ffn // ranks, options.hidden)
        cache = (2, options.batch, heads, options.context + options.new, self.head)
        self.register_buffer("cache", torch.randn(cache).to(torch.bfloat16), persistent=False)
        self.reduce = reduce

    def attention(self, x: torch.Tensor, position: int) -> torch.Tensor:
        query, key, value = (part.view(x.shape[0], -1, 1, self.head) for part in self.qkv(x).chunk(3, dim=-1))
        self.cache[0, :, :, position : position + 1] = key
        self.cache[1, :, :, position : position + 1] = value
        mixed = F.scaled_dot_product_attention(query, *self.cache[:, :, :, : position + 1])
        return self.output(mixed.reshape(x.shape[0], -1))

    def forward(self, x: torch.Tensor, position: int) -> torch.Tensor:
        normed = F.rms_norm(x, (x.shape[-1],), self.attention_norm, 1e-5)
        x = x + self.reduce(self.attention(normed, position))
        gate, value = self.up(F.rms_norm(x, (x.shape[-1],), self.ffn_norm, 1e-5)).chunk(2, dim=-1)
        return x + self.reduce(self.down(F.silu(gate) * value))


class Decoder:
    def __init__(self, options: argparse.Namespace, device: torch.device) -> None:
        reduce = left_out if options.local else one_shot(options, device) if options.one_shot else all_reduced
        with device:
            self._layers = nn.ModuleList(Layer(options, reduce) for _ in range(options.layers)).requires_grad_(False)
            self._input = torch.randn(options.batch, options.hidden).to(torch.bfloat16)
        self._positions = range(options.context, options.context + options.new)
        self._output = self._input

    def step(self) -> None:
        x = self._input
        for position in self._positions:
            for layer in self._layers:
                x = layer(x, position)
            x = F.rms_norm(x, (x.shape[-1],))
        self._output = x

    def results(self) -> Iterator[torch.Tensor]:
        yield self._output


def main() -> None:
    options = loop.parser(__doc__, layers=16, hidden=8192, ffn=28672, batch=16, context=2048, new=4)
    options.add_argument("--one-shot", action="store_true", help="one-shot all-reduces on symmetric memory")
    options = options.parse_args()
    with loop.ranks(options) as device, torch.inference_mode():
        decoder = Decoder(options, device)
        loop.run("decode", options, device, decoder.step, decoder.results)


if __name__ == "__main__":
    main()
