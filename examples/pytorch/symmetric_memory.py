"""A pool of symmetric memory for the collectives of a group (PyTorch 2.9 or later, NCCL 2.28 or later, NVLink).

NCCL's kernels on such memory read and write the buffers of all ranks directly: fewer blocks, and no buffers between.
"""

from __future__ import annotations

from contextlib import AbstractContextManager

import torch
import torch.distributed as dist


class SymmetricPool:
    """Must be gone before its process group is destroyed."""

    def __init__(self, group: dist.ProcessGroup) -> None:
        self._backend = group._get_backend(torch.device("cuda"))
        dist.all_reduce(torch.zeros(1, device="cuda"), group=group)  # a communicator is made at its first use
        self._pool = torch.cuda.MemPool(self._backend.mem_allocator)

    def allocating(self) -> AbstractContextManager[None]:
        """What is allocated inside comes from the pool. Ranks must allocate the same in the same order."""
        return torch.cuda.use_mem_pool(self._pool)

    def register(self) -> None:
        """From here on collectives on the pool's memory take the symmetric kernels. All ranks together, once."""
        self._backend.register_mem_pool(self._pool, symm=True)
