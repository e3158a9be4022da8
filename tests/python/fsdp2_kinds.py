"""Ways to use FSDP2 that change when it gathers and what stays, and no result: words of a RUN of torch_ranks.py.

prefetch: two blocks ahead, explicitly; mistaken: a block is prefetched and not used; async: gathers without streams of their own; keep: nothing
is sharded after its forward; kept: nor after every other backward; manual: unsharded and sharded again by hand; evaluated: a forward without
gradients between two steps; checkpoint: forwards are repeated in backwards; nested: a group in each block's group; columns: of weights are
sharded, not rows; mesh: of two dimensions, so that gradients are also all-reduced; compiled: by torch.compile, without code generation;
turns2, turns3, turns4: as many backward passes in a step; summed: only the last one is all-reduced; unreduced: only the last one is reduced at all; open:
parameters and buffers stay until the last one, too; hooks: of the program's own, which sum up all passes
"""

from __future__ import annotations

import functools
from typing import Any

import torch
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import MixedPrecisionPolicy, fully_shard
from torch.distributed.tensor import Shard
from torch.utils.checkpoint import checkpoint


def sharded(model: Any, words: set[str]) -> Any:
    options: dict[str, Any] = {}
    if "mixed" in words:
        options["mp_policy"] = MixedPrecisionPolicy(torch.bfloat16, torch.float32)
    if "keep" in words:
        options["reshard_after_forward"] = False
    if "columns" in words:
        options["shard_placement_fn"] = lambda parameter: Shard(1 if parameter.ndim > 1 else 0)
    if "mesh" in words:
        options["mesh"] = init_device_mesh("cpu", (1, 2), mesh_dim_names=("copies", "shards"))
    for block in model:
        if "nested" in words:
            fully_shard(block.first, **options)
        fully_shard(block, **options)
    fully_shard(model, **options)
    _scheduled(model, words)
    if "compiled" in words:
        return torch.compile(model, backend="eager")
    return model


def _scheduled(model: Any, words: set[str]) -> None:
    blocks = list(model)
    for number, block in enumerate(blocks):
        if "prefetch" in words:
            block.set_modules_to_forward_prefetch(blocks[number + 1 : number + 3])
            block.set_modules_to_backward_prefetch(blocks[max(number - 2, 0) : number][::-1])
        if "default_memory" in words:
            block.set_allocate_memory_from_process_group_for_comm(False)
        if "async" in words:
            block._set_unshard_async_op(True)
        if "checkpoint" in words:
            plain = block.forward
            block.forward = lambda x, plain=plain: checkpoint(plain, x, use_reentrant=False)
    if "mistaken" in words:
        blocks[0].set_modules_to_backward_prefetch(blocks[-1:])
    if "default_memory" in words:
        model.set_allocate_memory_from_process_group_for_comm(False)


def turns(words: set[str]) -> int:
    """Backward passes in a step."""
    return next((int(word[-1]) for word in words if word.startswith("turns")), 1)


def _summed_up(block: Any, last: bool, result: torch.Tensor) -> None:
    """Gives what the passes so far have reduced to the last one."""
    before = block.__dict__.pop("before", None)
    if before is not None:
        result += before
    if not last:
        block.__dict__["before"] = result.clone()
        result.zero_()


def before_turn(model: Any, words: set[str], last: bool) -> None:
    if "summed" in words:
        model.set_requires_all_reduce(last)
    for block in model if "hooks" in words else ():
        block.set_all_reduce_hook(functools.partial(_summed_up, block, last))
    if "unreduced" in words:
        model.set_requires_gradient_sync(last)
    if "open" in words:
        model.set_reshard_after_backward(last)
        model.set_is_last_backward(last)


def before_step(model: Any, words: set[str], step: int) -> None:
    blocks = list(model)
    if "evaluated" in words:
        with torch.no_grad():
            model(torch.ones(1, 64))
    if "manual" in words:
        blocks[0].unshard()
        handle = blocks[1].unshard(async_op=True)
        handle.wait()
        blocks[1].reshard()
    if "kept" in words:
        model.set_reshard_after_backward(step % 2 == 0)
