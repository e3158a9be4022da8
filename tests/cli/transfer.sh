#!/usr/bin/env bash
# `elbowroom bench --transfer`: what plans that were chosen elsewhere cost here.
. "$(dirname "$0")/checks.bash" || exit

scenario() {
  cat <<EOF
{"schema": "elbowroom.scenario/1", "name": "relu-ar", "gpus": 2, "iterations": 2, "pattern": "pipeline",
 "compute": {"kernel": "elementwise", "op": "relu", "dtype": "bf16", "bytes": "256M"},
 "collective": {"op": "all_reduce", "bytes": "$1", "dtype": "bf16"}}
EOF
}
scenario 64M >"$work/case.json"
scenario 16M >"$work/small.json"
sim=(--backend sim --device h200)
expect 0 tune "${sim[@]}" --scenario "$work/case.json" --candidates 4 --profile "$work/here.profile"
expect 0 tune "${sim[@]}" --scenario "$work/small.json" --candidates 4 --profile "$work/small.profile"
transfer=(bench "${sim[@]}" --scenario "$work/case.json" --trials 2)
document=$work/transfer.json

expect 0 "${transfer[@]}" --transfer "$work/here.profile" "$work/small.profile" --json "$document" --markdown "$work/table.md"
says '# simulated: relu-ar'
says 'regret %'
says "# $work/here.profile: made for this case"
says "# $work/small.profile: made for size of collective 2^26 B, stored 2^24 B"
grep -qF '| relu-ar | ' "$work/table.md" || fail 'no table in Markdown'
python3 - "$document" "$work" <<'EOF' || fail 'not the document that was meant'
import json, sys
document, work = json.load(open(sys.argv[1])), sys.argv[2]
assert document["schema"] == "elbowroom.transfer/1" and document["provenance"] == "simulated" and document["trials"] == 2
case, = document["cases"]
assert case["knows_its_own"] and [row["profile"] for row in case["transferred"]] == [work + "/here.profile", work + "/small.profile"]
rows = case["baselines"] + case["transferred"]
best = min(row["time_us"]["median"] for row in rows)
assert case["best"]["time_us"]["median"] == best
for row in rows:
    assert abs(row["regret"] - (row["time_us"]["median"] / best - 1)) < 1e-12, row
EOF

# The page shows it.
expect 0 report "$document" --html "$work/page.html"

# An unknown case: only the best of what came along is known.
expect 0 "${transfer[@]}" --transfer "$work/small.profile" --json -
grep -q 'the best of all may be better' "$err" || fail 'does not say that nothing was chosen here'
expect 0 "${transfer[@]}" --transfer "$work/small.profile" --dry-run
says '# 1 case, 1 profile, 2 trials; nothing was run'

refused() {
  expect 2 "${transfer[@]}" "${@:2}"
  complains "$1"
}
refused "--transfer: $work/none: no such file, expected a profile" --transfer "$work/none"
head -c 90 "$work/here.profile" >"$work/half.profile"
refused "--transfer: $work/half.profile: " --transfer "$work/half.profile"
refused "--transfer: $document: " --transfer "$document"
refused '--transfer' --transfer "$work/here.profile" "$work/here.profile"
refused '--json' --transfer "$work/here.profile" --json "$work/here.profile"
refused '--plan excludes --transfer' --transfer "$work/here.profile" --plan priority
echo mine >"$work/mine.txt"
refused '--json: ' --transfer "$work/here.profile" --json "$work/mine.txt"
[ "$(cat "$work/mine.txt")" = mine ] || fail "somebody's file was replaced"
finish
