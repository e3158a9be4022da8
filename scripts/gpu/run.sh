#!/usr/bin/env bash
# What is run on a machine with GPUs, each step with its check. Binaries are taken from build/gpu (made by scripts/gpu/collect.sh)
# or from build/release.
#   usage: scripts/gpu/run.sh OUT STEP...
#   ONLY narrows the paper steps to the cases in whose name that regular expression is found.
#   STEP_SECONDS (300) bounds each step, so that one that hangs does not take the others with it.
#   EXAMPLES and POLICIES choose what the pytorch steps compare (examples/pytorch/compare.py --help).
#   steps: machine tests sanitizer empty quick controls gate library rows tune suites peers paper paper-cells paper-host pytorch pytorch-host pytorch-exact run-profile
#   profile-rules
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

out=${1:?usage: scripts/gpu/run.sh OUT STEP...}
shift
mkdir -p "$out"
gpus=$(nvidia-smi -L | wc -l)
failed=0

# NVLink multicast stays off (it can put a shared host's GPUs out of service).
export NCCL_NVLS_ENABLE=0
. scripts/gpu/libraries.sh

note() { printf '\n== %s (%s)\n' "$1" "$(date -u +%H:%M:%S)"; }

# check NAME COMMAND...: runs it, keeps its output, remembers a failure.
check() {
  local name=$1
  shift
  note "$name: $*"
  timeout --kill-after=5 "${STEP_SECONDS:-300}" "$@" 2>&1 | tee "$out/$name.txt"
  local code=${PIPESTATUS[0]}
  ((code == 0)) || { echo "FAILED: $name, exit code $code"; failed=1; }
}

bench() {
  local name=$1
  shift
  check "$name" "$bin/elbowroom" bench "$@" --json "$out/$name.json" --markdown "$out/$name.md"
}

# pytorch NAME ARGUMENT...: PyTorch's examples with and without Elbowroom; whatever was measured when the time is over is kept.
pytorch() {
  local name=$1 raw=$bin/example_raw_overlap
  shift
  [[ -x $raw ]] || raw=
  check "$name" python3 -B examples/pytorch/compare.py --elbowroom "$bin/elbowroom" --raw "$raw" --json "$out/$name.json" \
    --budget "$((${STEP_SECONDS:-300} - 60))" --timeout 200 ${POLICIES:+--policies "$POLICIES"} ${EXAMPLES:+--examples "$EXAMPLES"} "$@"
}

for step in "$@"; do
  case $step in
    machine) check machine bash -c "nvidia-smi; nvidia-smi topo -m; $bin/elbowroom list" ;;
    tests) check tests "$bin/test_device" --gtest_brief=1 ;;
    sanitizer)
      # NCCL tries what may fail (peer access that is already on) and goes on: API errors are not reported.
      check sanitizer compute-sanitizer --report-api-errors no --error-exitcode 9 "$bin/test_device" \
        --gtest_filter='*EveryKernelAndCollective*:*EveryCollective*' --gtest_brief=1
      ;;
    empty) check empty-plan "$bin/empty_plan" ;;
    quick) bench quick --suite quick --trace "$out/quick.trace.json" ;;
    controls) bench controls --suite controls --blocks-per-sm all ;;
    gate) bench gelu-best --suite controls --only gelu-ar-8b --min-reduction 10 ;;
    rows) check rows bash -c "$bin/measure_rows '${ONLY:-.}' >'$out/rows-${gpus}gpu.csv'" ;;
    library) bench library --suite library ;;
    tune)
      # The cases in which every control is free; the profile is what `tuned` of the step peers looks up.
      check "tune-${gpus}gpu" "$bin/elbowroom" tune --suite controls -g "$gpus" --only "${ONLY:-^(cublas|gelu-ar$|gelu-ag|hgemm|sgemm)}" \
        --budget "${TUNE_SECONDS:-20}" --profile "$out/profile.json" --json "$out/tune-${gpus}gpu.json"
      ;;
    suites)
      for suite in library controls paper; do
        check "tune-$suite-${gpus}gpu" "$bin/elbowroom" tune --suite "$suite" -g "$gpus" --only "${ONLY:-.}" --budget "${TUNE_SECONDS:-8}" \
          --candidates "${CANDIDATES:-24}" --profile "$out/profile.json" --json "$out/tune-$suite-${gpus}gpu.json"
      done
      ;;
    peers)
      bench "peers-${gpus}gpu" --suite controls -g "$gpus" --only "${ONLY:-^(cublas|gelu-ar$|gelu-ag|hgemm|sgemm)}" --profile "$out/profile.json" \
        --scheme concurrent,priority,shaped,shaped_priority,tuned,green_context,comm_blocks_only,sm_target_only,copy_engine
      ;;
    paper) bench "paper-nvlink-${gpus}gpu" --suite paper -g "$gpus" --only "${ONLY:-.}" ;;
    paper-cells)
      # Their page too, with more numbers of blocks; goes on where an earlier call was ended.
      PATH=$PWD/$bin:$PATH check "paper-cells-${gpus}gpu" python3 -B scripts/paper.py run "$out/paper-cells-${gpus}gpu.json" \
        --page "$out/paper-cells-${gpus}gpu.md" --only "${ONLY:-.}" --backend cuda -g "$gpus"
      ;;
    paper-host) NCCL_P2P_DISABLE=1 bench "paper-host-${gpus}gpu" --suite paper -g "$gpus" --only "${ONLY:-.}" ;;
    pytorch) pytorch pytorch ;;
    pytorch-host)
      pytorch pytorch-host --link host --examples "${EXAMPLES:-ddp_step:4,fsdp2_step:4}" --steps 16 --warm-up 70
      ;;
    pytorch-exact)
      pytorch pytorch-exact --deterministic \
        --examples "${EXAMPLES:-overlap_loop,free_loop,ddp_step:1,fsdp2_step:1,compiled_step,graphed_step}" \
        --policies "${POLICIES:-observe,priority,gate,shape+--cap=elementwise=8,auto}"
      ;;
    run-profile)
      # What a profile gives to unmodified programs: the loop of PyTorch with the choice for its products, and bench's own gelu kernels
      # with a cap that is found by their footprint (without the gate and fewer blocks, which would be chosen instead).
      profile=$out/run.profile.json
      rm -f "$profile" "$profile.cap"
      check tune-for-run "$bin/elbowroom" tune --for-run --scenario examples/pytorch/overlap_loop.json --budget "${TUNE_SECONDS:-20}" \
        --profile "$profile" --json "$out/tune-for-run.json"
      pytorch run-profile --examples "${EXAMPLES:-overlap_loop}" --policies "${POLICIES:-auto,auto+--profile=$profile,gate+--profile=$profile}"
      check tune-cap "$bin/elbowroom" tune --for-run --without launch_gate,comm_blocks,cluster --suite controls --only '^gelu-ar-8b$' \
        --budget 5 --profile "$profile.cap" --json "$out/tune-cap.json"
      check capped "$bin/elbowroom" run --policy shape --profile "$profile.cap" --report "$out/capped.json" -- \
        "$bin/elbowroom" bench --suite controls --only '^gelu-ar-8b$' --scheme concurrent,shaped_priority --trials 10
      check not-capped "$bin/elbowroom" bench --suite controls --only '^gelu-ar-8b$' --scheme concurrent,shaped_priority --trials 10
      ;;
    profile-rules) check profile-rules python3 -B scripts/gpu/profile_rules.py --elbowroom "$bin/elbowroom" --out "$out" ;;
    *)
      echo "run.sh: unknown step $step" >&2
      failed=1
      ;;
  esac
done
exit "$failed"
