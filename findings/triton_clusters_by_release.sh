#!/usr/bin/env bash
# What Triton's cache says of a kernel of clusters (num_ctas) depends on the release: cluster_dims is gone from 3.6 on, and shared memory of a block
# doubled with 3.5 and went back with 3.8.
#
# triton (PyPI) without a GPU: a product of f16, 128 x 128 by 64, 8 warps, num_ctas 2 and 4, sm_90. "shared" and cluster_dims of the kernel's JSON, cluster
# of its PTX (.reqnctapercluster):
#             num_ctas=1       num_ctas=2                            num_ctas=4
#   3.4.0     66,048           33,024  cluster_dims 2,1,1  PTX -     16,640  2,2,1  -
#   3.5.1     65,536           65,536  cluster_dims 2,1,1  PTX -     65,536  2,2,1  -
#   3.7.1     65,536           65,536  -                   PTX 2     65,536  -      4
#   3.9.0     65,536           32,768  -                   PTX 2     16,384  -      4
# 3.6.0 and 3.7.0 are as 3.7.1, 3.8.0 as 3.9.0. Whoever reads cluster_dims takes newer kernels for kernels without clusters; num_ctas is in all of them. Up to
# 3.5 the PTX does not have the cluster: it is the launch's alone. An H100's SM has shared memory for three of 3.7.1's blocks of two and for six of 3.9.0's.
set -euo pipefail
command -v python3 >/dev/null || { echo 'skipped: needs python3'; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cat >"$work/product.py" <<'PYTHON'
import re

import triton
import triton.language as tl
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource


@triton.jit
def product(a, b, c, depth, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    m, n, k = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
    total = tl.zeros((M, N), tl.float32)
    for begin in range(0, depth, K):
        total = tl.dot(tl.load(a + m[:, None] * depth + k[None, :] + begin), tl.load(b + (k[:, None] + begin) * N + n[None, :]), total)
    tl.store(c + m[:, None] * N + n[None, :], total)


kinds = dict.fromkeys("MNK", "constexpr") | {"a": "*fp16", "b": "*fp16", "c": "*fp32", "depth": "i32"}
for blocks in (1, 2, 4):
    source = ASTSource(product, kinds, constexprs={"M": 128, "N": 128, "K": 64})
    kernel = triton.compile(source, target=GPUTarget("cuda", 90, 32), options={"num_warps": 8, "num_ctas": blocks})
    launch, cluster = kernel.metadata, re.search(r"\.reqnctapercluster (\d+)", kernel.asm["ptx"])
    dims = ",".join(map(str, getattr(launch, "cluster_dims", ()))) or "-"
    print(triton.__version__, launch.num_ctas, launch.shared, dims, cluster[1] if cluster else "-")
PYTHON
for version in 3.4.0 3.5.1 3.7.1 3.9.0; do
  python3 -m venv "$work/$version"
  "$work/$version/bin/pip" -q install "triton==$version"
  TRITON_DEFAULT_FP_FUSION=1 TRITON_CACHE_DIR=$work/cache "$work/$version/bin/python" "$work/product.py"
  rm -r "${work:?}/$version"
done | tee "$work/seen"
diff "$work/seen" - <<'SEEN'
3.4.0 1 66048 1,1,1 -
3.4.0 2 33024 2,1,1 -
3.4.0 4 16640 2,2,1 -
3.5.1 1 65536 1,1,1 -
3.5.1 2 65536 2,1,1 -
3.5.1 4 65536 2,2,1 -
3.7.1 1 65536 - -
3.7.1 2 65536 - 2
3.7.1 4 65536 - 4
3.9.0 1 65536 - -
3.9.0 2 32768 - 2
3.9.0 4 16384 - 4
SEEN
echo 'as described'
