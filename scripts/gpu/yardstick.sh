#!/usr/bin/env bash
# The yardstick on a machine with GPUs, in calls of a few minutes. Binaries are taken from build/gpu (made by scripts/gpu/collect.sh)
# or from build/release.
#   usage: scripts/gpu/yardstick.sh OUT smoke|measure [OPTION OF scripts/yardstick...]
#   SECONDS_LEFT (500) bounds the call; a measurement goes on where RESUME, the yardstick.json of an earlier call, was stopped.
#   smoke: every arm of every program once with a few steps, three at a time, in 150 seconds.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."

usage='usage: scripts/gpu/yardstick.sh OUT smoke|measure [OPTION...]'
out=${1:?$usage}
mode=${2:?$usage}
shift 2
mkdir -p "$out"
. scripts/gpu/libraries.sh
raw=$bin/example_raw_overlap

common=(python3 -B scripts/yardstick --elbowroom "$bin/elbowroom")
[[ -x $raw ]] && common+=(--raw "$raw")
case $mode in
  smoke)
    export XLA_PYTHON_CLIENT_PREALLOCATE=false  # JAX would take most memory from the programs beside it
    limit=${SECONDS_LEFT:-150}
    arguments=(--smoke --json "$out/smoke.json" --seconds "$((limit - 40))" --timeout 90)
    ;;
  measure)
    limit=${SECONDS_LEFT:-500}
    python3 -B scripts/gpu/health.py || exit 1  # times of GPUs that do not hold their clocks say nothing
    [[ -z ${RESUME:-} ]] || cp "$RESUME" "$out/yardstick.json" || exit 2
    arguments=(--json "$out/yardstick.json" --page "$out/yardstick.md" --seconds "$((limit - 40))")
    ;;
  *) echo "yardstick.sh: mode '$mode', expected smoke or measure" >&2; exit 2 ;;
esac
timeout --kill-after=10 "$limit" "${common[@]}" "${arguments[@]}" "$@" 2>&1 | tee "$out/$mode.txt"
exit "${PIPESTATUS[0]}"
