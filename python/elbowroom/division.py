"""FSDP2's means as sums, and its division by the number of ranks while gradients are copied into the input of a scatter.

Symmetric kernels have sums and no means, so scatters are sums. FSDP2 would then divide every result in a kernel of its own. Its gradients are copied together
before, and a copy can divide at no cost. By a power of two that gives the same bits, as long as numbers stay normal.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

from elbowroom import parts

_UNKNOWN = object()
_SCALE = "_elbowroom_scale"  # of a scatter's input: what its gradients are still to be multiplied by


class InCopy(float):
    """A parameter group's `gradient_divide_factor` of 1, which says that the copy divides."""


class Sums(int):
    """A parameter group's `force_sum_reduction_for_comms` that the program has not asked for."""


def is_open(owner: Any) -> bool:
    """Whether results of a parameter group wait for an all-reduce of later ones. These are sums or means like the later ones."""
    return getattr(owner, "_partial_reduce_output", None) is not None


def kept_types(owner: Any) -> list[Any]:
    """Of the gradients that results of scatters become: the group's up to PyTorch 2.14, each parameter's own since. None stands for whatever type the result has.
    Empty: nobody knows."""
    if hasattr(owner, "_orig_dtype"):
        return [owner._orig_dtype]
    types = [getattr(parameter, "sharded_grad_dtype", _UNKNOWN) for parameter in owner.fsdp_params]
    return [] if _UNKNOWN in types else types


class Copy:
    """In the place of FSDP2's function that copies gradients, which `plain` is."""

    def __init__(self, torch: Any, plain: Any, make: Callable[[Any], Any]) -> None:
        self._torch, self._plain, self._make = torch, plain, make
        self._scaled: Any = None

    def problem(self) -> str:
        """Why it cannot divide; empty where it can. Compiles at the first call."""
        try:
            self._scaled = self._scaled or self._make(self._torch)
        except Exception as error:
            return str(error) or type(error).__name__
        return ""

    def __call__(self, unsharded_grads: Any, reduce_scatter_input: Any, world_size: int, **named: Any) -> None:
        scale = getattr(reduce_scatter_input, _SCALE, None)
        if scale is None or named or not all(self._splits(grad, world_size) for grad in [*unsharded_grads, reduce_scatter_input]):
            self._plain(unsharded_grads, reduce_scatter_input, world_size, **named)
            return
        delattr(reduce_scatter_input, _SCALE)
        self._scaled(unsharded_grads, reduce_scatter_input, world_size, scale)

    def _splits(self, tensor: Any, ranks: int) -> bool:
        """Whether each rank's part is as large as the others', and of a kind that the kernel copies."""
        known = tensor.dtype in (self._torch.bfloat16, self._torch.float32) and tensor.is_contiguous()
        return known and tensor.ndim > 0 and tensor.shape[0] % ranks == 0


def problem() -> str:
    """Why copies cannot divide in this process; empty where they can."""
    copy = getattr(sys.modules.get(parts.COLLECTIVES), parts.COPY_IN, None)
    return copy.problem() if isinstance(copy, Copy) else "this PyTorch copies gradients in another way"


def sum_up(owner: Any) -> bool:
    """Whether the parameter group has sums from here on. A hook of the program's own would see them. All ranks must do the same."""
    if owner._all_reduce_hook is not None or is_open(owner):
        return False
    owner.force_sum_reduction_for_comms = owner.force_sum_reduction_for_comms or Sums(1)
    return True


def take_over(torch: Any, owner: Any, ranks: int) -> None:
    """From here on FSDP2 does not divide gradients of the parameter group; `due`, the copy and `settle` do. All ranks must do the same."""
    if owner.gradient_divide_factor is not None or ranks & (ranks - 1) or getattr(owner.mesh_info, "replicate_process_group", None) is not None:
        return
    reduced = [] if owner._reduce_dtype is None else [owner._reduce_dtype]
    if all(dtype in (torch.float32, torch.bfloat16) for dtype in kept_types(owner) + reduced):  # PyTorch divides others in two steps, against overflow
        owner.gradient_divide_factor = InCopy(1.0)


def give_back(owner: Any) -> None:
    """FSDP2 divides by itself again."""
    if isinstance(owner.gradient_divide_factor, InCopy):
        owner.gradient_divide_factor = None


def average(owner: Any) -> None:
    """The parameter group has means again, unless the program wants sums by now. Open results stay sums, which are right, too."""
    give_back(owner)
    if isinstance(owner.force_sum_reduction_for_comms, Sums) and not is_open(owner):
        owner.force_sum_reduction_for_comms = False


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
