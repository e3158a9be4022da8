"""The step of fsdp2_step.py with its staging buffers on symmetric memory, so that copy engines can do the all-gathers and kernels with
few blocks the reduce-scatters: elbowroom run --set copy_engine=1 --set comm_blocks=16.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence

import common
import torch
import torch.distributed as dist
import transformer
from symmetric_memory import SymmetricPool
from torch.distributed.device_mesh import DeviceMesh
from torch.distributed.fsdp import FSDPModule, fully_shard

STEPS_UNTIL_ALL_BUFFERS_ARE_THERE = 2


class PooledComm:
    """How FSDP2 allocates and runs a collective, with the pool's memory."""

    def __init__(self, pool: SymmetricPool) -> None:
        self._pool = pool

    def allocate(self, size: Sequence[int], *, dtype: torch.dtype, device: torch.device) -> torch.Tensor:
        with self._pool.allocating():
            return torch.empty(*size, dtype=dtype, device=device)


class PooledAllGather(PooledComm):
    def __call__(
        self, output_tensor: torch.Tensor, input_tensor: torch.Tensor, group: dist.ProcessGroup, async_op: bool = False
    ) -> dist.Work | None:
        return dist.all_gather_into_tensor(output_tensor, input_tensor, group=group, async_op=async_op)


class PooledReduceScatter(PooledComm):
    def __call__(
        self,
        output_tensor: torch.Tensor,
        input_tensor: torch.Tensor,
        group: dist.ProcessGroup,
        op: dist.ReduceOp,
        async_op: bool = False,
    ) -> dist.Work | None:
        return dist.reduce_scatter_tensor(output_tensor, input_tensor, op=op, group=group, async_op=async_op)


class SymmetricStep(transformer.TrainingStep):
    def __init__(self, model: transformer.Transformer, settings: common.Settings, mode: str) -> None:
        group = common.process_group(mode)
        mesh = DeviceMesh.from_group(group, "cuda")
        for block in model.blocks:
            fully_shard(block, mesh=mesh)
        fully_shard(model, mesh=mesh)
        self._pool = SymmetricPool(group)
        for module in model.modules():
            if isinstance(module, FSDPModule):
                module.set_force_sum_reduction_for_comms(True)  # there are symmetric kernels for sums, not for means
                module.set_custom_all_gather(PooledAllGather(self._pool))
                module.set_custom_reduce_scatter(PooledReduceScatter(self._pool))
        super().__init__(model, settings.batch)
        for _ in range(STEPS_UNTIL_ALL_BUFFERS_ARE_THERE):
            self.step()
        self._pool.register()


def prepare(settings: common.Settings, mode: str) -> common.Workload:
    common.seed(1)
    model = transformer.Transformer()
    return transformer.TrainingStep(model, settings.batch) if mode == "local" else SymmetricStep(model, settings, mode)


EXAMPLE = common.Example("symmetric_fsdp2_step", prepare)

if __name__ == "__main__":
    sys.exit(common.main(EXAMPLE))
