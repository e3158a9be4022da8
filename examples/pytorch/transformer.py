"""A few layers of the LLaMA kind in real sizes, and one training step of them."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path

import common
import torch
import torch.distributed as dist
from torch import nn

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "programs"))

import llama  # noqa: E402

SHAPE = llama.Shape(layers=6, hidden=4096, ffn=11008, tokens=2048, batch=1)


class Transformer(llama.Transformer):
    def __init__(self) -> None:
        with torch.device("cuda"):
            super().__init__(SHAPE)


class TrainingStep:
    """Forward, backward and plain SGD on a fixed batch; `model` is a Transformer or a parallel wrapper of one."""

    def __init__(self, model: nn.Module, batch: int) -> None:
        self._model = model
        common.seed(2 + dist.get_rank())  # data of its own for each rank, the same in every mode
        self._input = torch.randn(batch, SHAPE.tokens, SHAPE.hidden, device="cuda", dtype=torch.bfloat16)
        self._target = torch.randn(batch, SHAPE.tokens, SHAPE.hidden, device="cuda", dtype=torch.bfloat16)
        self._optimizer = torch.optim.SGD(model.parameters(), lr=llama.LEARNING_RATE, foreach=True)
        self._loss = torch.zeros(())

    def begin_block(self) -> None:
        pass

    def step(self) -> None:
        self._optimizer.zero_grad(set_to_none=True)
        loss = llama.loss_of(self._model(self._input), self._target)
        loss.backward()
        self._optimizer.step()
        self._loss = loss.detach()

    def results(self) -> Iterable[torch.Tensor]:
        yield self._loss
        for parameter in self._model.parameters():
            yield parameter
            yield parameter.grad
