"""A few layers of the LLaMA kind in real sizes, and one training step of them."""

from __future__ import annotations

from collections.abc import Iterable

import common
import torch
import torch.distributed as dist
import torch.nn.functional as F
from torch import nn

LAYERS = 6
HIDDEN = 4096
FFN = 11008
HEADS = 32
SEQUENCE = 2048
LEARNING_RATE = 2e-3


class RmsNorm(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(HIDDEN, device="cuda", dtype=torch.bfloat16))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return F.rms_norm(x, (HIDDEN,), self.weight, 1e-5)


def linear(inputs: int, outputs: int) -> nn.Linear:
    return nn.Linear(inputs, outputs, bias=False, device="cuda", dtype=torch.bfloat16)


def rotated(x: torch.Tensor, cosine: torch.Tensor, sine: torch.Tensor) -> torch.Tensor:
    first, second = x.chunk(2, dim=-1)
    return torch.cat((first * cosine - second * sine, second * cosine + first * sine), dim=-1)


class Block(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.attention_norm, self.ffn_norm = RmsNorm(), RmsNorm()
        self.query, self.key, self.value, self.output = (linear(HIDDEN, HIDDEN) for _ in range(4))
        self.gate, self.up, self.down = linear(HIDDEN, FFN), linear(HIDDEN, FFN), linear(FFN, HIDDEN)

    def forward(self, x: torch.Tensor, cosine: torch.Tensor, sine: torch.Tensor) -> torch.Tensor:
        batch, sequence, _ = x.shape

        def heads(projection: nn.Linear, normed: torch.Tensor) -> torch.Tensor:
            return projection(normed).view(batch, sequence, HEADS, HIDDEN // HEADS).transpose(1, 2)

        normed = self.attention_norm(x)
        query = rotated(heads(self.query, normed), cosine, sine)
        key = rotated(heads(self.key, normed), cosine, sine)
        mixed = F.scaled_dot_product_attention(query, key, heads(self.value, normed), is_causal=True)
        x = x + self.output(mixed.transpose(1, 2).reshape(batch, sequence, HIDDEN))
        normed = self.ffn_norm(x)
        return x + self.down(F.silu(self.gate(normed)) * self.up(normed))


class Transformer(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.blocks = nn.ModuleList(Block() for _ in range(LAYERS))
        self.norm = RmsNorm()
        half = HIDDEN // HEADS // 2
        angles = torch.outer(torch.arange(SEQUENCE), 10_000.0 ** (-torch.arange(half) / half))
        self.register_buffer("cosine", angles.cos().to("cuda", torch.bfloat16), persistent=False)
        self.register_buffer("sine", angles.sin().to("cuda", torch.bfloat16), persistent=False)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for block in self.blocks:
            x = block(x, self.cosine, self.sine)
        return self.norm(x)


class TrainingStep:
    """Forward, backward and plain SGD on a fixed batch; `model` is a Transformer or a parallel wrapper of one."""

    def __init__(self, model: nn.Module, batch: int) -> None:
        self._model = model
        common.seed(2 + dist.get_rank())  # data of its own for each rank, the same in every mode
        self._input = torch.randn(batch, SEQUENCE, HIDDEN, device="cuda", dtype=torch.bfloat16)
        self._target = torch.randn(batch, SEQUENCE, HIDDEN, device="cuda", dtype=torch.bfloat16)
        self._optimizer = torch.optim.SGD(model.parameters(), lr=LEARNING_RATE, foreach=True)
        self._loss = torch.zeros(())

    def begin_block(self) -> None:
        pass

    def step(self) -> None:
        self._optimizer.zero_grad(set_to_none=True)
        loss = -(self._model(self._input) * self._target).float().sum(-1).mean()
        loss.backward()
        self._optimizer.step()
        self._loss = loss.detach()

    def results(self) -> Iterable[torch.Tensor]:
        yield self._loss
        for parameter in self._model.parameters():
            yield parameter
            yield parameter.grad
