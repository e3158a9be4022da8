#!/usr/bin/env bash
# The programs of examples/causes on two GPUs, in at most four minutes: each is recorded, and `elbowroom explain` must name its cause. Binaries
# are taken from build/gpu (made by scripts/gpu/collect.sh) or from build/release. OUT/traces gets the recordings that tests/cli/causes keeps.
#   usage: scripts/gpu/causes.sh OUT [OPTIONS of causes.py]
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

out=${1:?usage: scripts/gpu/causes.sh OUT}
shift
mkdir -p "$out"
export NCCL_NVLS_ENABLE=0 TORCH_SYMM_MEM_DISABLE_MULTICAST=1  # multicast can put a shared host's GPUs out of service
. scripts/gpu/libraries.sh
nvidia-smi --query-gpu=index,name,driver_version,clocks.sm,power.draw,power.limit,temperature.gpu --format=csv | tee "$out/machine.txt"
python3 -c 'import torch; print(torch.__version__, torch.version.cuda)' | tee -a "$out/machine.txt"  # read once before it is timed
exec python3 -B scripts/gpu/causes.py --elbowroom "$bin/elbowroom" --out "$out" "$@"
