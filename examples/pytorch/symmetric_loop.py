"""The loop of overlap_loop.py with its buffers on symmetric memory, which a program gives them itself: a pool of NCCL's own memory,
registered with the group that reduces it (PyTorch 2.9 or later, NCCL 2.28 or later, NVLink). How many blocks NCCL's kernels on such
memory have is then worth choosing: headroom run --set comm_blocks=16.
"""

from __future__ import annotations

import sys

import common
import torch
import torch.distributed as dist
from overlap_loop import OverlapLoop


class SymmetricLoop(OverlapLoop):
    def _new_buffers(self, group: dist.ProcessGroup) -> list[torch.Tensor]:
        backend = group._get_backend(torch.device("cuda"))
        dist.all_reduce(torch.zeros(1, device="cuda"), group=group)  # a communicator is made at its first use
        self._pool = torch.cuda.MemPool(backend.mem_allocator)
        with torch.cuda.use_mem_pool(self._pool):
            buffers = super()._new_buffers(group)
        backend.register_mem_pool(self._pool, symm=True)
        return buffers


EXAMPLE = common.Example("symmetric_loop", SymmetricLoop)

if __name__ == "__main__":
    sys.exit(common.main(EXAMPLE))
