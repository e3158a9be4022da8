#!/usr/bin/env bash
# PyTorch's all_to_all_single_autograd (torch.distributed._functional_collectives) waits where its result is used in the forward pass, and at once
# in the backward pass.
#
# PyTorch 2.11.0 (PyPI), one rank with gloo, no GPU. Two independent halves of a batch, a product and an all-to-all each, as operators are dispatched:
#   forward:  mm all_to_all_single mm all_to_all_single, and both waits behind them at the first use
#   backward: all_to_all_single wait_tensor mm mm all_to_all_single wait_tensor mm mm
# So the stream that computes one half's gradients waits for the other half's all-to-all: two halves overlap in forward passes only.
set -euo pipefail
command -v python3 >/dev/null || { echo 'skipped: needs python3'; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/env"
"$work/env/bin/pip" -q install torch==2.11.0 numpy >/dev/null
cat >"$work/order.py" <<'PYTHON'
import sys

import torch
import torch.distributed as dist
from torch.distributed._functional_collectives import all_to_all_single_autograd
from torch.utils._python_dispatch import TorchDispatchMode

NAMES = ("all_to_all_single", "wait_tensor", "mm")


class Order(TorchDispatchMode):
    seen: list[str] = []

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        name = func.overloadpacket.__name__
        if name in NAMES:
            self.seen.append(name)
        return func(*args, **(kwargs or {}))


dist.init_process_group("gloo", init_method=f"file://{sys.argv[1]}", rank=0, world_size=1)
weight = torch.randn(4, 4, requires_grad=True)
batch = torch.randn(8, 4, requires_grad=True)
with Order() as order:
    halves = [all_to_all_single_autograd(half @ weight, None, None, dist.group.WORLD) for half in batch.chunk(2)]
    print("forward:", *order.seen)
    loss = torch.cat(halves).sum()
    order.seen.clear()
    loss.backward()
    print("backward:", *order.seen)
dist.destroy_process_group()
PYTHON
seen=$("$work/env/bin/python" "$work/order.py" "$work/store" 2>/dev/null)
echo "$seen"
[ "$seen" = 'forward: mm all_to_all_single mm all_to_all_single
backward: all_to_all_single wait_tensor mm mm all_to_all_single wait_tensor mm mm' ]
echo 'as described'
