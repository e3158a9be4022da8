#!/usr/bin/env bash
# Programs of the yardstick plain and under `run` in turns, on pairs of GPUs side by side: a machine of four measures two programs at once.
# The pairs share neither GPUs nor ranks, only the host, which has cores for both. Binaries as scripts/gpu/yardstick.sh takes them.
#   usage: scripts/gpu/pairs.sh OUT SECONDS LIST... [-- OPTION OF scripts/yardstick...]
#   LIST names programs by comma, one list for each pair of GPUs.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

usage='usage: scripts/gpu/pairs.sh OUT SECONDS LIST... [-- OPTION...]'
out=${1:?$usage}
seconds=${2:?$usage}
shift 2
lists=()
while (($#)) && [[ $1 != -- ]]; do
  lists+=("$1")
  shift
done
(($#)) && shift
((${#lists[@]})) || { echo "$usage" >&2; exit 2; }

gpus=$(nvidia-smi -L | wc -l)
((gpus >= 2 * ${#lists[@]})) || { echo "pairs.sh: ${#lists[@]} lists need $((2 * ${#lists[@]})) GPUs, $gpus are here" >&2; exit 77; }
for number in "${!lists[@]}"; do
  CUDA_VISIBLE_DEVICES=$((2 * number)),$((2 * number + 1)) SECONDS_LEFT=$seconds \
    scripts/gpu/yardstick.sh "$out/pair$number" measure --gpus 2 --programs "${lists[number]}" --nccl '' --others 0 "$@" >"$out/pair$number.txt" 2>&1 &
done
wait
for number in "${!lists[@]}"; do tail -n 60 "$out/pair$number.txt"; done
