"""Training with DistributedDataParallel under autocast: fp32 parameters and gradients, clipping, AdamW.

--passes N sums the gradients of N passes before they are sent, by `no_sync`.
"""

from __future__ import annotations

import contextlib

import llama
import loop
import torch
from torch.nn.parallel import DistributedDataParallel

RATE = 1e-4
LARGEST_NORM = 1.0


class Training(loop.Training):
    """`passes` forward and backward passes for each step of the optimizer, of which the last one sends."""

    def __init__(self, plain: loop.Training, passes: int) -> None:
        self.__dict__.update(plain.__dict__)
        self.optimizer = torch.optim.AdamW(self.model.parameters(), lr=RATE, fused=next(self.model.parameters()).is_cuda)
        self._passes = passes

    def step(self) -> None:
        self.optimizer.zero_grad(set_to_none=True)
        silent = getattr(self.model, "no_sync", contextlib.nullcontext)
        for _ in range(self._passes - 1):
            with silent():
                self.forward_backward()
        self.forward_backward()
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), LARGEST_NORM)
        self.optimizer.step()


def main() -> None:
    options = loop.parser(__doc__, **llama.SIZES | {"layers": 4}, passes=1)
    options = options.parse_args()
    with loop.ranks(options) as device:
        model = llama.transformer(options, device, torch.float32)
        plain = llama.training(model if options.local else DistributedDataParallel(model), options, device)
        training = Training(plain, options.passes)
        loop.run("ddp_autocast", options, device, training.step, training.results)


if __name__ == "__main__":
    main()
