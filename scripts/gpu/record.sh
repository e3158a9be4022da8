#!/usr/bin/env bash
# What `elbowroom explain --` records on two GPUs and what it costs, in at most four minutes. Binaries are taken from build/gpu (made by
# scripts/gpu/build.sh or collect.sh) or from build/release.
#   usage: scripts/gpu/record.sh OUT [OPTIONS of record.py]
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

out=${1:?usage: scripts/gpu/record.sh OUT}
shift
mkdir -p "$out"
export NCCL_NVLS_ENABLE=0 TORCH_SYMM_MEM_DISABLE_MULTICAST=1  # multicast can put a shared host's GPUs out of service
. scripts/gpu/libraries.sh
nvidia-smi --query-gpu=index,name,driver_version,clocks.sm,temperature.gpu --format=csv | tee "$out/machine.txt"
python3 -c 'import torch; print(torch.__version__, torch.version.cuda)' | tee -a "$out/machine.txt"  # read once before it is timed
exec python3 -B scripts/gpu/record.py --elbowroom "$bin/elbowroom" --raw "$bin/example_raw_overlap" --out "$out" "$@"
