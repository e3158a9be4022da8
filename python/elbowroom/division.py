"""FSDP2's division by the number of ranks, done while gradients are copied into the input of a scatter.

Symmetric kernels have sums and no means, so FSDP2 would divide every result in a kernel of its own. Its gradients are copied together
before, and a copy can divide at no cost. By a power of two that gives the same bits, as long as numbers stay normal.
"""

from __future__ import annotations

import sys
from typing import Any

COLLECTIVES = "torch.distributed.fsdp._fully_shard._fsdp_collectives"
COPY = "foreach_reduce_scatter_copy_in"

# FSDP2 copies the gradients of a parameter group by one kernel. A copy that divides takes one for each of them, which the host pays for.
LEAST_MEAN_BYTES = 16 << 20
_SCALE = "_elbowroom_scale"  # of a scatter's input: what its gradients are still to be multiplied by


class InCopy(float):
    """A parameter group's `gradient_divide_factor` of 1, which says that the copy divides."""


def take_over(torch: Any, owner: Any, ranks: int) -> None:
    """From here on FSDP2 does not divide gradients of the parameter group; `due` and the copy do."""
    copy = getattr(sys.modules.get(COLLECTIVES), COPY, None)
    if getattr(copy, "divides", False) and owner.gradient_divide_factor is None and _worth_it(torch, owner, ranks):
        owner.gradient_divide_factor = InCopy(1.0)


def give_back(owner: Any) -> None:
    if isinstance(owner.gradient_divide_factor, InCopy):
        owner.gradient_divide_factor = None


def _worth_it(torch: Any, owner: Any, ranks: int) -> bool:
    if ranks & (ranks - 1) or getattr(owner.mesh_info, "replicate_process_group", None) is not None:
        return False
    if torch.float16 in (owner._orig_dtype, owner._reduce_dtype):  # divided in two steps against overflow
        return False
    sizes = [parameter._orig_size.numel() * parameter.orig_dtype.itemsize for parameter in owner.fsdp_params]
    return bool(sizes) and sum(sizes) >= LEAST_MEAN_BYTES * len(sizes)


def due(owner: Any, scatter_input: Any, ranks: int) -> Any:
    """Notes that the gradients which come into `scatter_input` are to be divided; gives it back."""
    if isinstance(owner.gradient_divide_factor, InCopy):
        setattr(scatter_input, _SCALE, 1.0 / ranks)
    return scatter_input


def settle(scatter_input: Any) -> None:
    """Before a scatter: divides what another copy than ours has brought."""
    scale = scatter_input.__dict__.pop(_SCALE, None)
    if scale is not None:
        scatter_input.mul_(scale)


def copy_function(torch: Any, plain: Any) -> Any:
    """In the place of FSDP2's function that copies gradients, which `plain` is."""

    def foreach_reduce_scatter_copy_in(unsharded_grads: Any, reduce_scatter_input: Any, world_size: int) -> None:
        scale = getattr(reduce_scatter_input, _SCALE, None)
        if scale is None or not all(_splits(grad, world_size) for grad in unsharded_grads):
            plain(unsharded_grads, reduce_scatter_input, world_size)
            return
        delattr(reduce_scatter_input, _SCALE)
        columns, begin = reduce_scatter_input.view(world_size, -1), 0
        for grad in unsharded_grads:
            parts = grad.view(world_size, -1)
            torch.mul(parts, scale, out=columns.narrow(1, begin, parts.shape[1]))
            begin += parts.shape[1]

    foreach_reduce_scatter_copy_in.divides = True  # type: ignore[attr-defined]
    return foreach_reduce_scatter_copy_in


def _splits(grad: Any, ranks: int) -> bool:
    """Whether each rank's part is as large as the others', and one piece."""
    return grad.ndim > 0 and grad.shape[0] % ranks == 0 and grad.is_contiguous()
