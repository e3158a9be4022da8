#!/usr/bin/env bash
# `elbowroom validate` compares the simulator with what was measured.
. "$(dirname "$0")/checks.bash" || exit
header=gpus,global_batch,micro_batch,hidden,heads,layers,sequence,tp,dp,pp,iteration_ms

printf '%s\n' "$header" 8,8,2,1024,16,4,1024,2,2,2,100 8,8,2,1024,16,5,1024,2,2,2,100 >"$work/rows.csv"
expect 0 validate steps "$work/rows.csv" --json "$work/steps.json"
says '# 2 rows, 1 of them not described'
says 'layers: expected a multiple of the stages'
grep -q '"schema": "elbowroom.step_validation/1"' "$work/steps.json" || fail 'no document'
grep -q '"not_described": 1' "$work/steps.json" || fail 'does not count what it cannot describe'

expect 0 validate steps "$work/rows.csv" --machine h100-8x400
expect 2 validate steps "$work/rows.csv" --machine cray
complains "--machine: 'cray', expected one of a100-4x200"
printf '{"schema": "elbowroom.machine/1"}' >"$work/machine.json"
expect 2 validate steps "$work/rows.csv" --machine "$work/machine.json"
complains 'machine.json: name: missing'
expect 2 validate steps "$work/nothing.csv"
echo mine >"$work/mine"
expect 2 validate steps "$work/rows.csv" --json "$work/mine"
echo gpus >"$work/gpus.csv"
expect 2 validate steps "$work/gpus.csv"
complains "gpus.csv:1: no column 'global_batch', expected it in the header"

# The old name stays.
head -9 "$ELBOWROOM_SOURCE_DIR/data/h200x2.csv" >"$work/measured.csv"
expect 0 validate rows "$work/measured.csv"
cp "$out" "$work/rows"
expect 0 bench --validate "$work/measured.csv"
diff "$work/rows" "$out" || fail 'bench --validate differs'

# Two replicas of a host each: what they add goes over the rails.
expect 0 step transformer --layers 1 --hidden 128 --ffn 256 --tokens 64 --heads 8 --dp 2 --tp 8 --json "$work/hosts.json"
expect 0 bench --scenario "$work/hosts.json" --backend sim --trials 1 --scheme sequential
finish
