#!/usr/bin/env bash
# A step of 80 layers, 16 micro-batches and 8 stages on 64 and on 4,096 simulated ranks: memory stays small, and time grows with classes of ranks.
. "$(dirname "$0")/checks.bash" || exit
if ! usable sim; then
  echo 'skipped: no simulator in this build'
  exit 77
fi

model=(--layers 80 --hidden 8192 --ffn 28672 --heads 64 --sequence 4096 --tokens 65536)
# Work of every operation beside every other would take 60 GiB.
ulimit -v $((1 << 20))
TIMEFORMAT=%U
declare -A seconds
for replicas in 1 64; do
  expect 0 step transformer "${model[@]}" --tp 8 --pp 8 --dp "$replicas" --micro 16 --json "$work/step.json"
  { time expect 0 bench --scenario "$work/step.json" --backend sim --device h100 --machine h100-8x400 \
    --scheme sequential,concurrent,priority --trials 1; } 2>"$work/time"
  seconds[$replicas]=$(tail -n 1 "$work/time")
done
awk "BEGIN { exit !(${seconds[64]} < 2 * ${seconds[1]}) }" || fail "64 times as many ranks take ${seconds[64]} s, 64 ranks ${seconds[1]} s"

finish
