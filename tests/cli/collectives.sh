#!/usr/bin/env bash
# `elbowroom bench` with collectives whose ranks do not all send, or not equal shares, on the simulator.
. "$(dirname "$0")/checks.bash" || exit
golden=$ELBOWROOM_SOURCE_DIR/tests/cli/golden
if ! usable sim; then
  echo 'skipped: no simulator in this build'
  exit 77
fi
cd "$work" || exit 1

# scenario GPUS COLLECTIVE: writes scenario.json with it beside a GELU.
scenario() {
  cat >scenario.json <<JSON
{"schema": "elbowroom.scenario/1", "name": "uneven", "gpus": $1, "iterations": 4, "pattern": "pipeline",
 "compute": {"kernel": "elementwise", "op": "gelu", "dtype": "f32", "bytes": "512M"},
 "collective": {"bytes": "128M", "dtype": "bf16", $2}}
JSON
}

# bench_is NAME: the table is the one that a person has read.
bench_is() {
  expect 0 bench --backend sim --device h200 --trials 1 --scheme sequential,concurrent,priority --scenario scenario.json
  diff "$golden/bench_$1.txt" "$out" || fail "differs from golden/bench_$1.txt"
}

# refuses PLAN REASON: the table is there all the same, and one line says why the plan is not in it.
refuses() {
  expect 1 bench --backend sim --device h200 --trials 1 --scheme concurrent --scenario scenario.json --plan "$1"
  grep -qF "uneven: plan 1 was refused: $2" "$err" || fail "standard error lacks: $2"
  says "# plan 1: refused: $2"
}

scenario 4 '"op": "broadcast", "root": 1'
bench_is broadcast
refuses copy_engine 'copy_engine: NCCL gives copy engines no broadcast'
scenario 4 '"op": "broadcast", "root": 4'
expect 2 bench --backend sim --scenario scenario.json
complains 'collective.root: 4, expected 0 to 3'

scenario 4 '"op": "all_to_all_v", "shares": [1, 2, 3, 2]'
bench_is all_to_all_v
refuses comm_threads=256 "comm_threads: NCCL's send and receive take no number of threads"
scenario 4 '"op": "all_to_all_v", "shares": [1, 2, 3]'
expect 2 bench --backend sim --scenario scenario.json
complains 'collective.shares: 3 of them, expected 4, one for each rank'

scenario 2 '"op": "send_recv"'
bench_is send_recv
refuses symmetric "symmetric: NCCL's send and receive have no kernel on symmetric memory"
scenario 4 '"op": "send_recv"'
expect 2 bench --backend sim --scenario scenario.json
complains 'collective.op: send_recv among 4 ranks, expected 2'

finish
