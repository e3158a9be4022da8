#!/usr/bin/env bash
# `elbowroom measure` launches a command plain and under `run` in turns, and says what its steps' times differ by.
. "$(dirname "$0")/checks.bash" || exit
command -v python3 >/dev/null || exit 77

# A program whose steps take 9 ms where something is preloaded, 10 ms elsewhere, after three that take longer.
cat >"$work/program" <<'PROGRAM'
#!/bin/sh
echo "${LD_PRELOAD:+run }launch" >>"$LAUNCHES"
for step in 1 2 3; do echo "step $step: 50 ms"; done
for step in 4 5 6 7 8; do echo "step $step: ${LD_PRELOAD:+9}${LD_PRELOAD:-10} ms" | sed 's/9.* ms/9 ms/'; done
PROGRAM
chmod +x "$work/program"
export LAUNCHES=$work/launches
step='step [0-9]+: (?P<ms>[0-9.]+) ms'

expect 0 measure --step "$step" -- "$work/program"
[ "$(head -1 "$out")" = 'faster: 9.00 ms a step instead of 10.00 (-10.0 %, -10.0 % to -10.0 %)' ] || fail 'the first line is not the result'
[ "$(tr '\n' , <"$LAUNCHES")" = 'launch,run launch,run launch,launch,launch,run launch,' ] || fail 'the arms take no turns'
awk 'length > 80' "$out" | grep -q . && fail 'a line is longer than 80 columns'

expect 0 measure --pairs 3 --skip 3 --run=--same-bits --step "$step" --json "$work/m.json" -- "$work/program"
python3 -c '
import json, sys
document = json.load(open(sys.argv[1]))
assert document["schema"] == "elbowroom.measure/1" and document["verdict"] == "faster", document
assert document["run_options"] == ["--same-bits"] and len(document["pairs"]) == 3, document
' "$work/m.json" || fail 'no document'
expect 0 measure --pairs 1 --step "$step" --json - -- "$work/program"
python3 -c 'import json, sys; json.load(open(sys.argv[1]))' "$out" || fail 'standard output is no document'
grep -q '^undecided: ' "$err" || fail 'the result is not on standard error'

# Slower is a check that failed.
sed -i 's/:+9/:+11/; s/9\.\*/11.*/; s/9 ms/11 ms/' "$work/program"
expect 1 measure --step "$step" -- "$work/program"
grep -q '^slower: 11.00 ms' "$out" || fail 'slower is not said'

expect 1 measure --step "$step" -- sh -c 'echo broken >&2; exit 3'
grep -q 'plain: the command ended with exit code 3' "$err" && grep -q '  broken' "$err" || fail 'no reason'
expect 77 measure --step "$step" -- sh -c 'exit 77'
expect 1 measure --step "$step" --timeout 0.2 -- sleep 60
grep -q 'took longer' "$err" || fail 'the time limit is not said'
expect 2 measure --step "$step" -- true
grep -q -- '--step finds no step' "$err" || fail 'no step is not said'
expect 2 measure -- true
grep -q 'no sequence of collectives was repeated; expected --step' "$err" || fail '--step is not asked for'
if ! ldconfig -p | grep -qE 'libcuda.so.1|libamdhip64.so'; then
  grep -q 'no CUDA driver here (libcuda.so.1), so run changes nothing; no sequence' "$err" || fail 'the missing driver is not said'
fi

expect 2 measure --step '(' -- true
expect 2 measure -- ; complains 'expected -- and a command'
expect 2 measure true; grep -q 'expected -- before the command' "$err" || fail 'the dashes are not asked for'
expect 2 measure --pairs 0 -- true; complains '--pairs: 0, expected 1 or more'
expect 2 measure --skip 3 -- true; complains '--skip: expected --step beside it'
expect 2 measure --timeout 0 -- true; complains '--timeout: 0, expected seconds above 0'
echo text >"$work/text"
expect 2 measure --json "$work/text" -- true
grep -qx text "$work/text" || fail 'a file of somebody else was replaced'
ELBOWROOM_PYTHON=/nonexistent expect 77 measure -- true
complains "'/nonexistent' cannot be run"
finish
