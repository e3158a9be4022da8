"""Where PyTorch lets its communication buffers be put on symmetric memory. Each seam is looked for before it is used: a PyTorch that
lacks one is left as it is, and the record says which.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from types import ModuleType
from typing import Any

from elbowroom import buckets, compression, division, parts, placement, record, scaled_copy, staging, steps, unsharded
from elbowroom.registrations import leave_blocks_open

_installed: set[str] = set()


def _usable(torch: Any, name: str) -> bool:
    if name in _installed:
        return False
    _installed.add(name)
    missing = parts.lacking_everywhere(torch)
    if missing:
        record.refuse_all(f"{name}: {missing}")
        return False
    _close_before_destruction(torch)
    return True


def _holds(torch: Any, part: parts.Part) -> bool:
    """Whether this PyTorch has all that the part needs; else the record says what is missing."""
    lacking = part.lacking(torch)
    reason = f"PyTorch {torch.__version__} lacks {', '.join(lacking)}" if lacking else "" if part.proven else parts.unknown(torch)
    if reason:
        record.leave_out(part.name, reason, part.without)
    return not reason


def install_ddp(module: ModuleType) -> None:
    """`module` is torch.nn.parallel.distributed, whose DistributedDataParallel takes its reducer from torch.distributed."""
    torch = sys.modules["torch"]
    if not _usable(torch, "DistributedDataParallel"):
        return
    leave_blocks_open()
    if not _holds(torch, parts.BUCKETS):
        record.refuse_all(f"DistributedDataParallel: {record.left_out(parts.BUCKETS.name)}")
        return
    torch.distributed.Reducer = buckets.reducer_class(torch, torch.distributed.Reducer, stays=_holds(torch, parts.IN_PLACE))
    if _holds(torch, parts.COMPRESSED):
        _send_placed_copies(torch)
    _tell_of_hooks(torch)
    _leave_before_ranks_join(torch, module.DistributedDataParallel)


def _tell_of_hooks(torch: Any) -> None:
    """What a communication hook leaves in a bucket is the hook's own."""
    for name in ("_register_comm_hook", "_register_builtin_comm_hook"):
        plain = getattr(torch.distributed, name, None)
        if plain is not None:
            setattr(torch.distributed, name, _telling(torch, plain))


def _telling(torch: Any, plain: Any) -> Any:
    def register(reducer: Any, *arguments: Any) -> Any:
        if isinstance(reducer, torch.distributed.Reducer):
            reducer.in_another_way("a communication hook sends them")
        return plain(reducer, *arguments)

    return register


def _leave_before_ranks_join(torch: Any, kind: Any) -> None:
    """A rank without inputs sends zeros from memory of its own, beside which registered buckets would hang."""
    plain = getattr(kind, "join_hook", None)
    if plain is None:
        return

    def join_hook(self: Any, **named: Any) -> Any:
        if isinstance(self.reducer, torch.distributed.Reducer):
            self.reducer.leave(buckets.JOINS)
        return plain(self, **named)

    kind.join_hook = join_hook


def _send_placed_copies(torch: Any) -> None:
    """DistributedDataParallel logs and checks the hook that the program gave; the reducer gets the one that has places."""
    plain = torch.distributed._register_comm_hook

    def _register_comm_hook(reducer: Any, state: Any, comm_hook: Any) -> Any:
        placed = comm_hook
        try:
            if isinstance(reducer, torch.distributed.Reducer):
                placed = compression.placed_hook(torch, reducer, state, comm_hook)
        except Exception as error:
            record.refuse_all(f"compression hooks: {error}")
        return plain(reducer, state, placed)

    torch.distributed._register_comm_hook = _register_comm_hook


def install_fsdp2(module: ModuleType) -> None:
    """`module` is torch.distributed.fsdp._fully_shard._fsdp_state."""
    torch = sys.modules["torch"]
    if not _usable(torch, "FSDP2"):
        return
    leave_blocks_open()
    if not _holds(torch, parts.STAGING):
        record.refuse_all(f"FSDP2: {record.left_out(parts.STAGING.name)}")
        return
    collectives, groups = sys.modules[parts.COLLECTIVES], sys.modules[parts.GROUPS]
    group, gather, scatter = groups.FSDPParamGroup, collectives.DefaultAllGather, collectives.DefaultReduceScatter
    placed_gather, placed_scatter = staging.gather_class(torch, gather), staging.scatter_class(torch, scatter)
    _holds(torch, parts.RESULTS)  # a scatter asks its group
    staging.SUMS = _holds(torch, parts.SUMS)
    if staging.SUMS and _holds(torch, parts.DIVISION):
        setattr(collectives, parts.COPY_IN, division.Copy(torch, getattr(collectives, parts.COPY_IN), scaled_copy.ScaledCopy))
    if _holds(torch, parts.DIRECT_GATHERS):
        _gather_directly(torch, groups, group)
    _give_groups_buffers(group, gather, scatter, placed_gather, placed_scatter)
    _keep_buffers(group, placed_gather, placed_scatter)
    _give_way(group, gather, scatter, placed_gather, placed_scatter)
    _tell_when_a_pass_begins(torch, module.FSDPState)


