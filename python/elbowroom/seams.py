"""Where PyTorch lets its communication buffers be put on symmetric memory. Each seam is looked for before it is used: a PyTorch that
lacks one is left as it is, and the record says which.
"""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Iterator
from types import ModuleType
from typing import Any

from elbowroom import buckets, compression, division, placement, record, scaled_copy, staging, unsharded

# FSDP2's private attributes that are read or set here, in `staging` and in `division`. Another PyTorch may have them in another way.
OF_GROUPS = ("fsdp_params", "mesh_info", "device", "gradient_divide_factor", "force_sum_reduction_for_comms", "_orig_dtype", "_reduce_dtype",
             "_all_gather_comm", "_reduce_scatter_comm", "_all_gather_process_group", "_reduce_scatter_process_group", "_all_reduce_hook",
             "_partial_reduce_output", "_all_gather_result", "comm_ctx")
OF_STATES = ("_state_ctx", "_fsdp_param_group")
OF_COMMUNICATION = ("all_gather_state",)
OF_CONTEXTS = ("all_states", "iter_forward_root")
OF_PARAMETERS = ("offload_to_cpu",)

_installed: set[str] = set()
_optimizer_states = False  # whether an optimizer of PyTorch's has made a step


def _missing(torch: Any) -> str:
    """What every kind of buffer needs and this PyTorch lacks; empty where nothing is missing."""
    if not sys.platform.startswith("linux"):
        return "only Linux has symmetric memory of NCCL"
    version = sys.modules.get("torch.version")
    if getattr(version, "hip", None):
        return "PyTorch is built for ROCm"
    if not getattr(version, "cuda", None):
        return "PyTorch is built without CUDA"
    cuda, native, distributed = (getattr(torch, name, None) for name in ("cuda", "_C", "distributed"))
    nccl = getattr(distributed, "ProcessGroupNCCL", None)
    needs = {
        "torch.cuda.MemPool": getattr(cuda, "MemPool", None),
        "torch.cuda.use_mem_pool": getattr(cuda, "use_mem_pool", None),
        "pools of one thread": getattr(native, "_cuda_beginAllocateCurrentThreadToPool", None),
        "torch.distributed.Reducer": getattr(distributed, "Reducer", None),
        "ProcessGroupNCCL._comm_ptr": getattr(nccl, "_comm_ptr", None),
        "ProcessGroupNCCL.get_runtime_nccl_version": getattr(nccl, "get_runtime_nccl_version", None),
        "the store of a process group": getattr(sys.modules.get("torch.distributed.distributed_c10d"), "_get_process_group_store", None),
    }
    lacking = [name for name, found in needs.items() if found is None]
    return f"PyTorch {torch.__version__} lacks {', '.join(lacking)}" if lacking else ""


def _usable(torch: Any, name: str) -> bool:
    if name in _installed:
        return False
    _installed.add(name)
    missing = _missing(torch)
    if missing:
        record.refuse_all(f"{name}: {missing}")
        return False
    _close_before_destruction(torch)
    return True


def install_ddp(module: ModuleType) -> None:
    """`module` is torch.nn.parallel.distributed, whose DistributedDataParallel takes its reducer from torch.distributed."""
    torch = sys.modules["torch"]
    if not _usable(torch, "DistributedDataParallel"):
        return
    plain = torch.distributed.Reducer
    if not hasattr(plain, "_rebuild_buckets") or getattr(module, "dist", None) is not torch.distributed:
        record.refuse_all("DistributedDataParallel: this PyTorch makes its reducer in another way")
        return
    torch.distributed.Reducer = buckets.reducer_class(torch, plain)
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
    plain = getattr(torch.distributed, "_register_comm_hook", None)
    if plain is None:
        record.refuse_all("compression hooks: this PyTorch registers hooks in another way")
        return

    def _register_comm_hook(reducer: Any, state: Any, comm_hook: Any) -> Any:
        placed = comm_hook
        try:
            if isinstance(reducer, torch.distributed.Reducer):
                placed = compression.placed_hook(torch, reducer, state, comm_hook)
        except Exception as error:
            record.refuse_all(f"compression hooks: {error}")
        return plain(reducer, state, placed)

    torch.distributed._register_comm_hook = _register_comm_hook


def _lacking(kind: Any, names: tuple[str, ...]) -> list[str]:
    """Which of these attributes a class never speaks of. All of them where its text is not there."""
    try:
        text = inspect.getsource(kind)
    except (OSError, TypeError):
        text = ""
    return [f"{getattr(kind, '__name__', kind)}.{name}" for name in names if not re.search(rf"\bself\.{name}\b|\bdef {name}\b", text)]


def _lacking_of(module: ModuleType) -> list[str]:
    """What FSDP2's classes lack of what is read or set here."""
    parameter = getattr(sys.modules.get("torch.distributed.fsdp._fully_shard._fsdp_param"), "FSDPParam", None)
    needs = {"FSDPParamGroup": OF_GROUPS, "FSDPState": OF_STATES, "FSDPStateContext": OF_CONTEXTS, "FSDPCommContext": OF_COMMUNICATION}
    lacking = [_lacking(getattr(module, kind, None), names) for kind, names in needs.items()] + [_lacking(parameter, OF_PARAMETERS)]
    return [name for names in lacking for name in names]


