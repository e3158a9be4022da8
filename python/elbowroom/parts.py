"""The parts of what is done to PyTorch, what each needs of it, and the versions in which tests have seen it hold.

A part whose needs a PyTorch lacks is left out alone. FSDP2 has public ways to give it communication objects and memory (`set_custom_all_gather`,
`set_symm_mem_for_comm`); the names with an underscore are needed for what these cannot do: objects of one parameter group each, the beginning of a step,
gathers without a flat buffer, division in the copy.
"""

from __future__ import annotations

import inspect
import re
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

FSDP = "torch.distributed.fsdp._fully_shard"
GROUPS, STATES, COLLECTIVES, PARAMETERS = (f"{FSDP}._fsdp_{name}" for name in ("param_group", "state", "collectives", "param"))
DISTRIBUTED = "torch.nn.parallel.distributed"

GATHER, COPY_OUT, COPY_IN = "foreach_all_gather", "foreach_all_gather_copy_out", "foreach_reduce_scatter_copy_in"
# Parameters by name, of functions of FSDP2 that others stand in for. What comes behind these is passed on.
GATHERS = ["fsdp_params", "group", "async_op", "all_gather_copy_in_stream", "all_gather_stream", "device", "all_gather_comm"]
COPIES_OUT = ["all_gather_result", "fsdp_params", "group"]
COPIES_IN = ["unsharded_grads", "reduce_scatter_input", "world_size"]
TENSORS = ("_construct_storage_from_data_pointer", "_storage_Use_Count")  # in memory of ours, and who has one

VERSIONS = ("2.9", "2.10", "2.11", "2.12", "2.13", "2.14", "2.15")  # those that tests know; others must prove a step


@dataclass(frozen=True)
class Part:
    """`lacking` names what this PyTorch does not have of the part's needs; `without` says what a program has then. `proven`: one step shows whether it
    holds, so that it is tried in versions that no test knows."""

    name: str
    lacking: Callable[[Any], list[str]]
    without: str
    proven: bool = True


def _of(module: str, name: str) -> Any:
    return getattr(sys.modules.get(module), name, None)


def _absent(where: str, holder: Any, *names: str) -> list[str]:
    return [f"{where}.{name}" for name in names if getattr(holder, name, None) is None]


def _unspoken(module: str, kind: str, *names: str) -> list[str]:
    """Which attributes a class never speaks of. All of them where its text is not there."""
    try:
        text = inspect.getsource(_of(module, kind))
    except (OSError, TypeError):
        text = ""
    return [f"{kind}.{name}" for name in names if not re.search(rf"\bself\.{name}\b|\bdef {name}\b", text)]


def speaks_of(function: Any, name: str) -> bool:
    """Also where decorators stand around it."""
    return name in getattr(getattr(inspect.unwrap(function), "__code__", None), "co_names", ())


def _takes(module: str, name: str, expected: list[str]) -> list[str]:
    """Whether a function takes these parameters and then nothing but named ones."""
    function = _of(module, name)
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return [f"{module.rpartition('.')[2]}.{name}"]
    rest = parameters[len(expected) :]
    known = [parameter.name for parameter in parameters[: len(expected)]] == expected
    if known and all(parameter.kind is parameter.KEYWORD_ONLY for parameter in rest):
        return []
    return [f"{name} with its known parameters"]


def _called(kind: Any, method: str, name: str) -> list[str]:
    return [] if speaks_of(getattr(kind, method, None), name) else [f"{name} in {getattr(kind, '__name__', 'FSDP2')}.{method}"]


def lacking_everywhere(torch: Any) -> str:
    """What every part needs and this process lacks; empty where nothing is missing."""
    if not sys.platform.startswith("linux"):
        return "only Linux has symmetric memory of NCCL"
    version = sys.modules.get("torch.version")
    if getattr(version, "hip", None):
        return "PyTorch is built for ROCm"
    if not getattr(version, "cuda", None):
        return "PyTorch is built without CUDA"
    cuda, native, distributed = (getattr(torch, name, None) for name in ("cuda", "_C", "distributed"))
    nccl = getattr(distributed, "ProcessGroupNCCL", None)
    lacking = _absent("torch.cuda", cuda, "MemPool", "use_mem_pool") + _absent("torch._C", native, "_cuda_beginAllocateCurrentThreadToPool")
    lacking += _absent("ProcessGroupNCCL", nccl, "_comm_ptr", "get_runtime_nccl_version")
    lacking += _absent("distributed_c10d", sys.modules.get("torch.distributed.distributed_c10d"), "_get_process_group_store")
    return f"PyTorch {torch.__version__} lacks {', '.join(lacking)}" if lacking else ""


def _buckets(torch: Any) -> list[str]:
    made_here = getattr(sys.modules.get(DISTRIBUTED), "dist", None) is torch.distributed
    reducer = _absent("Reducer", getattr(torch.distributed, "Reducer", None), "_rebuild_buckets", "prepare_for_forward")
    return reducer + ([] if made_here else ["a reducer that is looked up in torch.distributed"])


