#!/usr/bin/env bash
# Energy on a machine with two GPUs, in 8 minutes: one case five times, the counter beside the power samples, and a table of the schemes of
# six cases by time and joules. Binaries are taken from build/gpu (made by scripts/gpu/collect.sh) or from build/release.
#   usage: scripts/gpu/energy.sh OUT
#   REPEAT_SPAN (8), TABLE_SPAN (5), TUNE_SPAN (3): seconds for each schedule. Spans of 30 s take four times as long; a table says how
#   far off shorter ones are.
#   CASES: names of the suite controls, each a call of its own. REPEATS (5): how often the one case is measured; with 0 it is left out.
#   SECONDS_LEFT (480) bounds the call; what was measured by then is kept.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

out=${1:?usage: scripts/gpu/energy.sh OUT}
mkdir -p "$out"
begun=$SECONDS
failed=0

# NVLink multicast stays off (it can put a shared host's GPUs out of service).
export NCCL_NVLS_ENABLE=0
. scripts/gpu/libraries.sh

# check NAME COMMAND...: runs it in what is left of the time, keeps its output, remembers a failure.
check() {
  local name=$1 left=$((${SECONDS_LEFT:-480} - SECONDS + begun - 10))
  shift
  printf '\n== %s, %s s left: %s\n' "$name" "$left" "$*"
  ((left > 0)) || { echo "FAILED: $name, no time left"; failed=1; return; }
  timeout --kill-after=5 "$left" "$@" 2>&1 | tee "$out/$name.txt"
  local code=${PIPESTATUS[0]}
  ((code == 0)) || { echo "FAILED: $name, exit code $code"; failed=1; }
}

nvidia-smi --query-gpu=index,name,temperature.gpu,power.draw,clocks.sm,power.limit --format=csv | tee "$out/machine.txt"
for ((number = 1; number <= ${REPEATS:-5}; ++number)); do
  check "repeat-$number" "$bin/elbowroom" bench --suite controls --only '^gelu-ar$' -g 2 --scheme concurrent --trials 3 \
    --energy-span "${REPEAT_SPAN:-8}" --json "$out/repeat-$number.json"
done
for name in ${CASES:-cublas-8k-ar cublas-8k-ag64 gelu-ar gelu-ag hgemm-ar sgemm-ar}; do
  check "table-$name" "$bin/elbowroom" bench --suite controls --only "^$name\$" -g 2 --trials 6 --scheme concurrent,priority,shaped,shaped_priority \
    --energy-span "${TABLE_SPAN:-5}" --json "$out/table-$name.json"
done
check tune "$bin/elbowroom" tune --suite controls --only '^gelu-ar$' -g 2 --budget 5 --objective energy \
  --energy-span "${TUNE_SPAN:-3}" --json "$out/tune.json"
check verdict python3 -B scripts/gpu/energy_verdict.py "$out"
exit "$failed"
