#!/usr/bin/env bash
# PyTorch's checkpoint (torch.utils.checkpoint) without reentrance ends a repeated forward pass as soon as it has every saved tensor. The last
# product of the function is not computed again, nor what follows it; with reentrance all is.
#
# PyTorch 2.11.0 (PyPI), no GPU. Two products with GELU between them, products as operators are dispatched in the backward pass:
#   use_reentrant=False  5: the first product again, and two gradients of each
#   use_reentrant=True   6: both again
# So a feed-forward network at the end of a layer repeats all but its down projection, a third of the layer's products with 4 x hidden columns.
set -euo pipefail
command -v python3 >/dev/null || { echo 'skipped: needs python3'; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/env"
"$work/env/bin/pip" -q install torch==2.11.0 numpy >/dev/null
cat >"$work/count.py" <<'PYTHON'
import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.checkpoint import checkpoint


class Products(TorchDispatchMode):
    seen = 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        self.seen += func.overloadpacket.__name__ == "mm"
        return func(*args, **(kwargs or {}))


up = torch.randn(8, 32, requires_grad=True)
down = torch.randn(32, 8, requires_grad=True)
for reentrant in (False, True):
    tokens = torch.randn(4, 8, requires_grad=True)
    made = checkpoint(lambda x: torch.nn.functional.gelu(x @ up) @ down, tokens, use_reentrant=reentrant)
    with Products() as products:
        made.sum().backward()
    print(f"use_reentrant={reentrant}", products.seen)
PYTHON
seen=$("$work/env/bin/python" "$work/count.py")
echo "$seen"
[ "$seen" = 'use_reentrant=False 5
use_reentrant=True 6' ]
echo 'as described'
