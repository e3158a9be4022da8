"""The loop of overlap_loop.py with its buffers on symmetric memory. How many blocks NCCL's kernels on such memory have is worth
choosing: elbowroom run --set comm_blocks=16.
"""

from __future__ import annotations

import sys

import common
import torch
import torch.distributed as dist
from overlap_loop import OverlapLoop
from symmetric_memory import SymmetricPool


class SymmetricLoop(OverlapLoop):
    def _new_buffers(self, group: dist.ProcessGroup) -> list[torch.Tensor]:
        self._pool = SymmetricPool(group)
        with self._pool.allocating():
            buffers = super()._new_buffers(group)
        self._pool.register()
        return buffers


EXAMPLE = common.Example("symmetric_loop", SymmetricLoop)

if __name__ == "__main__":
    sys.exit(common.main(EXAMPLE))
