"""Layers of the LLaMA kind and their training."""

from __future__ import annotations

import argparse
from dataclasses import dataclass

import loop
import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn

HEAD = 128
LEARNING_RATE = 2e-3


@dataclass(frozen=True)
class Shape:
    """Of a model, and of the tokens that a rank feeds it in a step."""

    layers: int
    hidden: int
    ffn: int
    tokens: int
    batch: int


# The sizes that programs take as options; 7 B LLaMA's, with fewer layers.
SIZES = {"layers": 6, "hidden": 4096, "ffn": 11008, "tokens": 2048, "batch": 1}


def shape_of(options: argparse.Namespace) -> Shape:
    return Shape(**{name: getattr(options, name) for name in SIZES})


class RmsNorm(nn.Module):
    def __init__(self, hidden: int, **kind: torch.dtype) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(hidden, **kind))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return F.rms_norm(x, (x.shape[-1],), self.weight.to(x.dtype), 1e-5)


def rotated(x: torch.Tensor, cosine: torch.Tensor, sine: torch.Tensor) -> torch.Tensor:
    first, second = x.chunk(2, dim=-1)
    return torch.cat((first * cosine - second * sine, second * cosine + first * sine), dim=-1)


class Block(nn.Module):
    def __init__(self, shape: Shape, dtype: torch.dtype) -> None:
        super().__init__()

        def linear(inputs: int, outputs: int) -> nn.Linear:
            return nn.Linear(inputs, outputs, bias=False, dtype=dtype)

        hidden, ffn = shape.hidden, shape.ffn
        self.head = min(HEAD, hidden)
        self.attention_norm, self.ffn_norm = RmsNorm(hidden, dtype=dtype), RmsNorm(hidden, dtype=dtype)
        self.query, self.key, self.value, self.output = (linear(hidden, hidden) for _ in range(4))
        self.gate, self.up, self.down = linear(hidden, ffn), linear(hidden, ffn), linear(ffn, hidden)

    def forward(self, x: torch.Tensor, cosine: torch.Tensor, sine: torch.Tensor) -> torch.Tensor:
        batch, tokens, hidden = x.shape

        def heads(projected: torch.Tensor) -> torch.Tensor:
            return projected.view(batch, tokens, hidden // self.head, self.head).transpose(1, 2)

        normed = self.attention_norm(x)
        query = rotated(heads(self.query(normed)), cosine, sine)
        key = rotated(heads(self.key(normed)), cosine, sine)
        mixed = F.scaled_dot_product_attention(query, key, heads(self.value(normed)), is_causal=True)
        x = x + self.output(mixed.transpose(1, 2).reshape(batch, tokens, hidden))
        normed = self.ffn_norm(x)
        return x + self.down(F.silu(self.gate(normed)) * self.up(normed))


class Transformer(nn.Module):
    def __init__(self, shape: Shape, dtype: torch.dtype = torch.bfloat16) -> None:
        super().__init__()
        self.blocks = nn.ModuleList(Block(shape, dtype) for _ in range(shape.layers))
        self.norm = RmsNorm(shape.hidden, dtype=dtype)
        half = min(HEAD, shape.hidden) // 2
        angles = torch.outer(torch.arange(shape.tokens), 10_000.0 ** (-torch.arange(half) / half))
        self.register_buffer("cosine", angles.cos().to(dtype), persistent=False)
        self.register_buffer("sine", angles.sin().to(dtype), persistent=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for block in self.blocks:
            x = block(x, self.cosine, self.sine)
        return self.norm(x)


def transformer(options: argparse.Namespace, device: torch.device, dtype: torch.dtype = torch.bfloat16) -> Transformer:
    with device:
        return Transformer(shape_of(options), dtype)


def loss_of(output: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
    return -(output * target).float().sum(-1).mean()


def training(model: nn.Module, options: argparse.Namespace, device: torch.device) -> loop.Training:
    """On a fixed batch, which differs from rank to rank; with mixed precision where the parameters are fp32."""
    torch.manual_seed(2 + dist.get_rank())
    size = (options.batch, options.tokens, options.hidden)
    inputs = torch.randn(size, device=device, dtype=torch.bfloat16)
    target = torch.randn(size, device=device, dtype=torch.bfloat16)
    mixed = next(model.parameters()).dtype == torch.float32

    def forward() -> torch.Tensor:
        with torch.autocast(device.type, torch.bfloat16, enabled=mixed):
            return loss_of(model(inputs), target)

    return loop.Training(model, forward, LEARNING_RATE)