def install_fsdp2(module: ModuleType) -> None:
    """`module` is torch.distributed.fsdp._fully_shard._fsdp_state."""
    torch = sys.modules["torch"]
    if not _usable(torch, "FSDP2"):
        return
    collectives = sys.modules.get(division.COLLECTIVES)
    group, state = getattr(module, "FSDPParamGroup", None), getattr(module, "FSDPState", None)
    gather, scatter = (getattr(collectives, name, None) for name in ("DefaultAllGather", "DefaultReduceScatter"))
    forward = getattr(state, "_root_pre_forward", None)
    if None in (group, gather, scatter, forward):
        record.refuse_all(f"FSDP2: PyTorch {torch.__version__} has no staging buffers of a caller's")
        return
    lacking = _lacking_of(module)
    if lacking:
        record.refuse_all(f"FSDP2: PyTorch {torch.__version__} lacks {', '.join(lacking)}")
        return
    placed_gather, placed_scatter = staging.gather_class(torch, gather), staging.scatter_class(torch, scatter)
    _divide_in_copies(torch, collectives, group)
    _gather_directly(torch, sys.modules.get(unsharded.GROUPS), group)
    _give_groups_buffers(group, gather, scatter, placed_gather, placed_scatter)
    _keep_buffers(group, placed_gather, placed_scatter)
    _tell_when_a_step_begins(torch, state, forward)


def _give_groups_buffers(group: Any, gather: type, scatter: type, placed_gather: type, placed_scatter: type) -> None:
    plain_init = group.__init__

    def __init__(self: Any, *arguments: Any, **named: Any) -> None:
        plain_init(self, *arguments, **named)
        shards = getattr(self.mesh_info, "shard_process_group", None)
        if self.device.type == "cuda" and shards is not None and shards.size() > 1:
            if type(self._all_gather_comm) is gather and type(self._reduce_scatter_comm) is scatter:
                self._all_gather_comm, self._reduce_scatter_comm = placed_gather(self), placed_scatter(self)

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


def _divide_in_copies(torch: Any, collectives: Any, group: type) -> None:
    copy, reduce = getattr(collectives, division.COPY, None), getattr(collectives, "foreach_reduce", None)
    if copy is None or reduce is None or not _speaks_of(reduce, division.COPY):
        return
    expected = ["unsharded_grads", "reduce_scatter_input", "world_size"]
    if list(inspect.signature(copy).parameters) == expected and "gradient_divide_factor" in inspect.getsource(group.__init__):
        setattr(collectives, division.COPY, division.Copy(torch, copy, scaled_copy.ScaledCopy))


def _speaks_of(function: Any, name: str) -> bool:
    """Also where decorators stand around it."""
    return name in inspect.unwrap(function).__code__.co_names


def _gather_directly(torch: Any, groups: Any, group: type) -> None:
    """Gathers and their copies out are asked for here first, and a group that is sharded again says so."""
    unshard, wait, to_sharded = (getattr(group, name, None) for name in ("unshard", "wait_for_unshard", "_to_sharded"))
    gather, copy_out, kind = (getattr(groups, name, None) for name in (unsharded.GATHER, unsharded.COPY_OUT, "AllGatherResult"))
    if None in (unshard, wait, to_sharded, gather, copy_out):
        return
    expected = {
        gather: ["fsdp_params", "group", "async_op", "all_gather_copy_in_stream", "all_gather_stream", "device", "all_gather_comm"],
        copy_out: ["all_gather_result", "fsdp_params", "group"],
    }
    if any(list(inspect.signature(plain).parameters) != names for plain, names in expected.items()):
        return
    if not _speaks_of(unshard, unsharded.GATHER) or not _speaks_of(wait, unsharded.COPY_OUT):
        return
    if not {"all_gather_event", "all_gather_work"} <= set(getattr(kind, "_fields", ())):
        return

    def _to_sharded(self: Any) -> None:
        held = not self.is_sharded
        to_sharded(self)
        if held:
            unsharded.left(self)

    setattr(groups, unsharded.GATHER, unsharded.Gather(gather))
    setattr(groups, unsharded.COPY_OUT, unsharded.CopyOut(torch, copy_out))
    group._to_sharded = _to_sharded


def _tell_when_a_step_begins(torch: Any, state: Any, plain_forward: Any) -> None:
    def _root_pre_forward(self: Any, *arguments: Any, **named: Any) -> Any:
        if self._state_ctx.iter_forward_root is None and not any(map(division.is_open, _parameter_groups(self._state_ctx))):
            staging.step_begins(_optimizer_states)
        return plain_forward(self, *arguments, **named)

    state._root_pre_forward = _root_pre_forward
    register = getattr(sys.modules.get("torch.optim.optimizer"), "register_optimizer_step_post_hook", None)
    if register is not None:
        register(_note_optimizer)


def _parameter_groups(context: Any) -> Iterator[Any]:
    """Of all modules below one root, which is alive: so they are the same on all ranks."""
    for state in context.all_states:
        several = getattr(state, "_fsdp_param_groups", None)  # older PyTorch has one at most
        yield from filter(None, [state._fsdp_param_group] if several is None else several)


def _note_optimizer(*unused: Any) -> None:
    global _optimizer_states
    _optimizer_states = True


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
