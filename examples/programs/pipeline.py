"""Pipeline parallelism with PyTorch's 1F1B schedule: each rank holds --layers layers, activations travel between neighbours."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator

import llama
import loop
import torch
import torch.distributed as dist
from torch.distributed.pipelining import PipelineStage, Schedule1F1B


class Pipeline:
    def __init__(self, options: argparse.Namespace, device: torch.device) -> None:
        rank, ranks = dist.get_rank(), dist.get_world_size()
        self.model = llama.transformer(options, device)
        self.micro_batches = options.micro_batches
        size = (options.batch * self.micro_batches, options.tokens, options.hidden)
        self.input = torch.randn(size, device=device, dtype=torch.bfloat16)
        self.target = torch.randn(size, device=device, dtype=torch.bfloat16)
        self.optimizer = torch.optim.SGD(self.model.parameters(), lr=llama.LEARNING_RATE, foreach=True)
        self.first, self.last = rank == 0, rank == ranks - 1
        if not options.local:
            stage = PipelineStage(self.model, rank, ranks, device)
            self.schedule = Schedule1F1B(stage, self.micro_batches, loss_fn=llama.loss_of)

    def pipelined(self) -> None:
        arguments = (self.input,) if self.first else ()
        self.schedule.step(*arguments, **({"target": self.target} if self.last else {}))

    def alone(self) -> None:
        """The micro-batches of this stage with nothing to wait for."""
        for part, target in zip(self.input.chunk(self.micro_batches), self.target.chunk(self.micro_batches), strict=True):
            llama.loss_of(self.model(part.requires_grad_(not self.first)), target).backward()

    def step_of(self, passes: Callable[[], None]) -> Callable[[], None]:
        def step() -> None:
            self.optimizer.zero_grad(set_to_none=True)
            passes()
            self.optimizer.step()

        return step

    def results(self) -> Iterator[torch.Tensor]:
        yield from self.model.parameters()


def main() -> None:
    options = loop.parser(__doc__, **llama.SIZES | {"layers": 2, "tokens": 1024}, micro_batches=8).parse_args()
    with loop.ranks(options) as device:
        pipeline = Pipeline(options, device)
        step = pipeline.step_of(pipeline.alone if options.local else pipeline.pipelined)
        loop.run("pipeline", options, device, step, pipeline.results)


if __name__ == "__main__":
    main()
