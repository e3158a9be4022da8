#!/usr/bin/env bash
# The tables of plans chosen elsewhere: transfer.sh FOLDER [BENCH OPTION...], with `elbowroom` on the path. The page's is of
#   scripts/transfer.sh results/sim --backend sim --device h200
# On a machine with GPUs: scripts/transfer.sh OUT --backend cuda. Profiles lie in FOLDER/transfer-profiles; those that are there are
# taken as they are, so that what was chosen on another machine, or beside a busy neighbour, can be put beside them.
#   TUNE_BUDGET (60): seconds for the search of each case. TUNE_SECONDS (no limit): after those no further surroundings are begun,
#   so that the cases themselves are run in the time that is left. Cases that are done lie in FOLDER.
set -euo pipefail
folder=$1
shift
profiles=$folder/transfer-profiles
mkdir -p "$profiles"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# scenarios FOLDER GPUS SIZE [MEMBER]: four cases, their collectives SIZE hundredths as large, each collective with one more member.
scenarios() {
  mkdir -p "$1"
  local name compute op mebibytes
  while read -r name op mebibytes compute; do
    cat >"$1/$name.json" <<EOF
{"schema": "elbowroom.scenario/1", "name": "$name", "gpus": $2, "iterations": 8, "pattern": "pipeline",
 "compute": $compute, "collective": {"op": "$op", "bytes": "$((mebibytes * $3 / 100))M", "dtype": "bf16"${4:+, $4}}}
EOF
  done <<'EOF'
gelu-ar all_reduce 256 {"kernel": "elementwise", "op": "gelu", "dtype": "f32", "bytes": "1G"}
relu-a2a all_to_all 128 {"kernel": "elementwise", "op": "relu", "dtype": "bf16", "bytes": "1G"}
cublas-8k-ar all_reduce 256 {"kernel": "library_gemm", "m": 8192, "n": 8192, "k": 8192, "dtype": "bf16"}
sgemm-rs reduce_scatter 256 {"kernel": "tiled_gemm", "m": 4096, "n": 4096, "k": 4096, "tile_m": 128, "tile_n": 128, "tile_k": 8, "grid": "full", "dtype": "f32"}
EOF
}

# chosen NAME FOLDER [OPTION...]: tunes the scenarios of a folder into a profile, unless it is there.
chosen() {
  local profile=$profiles/$1.profile folder=$2
  shift 2
  [ -e "$profile" ] && return
  if ((SECONDS > ${TUNE_SECONDS:-SECONDS})); then
    echo "$(basename "$profile"): no time left"
    return
  fi
  for scenario in "$folder"/*.json; do
    elbowroom tune --scenario "$scenario" "$@" --budget "${TUNE_BUDGET:-60}" --profile "$work/new.profile" >/dev/null || return
  done
  rm -f "$work"/new.profile.*
  mv "$work/new.profile" "$profile"
}

scenarios "$work/here" 2 100
scenarios "$work/half" 2 50
scenarios "$work/quarter" 2 25
scenarios "$work/blocks" 2 100 '"comm_blocks": 8'
chosen here "$work/here" "$@"
chosen half-size "$work/half" "$@"
chosen nccl-8-blocks "$work/blocks" "$@"
if [[ " $* " == *" sim "* ]]; then
  scenarios "$work/wide" 4 100
  chosen four-gpus "$work/wide" "$@"
  for device in h100 a100; do chosen "$device" "$work/here" --backend sim --device "$device"; done
else
  # Another path between the GPUs. Four GPUs, other devices and busy ones: put their profiles here.
  NCCL_P2P_DISABLE=1 chosen nccl-no-p2p "$work/here" "$@" || rm -f "$work"/new.profile*
fi
chosen quarter-size "$work/quarter" "$@"

cd "$profiles"
for scenario in "$work"/here/*.json; do
  name=$(basename "$scenario" .json)
  elbowroom bench "$@" --scenario "$scenario" --trials 10 --transfer *.profile --json "$work/transfer-$name.json" \
    --markdown "$work/transfer-$name.md" >"$work/transfer-$name.txt"
  mv "$work/transfer-$name".{json,md,txt} ..
done
