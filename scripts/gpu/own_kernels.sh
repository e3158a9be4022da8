#!/usr/bin/env bash
# Kernels of a user's own beside an all-reduce, on two GPUs from sm_90 on: verified, shaped, tuned. Two minutes.
#   usage: scripts/gpu/own_kernels.sh OUT     binaries from build/gpu or build/release; own_kernels.cubin beside them, else nvcc makes it
# Must hold: every scheme runs and verifies (exit code 0), `shaped` pads, `tune` stores a choice, kernels in clusters run, and a scenario that cannot
# run is refused by its member. Exit code 1 where one of them fails.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
. scripts/gpu/checks.sh
cubin=$bin/own_kernels.cubin
if [[ ! -e $cubin ]]; then
  command -v nvcc >/dev/null || { echo 'neither own_kernels.cubin nor nvcc'; exit 77; }
  cubin=$out/own_kernels.cubin
  nvcc -cubin -arch="${ARCH:-sm_90}" -o "$cubin" scripts/gpu/own_kernels.cu || exit 1
fi
module() { printf '{"kernel": "module", "file": "%s", "function": "%s", %s}' "$cubin" "$1" "$2"; }
scenario saxpy "$(module saxpy '"grid": [65536], "block": [256], "arguments": [{"f32": 0.5}, {"buffer": "1G", "fill": "uniform"}, {"buffer": "1G"}, {"i64": 268435456}]')" 8 256M
scenario product "$(module product '"grid": [128, 128], "block": [32, 8], "arguments": [{"buffer": "64M", "fill": "uniform"}, {"buffer": "64M", "fill": "uniform"}, {"buffer": "64M"}, {"i32": 4096}]')" 8 256M
scenario neighbour "$(module neighbour '"grid": [65536], "block": [256], "cluster": 4, "arguments": [{"buffer": "64M", "fill": "uniform"}, {"buffer": "64M"}]')" 8 256M
scenario described '{"kernel": "footprint", "threads": 256, "registers": 32, "blocks": 2640, "us_per_block": 20}' 8 256M

for name in saxpy product; do
  check "bench-$name" 0 "$bin/elbowroom" bench --backend cuda --scenario "$out/$name.json" --json "$out/bench-$name.json"
  says "bench-$name" shaped_priority
  grep -qE '"pad_bytes": [1-9]' "$out/bench-$name.json" || failed+=("bench-$name: no scheme pads")
  check "tune-$name" 0 "$bin/elbowroom" tune --backend cuda --scenario "$out/$name.json" --budget 8 --profile "$out/$name-profile.json"
  check "tuned-$name" 0 "$bin/elbowroom" bench --backend cuda --scenario "$out/$name.json" --scheme concurrent,tuned --profile "$out/$name-profile.json"
done
check bench-neighbour 0 "$bin/elbowroom" bench --backend cuda --scenario "$out/neighbour.json" --scheme concurrent,priority
check described 2 "$bin/elbowroom" bench --backend cuda --scenario "$out/described.json"
says described 'compute.kernel: footprint, expected one that CUDA can launch'
sed 's/"function": "saxpy"/"function": "absent"/' "$out/saxpy.json" >"$out/absent.json"
check absent 2 "$bin/elbowroom" bench --backend cuda --scenario "$out/absent.json"
says absent 'compute.function: absent, expected a kernel of'

tell_failed 'own kernels'
