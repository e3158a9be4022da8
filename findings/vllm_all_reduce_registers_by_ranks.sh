#!/usr/bin/env bash
# A block of vLLM's own all-reduce takes twice the registers on eight GPUs that it takes on two, and no static shared memory on any number.
#
# vllm 0.33.0 (PyPI, _C_stable_libtorch.abi3.so), cuobjdump 13.5.37 (PyPI), sm_90, bf16. No GPU. The number of ranks is a template argument. Registers of
# a thread, and of a block of the 512 threads that the kernels are built for at most (EIATTR_MAX_THREADS), in eights for each thread:
#   ranks                              2        4        6        8     8, of the SM's 65,536
#   cross_device_reduce_1stage        47       51       63       70     36,864
#   cross_device_reduce_2stage        48       64       82      103     53,248
#   cross_device_reduce_scatter       45       48       61       72     36,864
#   cross_device_all_gather           52       56       56       64     32,768
# Beside a block of the two-stage kernel computation has 40,960 registers of an SM on two GPUs and 12,288 on eight: what fits beside it in an experiment on
# two GPUs need not fit on eight. NCCL's kernels have one footprint for any number (nccl_kernel_names.sh).
set -euo pipefail
command -v python3 >/dev/null || { echo 'skipped: needs python3'; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/env"
"$work/env/bin/pip" -q install nvidia-cuda-cuobjdump==13.5.37
"$work/env/bin/pip" -q download --no-deps -d "$work" vllm==0.33.0
cuobjdump=$(find "$work/env" -name cuobjdump -type f)
chmod +x "$cuobjdump"
"$work/env/bin/python" - "$work" <<'PYTHON'
import glob, sys, zipfile
zipfile.ZipFile(glob.glob(f"{sys.argv[1]}/vllm-*.whl")[0]).extract("vllm/_C_stable_libtorch.abi3.so", sys.argv[1])
PYTHON
"$cuobjdump" -arch sm_90 -res-usage "$work/vllm/_C_stable_libtorch.abi3.so" 2>/dev/null |
  sed -nE '/Function _ZN4vllm[0-9]+cross_device_(reduce_[a-z0-9]+I13__nv_bfloat16|all_gatherI)Li[0-9]/{
    N
    s/.*_ZN4vllm[0-9]+(cross_device_[a-z0-9_]+)I(13__nv_bfloat16)?Li([0-9]+).*REG:([0-9]+).*SHARED:([0-9]+).*/\1 \3 ranks \4 registers \5 B/p
  }' | sort >"$work/usage"
cat "$work/usage"
diff "$work/usage" - <<'USAGE'
cross_device_all_gather 2 ranks 52 registers 0 B
cross_device_all_gather 4 ranks 56 registers 0 B
cross_device_all_gather 6 ranks 56 registers 0 B
cross_device_all_gather 8 ranks 64 registers 0 B
cross_device_reduce_1stage 2 ranks 47 registers 0 B
cross_device_reduce_1stage 4 ranks 51 registers 0 B
cross_device_reduce_1stage 6 ranks 63 registers 0 B
cross_device_reduce_1stage 8 ranks 70 registers 0 B
cross_device_reduce_2stage 2 ranks 48 registers 0 B
cross_device_reduce_2stage 4 ranks 64 registers 0 B
cross_device_reduce_2stage 6 ranks 82 registers 0 B
cross_device_reduce_2stage 8 ranks 103 registers 0 B
cross_device_reduce_scatter 2 ranks 45 registers 0 B
cross_device_reduce_scatter 4 ranks 48 registers 0 B
cross_device_reduce_scatter 6 ranks 61 registers 0 B
cross_device_reduce_scatter 8 ranks 72 registers 0 B
USAGE
echo 'as described'
