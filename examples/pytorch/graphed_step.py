"""The loop of overlap_loop.py captured once as a CUDA graph, collectives included, and launched as a whole in every step."""

from __future__ import annotations

import sys
from collections.abc import Iterable

import common
import overlap_loop
import torch

STEPS_BEFORE_CAPTURE = 3


class GraphedLoop:
    def __init__(self, settings: common.Settings, mode: str) -> None:
        self._loop = overlap_loop.OverlapLoop(settings, mode)
        # Libraries make their handles and communicators in the first steps, which a capture does not allow.
        side = torch.cuda.Stream()
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            for _ in range(STEPS_BEFORE_CAPTURE):
                self._loop.step()
        torch.cuda.current_stream().wait_stream(side)
        torch.cuda.synchronize()
        self._graph = torch.cuda.CUDAGraph()
        # Other threads, such as the one that watches NCCL, go on calling the driver meanwhile.
        with torch.cuda.graph(self._graph, capture_error_mode="thread_local"):
            self._loop.step()

    def begin_block(self) -> None:
        self._loop.begin_block()

    def step(self) -> None:
        self._graph.replay()

    def results(self) -> Iterable[torch.Tensor]:
        return self._loop.results()


EXAMPLE = common.Example("graphed_step", GraphedLoop)

if __name__ == "__main__":
    sys.exit(common.main(EXAMPLE))
