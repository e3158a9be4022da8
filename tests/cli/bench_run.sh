#!/usr/bin/env bash
# `elbowroom bench` on the simulator: where its words go, what it writes, when it fails.
. "$(dirname "$0")/checks.bash" || exit
if ! usable sim; then
  echo 'skipped: no simulator in this build'
  exit 77
fi
run=(bench --backend sim --trials 2 --only sgemm-ar-pair)

# is_document FILE SCHEMA: one JSON object with that schema and nothing around it.
is_document() {
  [ "$(head -n 1 "$1")" = '{' ] || fail 'JSON does not begin the output'
  [ "$(tail -n 1 "$1")" = '}' ] || fail 'JSON does not end the output'
  [ "$(grep -c '^[{}]$' "$1")" -eq 2 ] || fail 'not one document'
  sed -n 2p "$1" | grep -qF "\"schema\": \"$2\"" || fail "no schema $2"
  if command -v python3 >/dev/null; then
    python3 -c 'import json, sys; json.load(open(sys.argv[1]))' "$1" || fail 'not valid JSON'
  fi
}

expect 0 "${run[@]}"
for scheme in sequential concurrent priority shaped shaped_priority; do
  grep -qE "^[* ] $scheme " "$out" || fail "no row of $scheme"
done
says 'simulated'
if grep -qi measured "$out"; then fail 'a simulated table says measured'; fi

expect 0 "${run[@]}" --json -
is_document "$out" elbowroom.result/1
says '"provenance": "simulated"'
cp "$out" "$work/first.json"
expect 0 "${run[@]}" --json -
diff -q "$work/first.json" "$out" >/dev/null || fail 'the same seed gives another document'

expect 0 "${run[@]}" --device mi300x --json "$work/result.json" --trace "$work/trace.json" --markdown "$work/table.md"
# Nothing was measured on it: every output says so, and no interval is narrower than what is known of the model.
says '# model: nothing was measured on mi300x'
says 'intervals of the model: 20 % to either side'
for output in "$work/trace.json" "$work/table.md"; do
  grep -qF 'nothing was measured on mi300x' "$output" || fail "$output does not say what its times rest on"
done
if command -v python3 >/dev/null; then
  python3 - "$work/result.json" <<'PY' || fail 'not the width of the model'
import json, sys
document = json.load(open(sys.argv[1]))
assert document["model"]["basis"] == "extrapolated" and document["model"]["width"] == 0.2, document["model"]
case = document["cases"][0]
for time in [case["compute_alone_us"], case["comm_alone_us"]] + [result["time_us"] for result in case["results"]]:
    assert abs(time["low"] / time["median"] - 0.8) < 1e-9 and abs(time["high"] / time["median"] - 1.2) < 1e-9, time
PY
fi
expect 0 "${run[@]}"
says '# model: fitted on h200'
expect 0 "${run[@]}" --device mi300x --json "$work/result.json" --trace "$work/trace.json" --markdown "$work/table.md"
is_document "$work/result.json" elbowroom.result/1
grep -qF '"catalog": "mi300x"' "$work/result.json" || fail 'not the device that was asked for'
[ -s "$work/trace.json" ] || fail 'no trace'
[ -s "$work/table.md" ] || fail 'no Markdown'
[ -z "$(find "$work" -name '*.partial')" ] || fail 'a partial file is left'

expect 0 "${run[@]}" --scheme priority
if grep -qE '^[* ] (concurrent|shaped)' "$out"; then fail 'runs schemes that were not asked for'; fi
expect 0 "${run[@]}" --min-reduction 0
expect 1 "${run[@]}" --min-reduction 100
grep -qF 'sgemm-ar-pair: the best reduction is' "$err" || fail 'does not say which case falls short'

expect 2 "${run[@]}" --device h900
complains "device 'h900' is not in the catalog"
expect 2 "${run[@]}" --json "$work/no/such/folder.json"
grep -qF "$work/no/such/folder.json: cannot be written: No such file or directory" "$err" || fail 'does not name the file'

finish
