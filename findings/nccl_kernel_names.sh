#!/usr/bin/env bash
# Names of NCCL's kernels say no reduction and no protocol any more from 2.31.2 on, and their static shared memory grew with 2.29.
#
# PyPI nvidia-nccl-cu13 2.28.9, 2.30.7, 2.31.2; cuobjdump 13.5.37. No GPU.
#   2.28.9, 2.30.7: ncclDevKernel_AllReduce_Sum_bf16_RING_LL     2.31.2: ncclDevKernel_AllReduce_bf16_RING
# Whoever takes LL from a name in a trace, or the reduction, finds neither. All of a release have the same registers (96) and memory:
#             2.28.9    2.30.7    2.31.2     (cuobjdump -res-usage; from sm_90 on it counts the driver's 1,024 B too)
#   sm_80      7,104    14,144    14,144
#   sm_90     22,592    37,824    37,824
# With 82,240 B of dynamic shared memory a block of 2.29 or newer leaves an SM of an H100 no room for a kernel that is padded to one
# block per SM; one of 2.28.9 does.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/env"
"$work/env/bin/pip" -q install nvidia-cuda-cuobjdump==13.5.37
cuobjdump=$(find "$work/env" -name cuobjdump -type f)
chmod +x "$cuobjdump"

usage() { # VERSION: architecture, registers, shared memory and name of each ring kernel of an all-reduce of bf16
  "$work/env/bin/pip" -q download --no-deps -d "$work/$1" "nvidia-nccl-cu13==$1"
  python3 -m zipfile -e "$work/$1"/*.whl "$work/$1/files"
  "$cuobjdump" -res-usage "$work/$1/files/nvidia/nccl/lib/libnccl.so.2" 2>/dev/null |
    awk '/^arch = /{arch = $3} /Function/{name = $2} /REG:/{print arch, $1, $3, name}' |
    grep -E '^sm_(80|90) .*ncclDevKernel_AllReduce_(Sum_)?bf16_RING' | sort
  rm -r "${work:?}/$1"
}
expect() { # VERSION NAME SHARED_80 SHARED_90
  [ "$(usage "$1")" = "sm_80 REG:96 SHARED:$3 $2:
sm_90 REG:96 SHARED:$4 $2:" ]
}
expect 2.28.9 _Z40ncclDevKernel_AllReduce_Sum_bf16_RING_LL24ncclDevKernelArgsStorageILm4096EE 7104 22592
expect 2.30.7 _Z40ncclDevKernel_AllReduce_Sum_bf16_RING_LL24ncclDevKernelArgsStorageILm4096EE 14144 37824
expect 2.31.2 _Z33ncclDevKernel_AllReduce_bf16_RING24ncclDevKernelArgsStorageILm4096EE 14144 37824
echo 'from 2.31.2 on the names say no reduction and no protocol; static shared memory grew by 15,232 B on sm_90'
