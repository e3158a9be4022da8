#!/usr/bin/env bash
# XLA's symmetric buffers make a data-parallel step slower with NCCL's own number of blocks, and faster with 32.
#
# jax 0.11.2 and the NCCL that comes with it, 2 x H200, NVLink multicast off, examples/programs/jax_data_parallel.py, ms a step:
#   plain                                                                           28.5 to 28.9
#   XLA_FLAGS=--xla_gpu_experimental_enable_nccl_symmetric_buffers=true             33.1
#   and NCCL_SYM_CTAS=32                                                            27.2, 27.3    (16: 27.9, 24: 27.6, 48 and 64: 27.3)
# The loss is the same. NCCL_CTA_POLICY=2 and NCCL_MAX_CTAS=16 change nothing. Needs two GPUs and jax 0.11.2; exit code 77 without.
set -euo pipefail
cd "$(dirname "$0")/.."
version=$(python3 -c 'import jax; print(jax.__version__, len([d for d in jax.devices() if d.platform == "gpu"]) > 1)' 2>/dev/null || true)
[ "$version" = '0.11.2 True' ] || { echo "jax 0.11.2 with two GPUs is not here (${version:-no jax})" >&2; exit 77; }
export NCCL_NVLS_ENABLE=0
median() { # ENVIRONMENT...: milliseconds of a step
  env "$@" python3 examples/programs/jax_data_parallel.py --steps 60 |
    python3 -c 'import json, statistics, sys; print(statistics.median(json.loads(sys.stdin.read().splitlines()[-1])["steps_ms"]))'
}
flag=XLA_FLAGS=--xla_gpu_experimental_enable_nccl_symmetric_buffers=true
plain=$(median A=1) own=$(median "$flag") many=$(median "$flag" NCCL_SYM_CTAS=32)
echo "plain $plain ms, symmetric $own, with 32 blocks $many"
python3 -c 'import sys; plain, own, many = map(float, sys.argv[1:]); sys.exit(not (own > 1.05 * plain and many < 0.98 * plain))' "$plain" "$own" "$many"
