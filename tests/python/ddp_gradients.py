"""What programs do with DDP's gradients: words of a RUN of torch_ranks.py, which explains them."""

from __future__ import annotations

import contextlib
from typing import Any

import torch
import torch.distributed as dist


class Lookup(torch.nn.Module):
    """Adds a row that has a sparse gradient."""

    def __init__(self) -> None:
        super().__init__()
        self.rows = torch.nn.Embedding(5, 64, sparse=True)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + self.rows(torch.tensor([0, 3, 3]))


class Gradients:
    """Those that the program has kept (in `kept`) or grabbed, as the words of a run have it; one that changes behind its back changes the digest."""

    def __init__(self, model: torch.nn.Module, words: set[str], kept: list[torch.Tensor]) -> None:
        self._words, self._kept = words, kept
        self._parameters = list(model.parameters())
        self._grabbed: list[torch.Tensor] = []
        self._exports: list[Any] = []
        if "grabbed" in self._words:
            for parameter in self._parameters:
                parameter.register_post_accumulate_grad_hook(lambda parameter: self._grabbed.append(parameter.grad))
        if "marked" in self._words:
            self._parameters[2].register_post_accumulate_grad_hook(lambda parameter: setattr(parameter.grad, "mark", 1.0))
        if "exported" in self._words:
            self._parameters[2].register_post_accumulate_grad_hook(lambda parameter: self._exports.append(torch.utils.dlpack.to_dlpack(parameter.grad)))

    def keep(self, step: int) -> None:
        self._kept.extend(torch.utils.dlpack.from_dlpack(self._exports.pop()).clone() for _ in self._exports[:])
        if "marked" in self._words:
            self._kept.append(torch.tensor(getattr(self._parameters[2].grad, "mark", 0.0)))
        self._kept.extend(gradient.sum() for gradient in self._grabbed)
        self._grabbed.clear()
        if dist.get_rank() == 1 and ("keeps" in self._words or ("held" in self._words and step == 3)):
            self._kept.extend(parameter.grad for parameter in self._parameters)
        if dist.get_rank() == 1 and "sliced" in self._words and step == 3:
            self._kept.append(self._parameters[2].grad[3:5])

    def overwrite(self) -> None:
        """What DDP copies back comes later."""
        for parameter in self._parameters:
            self._kept.append(parameter.grad.clone())
            parameter.grad.zero_()

    def break_off(self, wrapped: Any) -> None:
        """A pass on top of what the last step has left, which an error ends at the last gradient."""

        def fail(gradient: torch.Tensor) -> None:
            raise ArithmeticError

        self._parameters[0].register_hook(fail)
        with contextlib.suppress(ArithmeticError):
            (wrapped(torch.ones(3, 64)) ** 2).sum().backward()
        self._kept.extend(parameter.grad.clone() for parameter in self._parameters)

    def held(self) -> list[torch.Tensor]:
        """What all ranks hold, as rank 0 sees it."""
        held: list[Any] = [self._kept]
        if self._words & {"keeps", "held", "sliced", "grabbed", "exported"}:
            held = [None] * dist.get_world_size()
            dist.all_gather_object(held, self._kept)
        return [tensor for kept in held for tensor in kept]
