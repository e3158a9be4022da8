#!/usr/bin/env bash
# `elbowroom bench --sweep`: a grid, gone on with, and refused in one line.
. "$(dirname "$0")/checks.bash" || exit

cat >"$work/case.json" <<'EOF'
{"schema": "elbowroom.scenario/1", "name": "relu-ar", "gpus": 2, "iterations": 2, "pattern": "pipeline",
 "compute": {"kernel": "elementwise", "op": "relu", "dtype": "bf16", "bytes": "256M"},
 "collective": {"op": "all_reduce", "bytes": "64M", "dtype": "bf16"}}
EOF
sweep=(bench --backend sim --device h200 --scenario "$work/case.json" --trials 2)
document=$work/sweep.json

expect 0 "${sweep[@]}" --sweep blocks_per_sm,comm_blocks=4:8 --plan priority --json "$document"
says '# simulated: relu-ar'
says '# best blocks_per_sm='
says 'within 3 %'
python3 - "$document" <<'EOF' || fail 'not the document that was meant'
import json, sys
document = json.load(open(sys.argv[1]))
assert document["schema"] == "elbowroom.sweep/1" and document["provenance"] == "simulated" and document["plan"] == "priority"
case, = document["cases"]
caps, budgets = case["axes"]
assert caps["values"][-1] == "off" and len(caps["values"]) > 2 and budgets["values"] == [4, 8]
assert len(case["cells"]) == 2 * len(caps["values"])
best = min((cell["ratio"]["median"], cell["at"]) for cell in case["cells"])
assert case["flatness"][0]["best"] == best[1], (case["flatness"][0]["best"], best)
assert all(cell["plan"]["priority"] for cell in case["cells"])
EOF

# An interrupted one goes on, and ends as if nothing had happened.
cp "$document" "$work/whole.json"
python3 - "$document" <<'EOF'
import json, sys
document = json.load(open(sys.argv[1]))
del document["cases"][0]["cells"][3:]
json.dump(document, open(sys.argv[1], "w"))
EOF
expect 0 "${sweep[@]}" --sweep blocks_per_sm,comm_blocks=4:8 --plan priority --json "$document"
grep -q "going on after 3 of" "$err" || fail 'does not go on'
cmp -s "$document" "$work/whole.json" || fail 'another document than in one go'

# Another grid, a damaged document, somebody's file: one line, and the file stays.
for other in 'blocks_per_sm,comm_blocks=4:16' 'comm_blocks=4:8'; do
  expect 2 "${sweep[@]}" --sweep "$other" --plan priority --json "$document"
  complains "$document: cases[0].axes: "
  cmp -s "$document" "$work/whole.json" || fail 'a document of another grid was replaced'
done
expect 2 "${sweep[@]}" --seed 2 --sweep blocks_per_sm,comm_blocks=4:8 --plan priority --json "$document"
complains "$document: seed: 1, expected 2: it is another sweep"
head -c 700 "$work/whole.json" >"$work/half.json"
expect 2 "${sweep[@]}" --sweep blocks_per_sm,comm_blocks=4:8 --plan priority --json "$work/half.json"
complains "$work/half.json: not valid JSON"
[ "$(stat -c %s "$work/half.json")" -eq 700 ] || fail 'a damaged document was replaced'
echo mine >"$work/mine.txt"
expect 2 "${sweep[@]}" --sweep comm_blocks=4:8 --json "$work/mine.txt"
complains '--json: '
[ "$(cat "$work/mine.txt")" = mine ] || fail "somebody's file was replaced"

# Sizes are given: each has its best.
expect 0 "${sweep[@]}" --sweep collective.bytes=32M:64M,comm_blocks=off:8 --json -
[ "$(grep -c '# best collective.bytes=' "$err")" -eq 2 ] || fail 'not a best one for each size'
expect 0 "${sweep[@]}" --sweep comm_blocks=4:8 --dry-run
says 'comm_blocks: 4 8'
says '# 2 cells of 2 trials each; nothing was run'

refused() {
  expect 2 "${sweep[@]}" "${@:2}"
  complains "$1"
}
refused '--sweep: "speed", expected one of ' --sweep speed=1
refused '--sweep: comm_blocks: 8: given twice' --sweep comm_blocks=8:8
refused '--sweep: compute.m: no values' --sweep compute.m
refused 'relu-ar: compute' --sweep compute.m=64
refused 'relu-ar: gpus: 4097, expected ' --sweep gpus=2:4097
refused '--plan: given 2 times with --sweep' --sweep comm_blocks=4 --plan priority --plan cluster=1
refused 'priority: in the plan of all cells and an axis' --sweep priority --plan priority
sweep=(bench --backend sim --device h200 --scenario "$work/case.json")
refused '--trials: 0, expected 1 to 10000' --sweep comm_blocks=4 --trials 0
refused '--scheme excludes --sweep' --sweep comm_blocks=4 --scheme priority
refused '--sweep: empty, expected a value' --sweep ''
finish
