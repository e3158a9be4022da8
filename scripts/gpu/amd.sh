#!/usr/bin/env bash
# For owners of AMD GPUs: builds Elbowroom, measures on every GPU that HIP shows, and packs one archive to send (docs/amd.md).
# Needs ROCm 5 or later with RCCL, two GPUs (the GCDs of one MI250X count as two) and about half an hour.
#   usage: scripts/gpu/amd.sh [OUT]          OUT: a folder for the results, build/amd by default
#   STEP_SECONDS (600) bounds each step; STEPS chooses them: machine kernels quick controls library paper run
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

out=${1:-build/amd}
steps=${STEPS:-machine kernels quick controls library paper run}
mkdir -p "$out" || exit 2
failed=()

# ROCm's own folder is often not among the loader's.
rocm=${ROCM_PATH:-/opt/rocm}
[[ -d $rocm/lib ]] && export LD_LIBRARY_PATH=$rocm/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
PATH=$PATH:$rocm/bin

elbowroom=${ELBOWROOM_BIN:-build/release/bin/elbowroom}
if [[ -z ${ELBOWROOM_BIN:-} ]]; then
  ./dev build || { echo "amd.sh: the build failed; CONTRIBUTING.md says how to build without apt" >&2; exit 1; }
fi
gpus=$("$elbowroom" list | sed -n '/^  hip /,/^  [a-z]/p' | grep -c '^ *GPU ')
if ((gpus < 2)); then
  "$elbowroom" list
  echo "amd.sh: the hip backend shows $gpus GPUs, expected 2 or more; the line of hip above says why" >&2
  exit 77
fi
((gpus > 8)) && gpus=8

# check NAME COMMAND...: runs it, keeps what it prints, remembers a failure.
check() {
  local name=$1
  shift
  printf '\n== %s (%s): %s\n' "$name" "$(date -u +%H:%M:%S)" "$*"
  timeout --kill-after=10 "${STEP_SECONDS:-600}" "$@" 2>&1 | tee "$out/$name.txt"
  local code=${PIPESTATUS[0]}
  ((code == 0)) || { echo "FAILED: $name, exit code $code" | tee -a "$out/$name.txt"; failed+=("$name"); }
}

bench() {
  local name=$1
  shift
  check "$name" "$elbowroom" bench --backend hip "$@" --json "$out/$name.json" --markdown "$out/$name.md"
}

machine() {
  "$elbowroom" --version
  "$elbowroom" list
  cat "$rocm/.info/version" 2>/dev/null
  # Models, versions, links and clocks; no serial numbers, no host names.
  rocm-smi --showproductname --showdriverversion --showmemuse --showclocks --showtopo 2>/dev/null
  env | grep -E '^(ELBOWROOM|HIP|HSA|NCCL|RCCL|ROCR|GPU_MAX_HW_QUEUES|DEBUG_HIP)_?' | sort
  return 0
}

for step in $steps; do
  case $step in
    machine) machine 2>&1 | tee "$out/machine.txt" ;;
    # Every kernel once, small and verified: a wrong result ends here and not in a figure.
    kernels)
      for dtype in f32 bf16; do
        for tile in 64,64,32 64,64,64 128,128,32; do
          IFS=, read -r m n k <<<"$tile"
          name=kernel-$dtype-${m}x${n}x$k
          cat >"$out/$name.scenario.json" <<JSON
{"schema": "elbowroom.scenario/1", "name": "$name", "gpus": 2, "iterations": 4, "pattern": "pipeline",
 "compute": {"kernel": "tiled_gemm", "m": 2048, "n": 2048, "k": 2048, "tile_m": $m, "tile_n": $n, "tile_k": $k, "grid": "full", "dtype": "$dtype"},
 "collective": {"op": "all_reduce", "bytes": "16M", "dtype": "bf16"}}
JSON
          bench "$name" --scenario "$out/$name.scenario.json" --trials 5
        done
      done
      ;;
    quick) bench quick --suite quick ;;
    controls) bench controls --suite controls --blocks-per-sm all ;;
    library) bench library --suite library ;;
    paper) bench "paper-${gpus}gpu" --suite paper -g "$gpus" ;;
    run)
      # PyTorch of ROCm, if there is one: what the interposer sees of it, unchanged and with its controls.
      if python3 -c 'import sys, torch; sys.exit(0 if torch.version.hip else 1)' 2>/dev/null; then
        for policy in observe auto; do
          check "run-$policy" "$elbowroom" run --policy "$policy" --verbose --report "$out/run-$policy.json" -- \
            torchrun --nproc-per-node 2 examples/pytorch/overlap_loop.py
        done
      else
        echo "no PyTorch for ROCm: the step run is left out" | tee "$out/run.txt"
      fi
      ;;
    *)
      echo "amd.sh: unknown step $step" >&2
      failed+=("$step")
      ;;
  esac
done

printf '%s\n' "${failed[@]:-none}" >"$out/failed-steps.txt"
archive=$out-$(date -u +%Y%m%d).tar.gz
tar -czf "$archive" -C "$(dirname "$out")" "$(basename "$out")"
printf '\namd.sh: failed steps: %s\namd.sh: please attach %s to an issue of the project\n' "${failed[*]:-none}" "$archive"
((${#failed[@]} == 0))
