#!/usr/bin/env bash
# PyTorch's two FSDPs prepare gradients for a reduce-scatter by different kernels. With parameters in bf16 and reduce_dtype f32,
# FullyShardedDataParallel joins gradients in bf16, casts the joined buffer to f32 and divides it there: 18 bytes to and from memory for each
# parameter. fully_shard does all by one kernel and leaves the division to the collective: 6 bytes.
#
# PyTorch 2.11.0 (PyPI), two ranks over Gloo, no GPU. Operators of the backward pass on all 8,192 parameters, ahead of the collective:
#   FullyShardedDataParallel  cat _to_copy div_.Tensor
#   fully_shard               chunk_cat
set -euo pipefail
command -v python3 >/dev/null || { echo 'skipped: needs python3'; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/env"
"$work/env/bin/pip" -q install torch==2.11.0 numpy >/dev/null
cat >"$work/count.py" <<'PYTHON'
import sys

import torch
import torch.distributed
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import FullyShardedDataParallel, MixedPrecision, MixedPrecisionPolicy, fully_shard
from torch.utils._python_dispatch import TorchDispatchMode

PARAMETERS = 2 * 64 * 64
VIEWS = ("detach", "slice.Tensor", "split.Tensor", "split_with_sizes", "view")


def elements(arguments):
    if isinstance(arguments, torch.Tensor):
        return arguments.numel()
    return sum(map(elements, arguments)) if isinstance(arguments, (list, tuple)) else 0


class Kernels(TorchDispatchMode):
    def __init__(self):
        super().__init__()
        self.seen = []

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        name = func.name().split("::")[1]
        if elements(args) >= PARAMETERS and name not in VIEWS:
            self.seen.append(name)
        return func(*args, **(kwargs or {}))


def rank(number, meeting):
    torch.distributed.init_process_group("gloo", init_method=f"file://{meeting}", rank=number, world_size=2)
    for wrapper in ("FullyShardedDataParallel", "fully_shard"):
        model = torch.nn.Sequential(*(torch.nn.Linear(64, 64, bias=False) for _ in range(2)))
        if wrapper == "fully_shard":
            fully_shard(model, mesh=init_device_mesh("cpu", (2,)), mp_policy=MixedPrecisionPolicy(torch.bfloat16, torch.float32))
        else:
            precision = MixedPrecision(torch.bfloat16, torch.float32)
            model = FullyShardedDataParallel(model, mixed_precision=precision, device_id=torch.device("cpu"), use_orig_params=True)
        loss = model(torch.randn(4, 64)).float().sum()
        with Kernels() as kernels:
            loss.backward()
        before = kernels.seen[: kernels.seen.index("_reduce_scatter_base_")]
        if number == 0:
            print(wrapper, *before, flush=True)
    torch.distributed.destroy_process_group()


if __name__ == "__main__":
    torch.multiprocessing.spawn(rank, sys.argv[1:], 2)
PYTHON
seen=$("$work/env/bin/python" "$work/count.py" "$work/meeting" 2>"$work/said") || { cat "$work/said" >&2; exit 1; }
echo "$seen"
[ "$seen" = 'FullyShardedDataParallel cat _to_copy div_.Tensor
fully_shard chunk_cat' ]
echo 'as described'
