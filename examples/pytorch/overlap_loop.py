"""Eight layers of matmul, GELU and LayerNorm, each followed by an asynchronous all-reduce that the next layer can hide.

One all-reduce is in flight at a time: a layer's is waited for before the next one's is enqueued, as where two buffers take turns.
When it ends, the next all-reduce and the next layer become ready at the same moment.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable

import common
import torch
import torch.distributed as dist
import torch.nn.functional as F

LAYERS = 8
SIZE = 4096
REDUCE_BYTES = 256 << 20

Epilogue = Callable[[torch.Tensor], torch.Tensor]


def gelu_layer_norm(x: torch.Tensor) -> torch.Tensor:
    return F.layer_norm(F.gelu(x), (x.shape[-1],))


class OverlapLoop:
    """The all-reduces are of buffers of their own, as gradients of other layers would be. A layer may run beside as many of them as may
    be in flight; beside none where that is 0.
    """

    def __init__(
        self, settings: common.Settings, mode: str, epilogue: Epilogue = gelu_layer_norm, in_flight: int = 1
    ) -> None:
        common.seed(1)
        self._epilogue = epilogue
        self._in_flight = in_flight
        self._group = None if mode == "local" else common.process_group(mode)
        self._input = torch.randn(SIZE * settings.batch, SIZE, device="cuda", dtype=torch.bfloat16)
        self._weights = [torch.randn(SIZE, SIZE, device="cuda", dtype=torch.bfloat16) / SIZE**0.5 for _ in range(LAYERS)]
        self._buffers = [] if self._group is None else self._new_buffers(self._group)
        self._output = self._input
        self.begin_block()

    def _new_buffers(self, group: dist.ProcessGroup) -> list[torch.Tensor]:
        return [torch.empty(REDUCE_BYTES // 2, device="cuda", dtype=torch.bfloat16) for _ in range(LAYERS)]

    def begin_block(self) -> None:
        # A sum over ranks doubles a buffer in every step: from here a few hundred steps stay within the range of bf16.
        rank = 0 if self._group is None else dist.get_rank()
        for index, buffer in enumerate(self._buffers):
            pattern = torch.arange(1 << 12, device=buffer.device) % (61 + index) + 1 + rank
            buffer.view(-1, 1 << 12).copy_((pattern * 2.0**-120).to(torch.bfloat16))

    def step(self) -> None:
        x = self._input
        works = []
        for layer, weight in enumerate(self._weights):
            x = self._epilogue(x @ weight)
            if self._group is not None:
                if 0 < self._in_flight <= layer:
                    works[layer - self._in_flight].wait()
                works.append(dist.all_reduce(self._buffers[layer], group=self._group, async_op=True))
                if self._in_flight == 0:
                    works[layer].wait()
        for work in works:
            work.wait()
        self._output = x

    def results(self) -> Iterable[torch.Tensor]:
        return [self._output, *self._buffers]


EXAMPLE = common.Example("overlap_loop", OverlapLoop)

if __name__ == "__main__":
    sys.exit(common.main(EXAMPLE))
