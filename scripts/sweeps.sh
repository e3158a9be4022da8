#!/usr/bin/env bash
# The sweeps of docs/results/simulated.md: sweeps.sh FOLDER [BENCH OPTION...], with `elbowroom` on the path. The page's are of
#   scripts/sweeps.sh results/sim --backend sim --device h200 -g 2
# On a machine with two GPUs: scripts/sweeps.sh OUT --backend cuda -g 2. A sweep that was interrupted goes on.
set -euo pipefail
folder=$1
shift
mkdir -p "$folder"

# sweep NAME SUITE CASE AXES [PLAN]
sweep() {
  local name=$1 suite=$2 case=$3 axes=$4 plan=${5:-}
  elbowroom bench "${options[@]}" --suite "$suite" --only "^$case\$" --sweep "$axes" ${plan:+--plan "$plan"} --json "$folder/sweep-$name.json" \
    >"$folder/sweep-$name.txt"
}

options=("$@")
# Cap by block budget, and cap by size, each with the collective first in line, as the paper's optimized overlap has it.
sweep cb-ar-blocks paper cb-ar-opt2-1024 blocks_per_sm,comm_blocks=4:8:12:16:24:32 priority
sweep mb-ar-blocks paper mb-ar-opt2-1024 blocks_per_sm,comm_blocks=4:8:12:16:24:32 priority
sweep cb-a2a-size paper cb-a2a-opt2-1024 blocks_per_sm,collective.bytes=56M..896M*2 priority
sweep mb-ar-size paper mb-ar-opt1-1024 blocks_per_sm,collective.bytes=56M..896M*2 priority
# A library's product gives way by its SM target.
sweep cublas-8k-ar-blocks library cublas-8k-ar sm_target,comm_blocks=8:16:24:32 priority,cluster=1
sweep cublas-8k-ag-size library cublas-8k-ag sm_target,collective.bytes=64M..512M*2 priority,cluster=1