def _in_place(torch: Any) -> list[str]:
    lacking = _absent("Reducer", getattr(torch.distributed, "Reducer", None), "_get_zeros_like_grad_buckets", "prepare_for_backward")
    lacking += _absent("Tensor", torch.Tensor, "register_post_accumulate_grad_hook", "_use_count")
    return lacking + _absent("torch._C", torch._C, *TENSORS)


def _compressed(torch: Any) -> list[str]:
    return _absent("torch.distributed", torch.distributed, "_register_comm_hook") + _absent("torch._C", torch._C, *TENSORS)


def _staging(torch: Any) -> list[str]:
    lacking = _absent("torch._C", torch._C, *TENSORS) + _absent("_fsdp_collectives", sys.modules.get(COLLECTIVES), "DefaultAllGather", "DefaultReduceScatter")
    lacking += _unspoken(GROUPS, "FSDPParamGroup", "mesh_info", "device", "fsdp_params", "_all_gather_comm", "_reduce_scatter_comm",
                         "_all_gather_process_group", "_reduce_scatter_process_group")
    lacking += _absent("FSDPState", _of(STATES, "FSDPState"), "_root_pre_forward") + _unspoken(STATES, "FSDPState", "_state_ctx")
    return lacking + _unspoken(STATES, "FSDPStateContext", "iter_forward_root")


def _results(torch: Any) -> list[str]:
    """That a result is the gradients' memory is known by their type, which groups had up to 2.14, and parameters have since."""
    types = [_unspoken(GROUPS, "FSDPParamGroup", "_orig_dtype"), _unspoken(PARAMETERS, "FSDPParam", "sharded_grad_dtype")]
    return min(types, key=len) + _unspoken(PARAMETERS, "FSDPParam", "offload_to_cpu")


def _sums(torch: Any) -> list[str]:
    lacking = _unspoken(GROUPS, "FSDPParamGroup", "force_sum_reduction_for_comms", "_all_reduce_hook", "_partial_reduce_output")
    return lacking + _unspoken(STATES, "FSDPStateContext", "all_states")


def _division(torch: Any) -> list[str]:
    lacking = _unspoken(GROUPS, "FSDPParamGroup", "gradient_divide_factor", "_reduce_dtype") + _takes(COLLECTIVES, COPY_IN, COPIES_IN)
    reduce = _of(COLLECTIVES, "foreach_reduce")
    return lacking + _results(torch) + ([] if speaks_of(reduce, COPY_IN) else [f"{COPY_IN} in foreach_reduce"])


def _gathers(torch: Any) -> list[str]:
    group, result = _of(GROUPS, "FSDPParamGroup"), _of(GROUPS, "AllGatherResult")
    lacking = _unspoken(GROUPS, "FSDPParamGroup", "_all_gather_result", "_training_state", "_use_post_forward_mesh", "is_sharded", "_to_sharded")
    lacking += _unspoken(PARAMETERS, "FSDPParam", "all_gather_outputs", "alloc_all_gather_outputs", "_sharded_param_data", "fsdp_placement")
    lacking += _takes(GROUPS, GATHER, GATHERS) + _takes(GROUPS, COPY_OUT, COPIES_OUT)
    lacking += _called(group, "unshard", GATHER) + _called(group, "wait_for_unshard", COPY_OUT)
    fields = getattr(result, "_fields", ())
    return lacking + [f"AllGatherResult.{name}" for name in ("all_gather_event", "all_gather_work") if name not in fields]


BUCKETS = Part("DDP buckets", _buckets, "buckets on ordinary memory")
IN_PLACE = Part("DDP gradients in place", _in_place, "gradients are copied back", proven=False)
COMPRESSED = Part("DDP compressed copies", _compressed, "copies on ordinary memory")
STAGING = Part("FSDP2 staging buffers", _staging, "buffers on ordinary memory")
RESULTS = Part("FSDP2 results in place", _results, "results of scatters are copied")
SUMS = Part("FSDP2 sums", _sums, "means, which have no symmetric kernels before NCCL 2.30")
DIVISION = Part("FSDP2 division in the copy", _division, "a division of each result", proven=False)
DIRECT_GATHERS = Part("FSDP2 direct gathers", _gathers, "gathers into flat buffers, and copies out of them", proven=False)
PARTS = (BUCKETS, IN_PLACE, COMPRESSED, STAGING, RESULTS, SUMS, DIVISION, DIRECT_GATHERS)

# part x version: the reason why a part is missing there. What is not named holds.
MISSING: dict[tuple[str, str], str] = {}


def unknown(torch: Any) -> str:
    """Empty, or that no test knows this version: then buffers must prove themselves, and what cannot be proven is left out."""
    released = re.fullmatch(r"(\d+\.\d+)\.\d+(\+.*)?", str(torch.__version__))
    return "" if released and released[1] in VERSIONS else f"no test knows PyTorch {torch.__version__}"


def support_table() -> list[str]:
    """The table of docs/reference/pytorch.md."""
    head = ["Part", *VERSIONS, "without it"]
    rows = [[part.name, *("no" if (part.name, version) in MISSING else "yes" for version in VERSIONS), part.without] for part in PARTS]
    return ["| " + " | ".join(cells) + " |" for cells in (head, ["---"] * len(head), *rows)]