def _give_groups_buffers(group: Any, gather: type, scatter: type, placed_gather: type, placed_scatter: type) -> None:
    plain_init = group.__init__

    def __init__(self: Any, *arguments: Any, **named: Any) -> None:
        plain_init(self, *arguments, **named)
        shards = getattr(self.mesh_info, "shard_process_group", None)
        if self.device.type != "cuda":
            record.refuse_all(f"FSDP2 staging buffers: parameters are on {self.device.type}")
        elif shards is None or shards.size() < 2:
            record.refuse_all("FSDP2 staging buffers: parameters are not sharded")
        elif type(self._all_gather_comm) is gather and type(self._reduce_scatter_comm) is scatter:
            self._all_gather_comm, self._reduce_scatter_comm = placed_gather(self), placed_scatter(self)
        else:
            record.refuse_all("FSDP2 staging buffers: the program has its own")

    group.__init__ = __init__


def _keep_buffers(group: Any, placed_gather: type, placed_scatter: type) -> None:
    """A program that asks for FSDP2's own way to allocate, which is what it would have anyway, keeps the places."""
    plain = getattr(group, "set_allocate_memory_from_process_group", None)
    if plain is None:
        return

    def set_allocate_memory_from_process_group(self: Any, enable: bool) -> None:
        ours = type(self._all_gather_comm) is placed_gather and type(self._reduce_scatter_comm) is placed_scatter
        if enable or not ours:
            plain(self, enable)

    group.set_allocate_memory_from_process_group = set_allocate_memory_from_process_group


def _give_way(group: Any, gather: type, scatter: type, placed_gather: type, placed_scatter: type) -> None:
    """A program that asks for PyTorch's own symmetric memory (2.14 and later) has it for both, as without the places."""
    plain = getattr(group, "set_symm_mem", None)
    if plain is None:
        return

    def set_symm_mem(self: Any, *arguments: Any, **named: Any) -> None:
        if type(self._all_gather_comm) is placed_gather and type(self._reduce_scatter_comm) is placed_scatter:
            division.average(self)
            self._all_gather_comm, self._reduce_scatter_comm = gather(), scatter()
        plain(self, *arguments, **named)

    group.set_symm_mem = set_symm_mem


def _gather_directly(torch: Any, groups: Any, group: Any) -> None:
    """Gathers and their copies out are asked for here first, and a group that is sharded again says so."""
    to_sharded = group._to_sharded

    def _to_sharded(self: Any) -> None:
        held = not self.is_sharded
        to_sharded(self)
        if held:
            unsharded.left(self)

    setattr(groups, parts.GATHER, unsharded.Gather(getattr(groups, parts.GATHER)))
    setattr(groups, parts.COPY_OUT, unsharded.CopyOut(torch, getattr(groups, parts.COPY_OUT)))
    group._to_sharded = _to_sharded


def _tell_when_a_pass_begins(torch: Any, state: Any) -> None:
    plain_forward = state._root_pre_forward

    def _root_pre_forward(self: Any, *arguments: Any, **named: Any) -> Any:
        if self._state_ctx.iter_forward_root is None and not any(map(division.is_open, _parameter_groups(self._state_ctx))):
            staging.pass_begins()
        return plain_forward(self, *arguments, **named)

    state._root_pre_forward = _root_pre_forward
    steps.watch_optimizers()


def _parameter_groups(context: Any) -> Iterator[Any]:
    """Of all modules below one root, which is alive: so they are the same on all ranks."""
    for state in context.all_states:
        several = getattr(state, "_fsdp_param_groups", None)  # older PyTorch has one at most
        yield from filter(None, [state._fsdp_param_group] if several is None else several)


def _close_before_destruction(torch: Any) -> None:
    """Registrations go before their communicator does. Both names of the function are the program's."""
    if "destroy_process_group" in _installed:
        return
    _installed.add("destroy_process_group")
    c10d = sys.modules["torch.distributed.distributed_c10d"]
    plain = c10d.destroy_process_group

    def destroy_process_group(group: Any = None) -> None:
        named = None if group is None or group is c10d.GroupMember.WORLD else group
        try:
            staging.close(named)
            placement.close(named)
        except Exception as error:
            record.refuse_all(f"destroy_process_group: {error}")
        plain(group)

    destroy_process_group.__doc__ = plain.__doc__
    c10d.destroy_process_group = torch.distributed.destroy_process_group = destroy_process_group
