#!/usr/bin/env bash
# What `auto` chose is kept between runs.
. "$(dirname "$0")/run_checks.bash" || exit

memory=$XDG_CACHE_HOME/elbowroom/choices.json
kept() { grep -qF -- "$1" "$memory" || fail "memory lacks: $1"; }

# --- what several processes settled for: a stand-in takes the interposer's place --------------------------------------------
# Two ranks, which gain 1.5 and 2.5 % with ARM_1 and ARM_2, by one and two comparisons.
cat >"$work/ranks" <<'PROGRAM'
#!/usr/bin/env bash
for pid in 1 2; do
  arm=ARM_$pid
  cat >"$ELBOWROOM_RUN_REPORT_DIR/$pid-1.json" <<REPORT
{"schema": "elbowroom.run-process/1", "pid": $pid, "program": "python3", "policy": "auto", "device": "NVIDIA H200",
 "nccl": {"calls": 9, "communicators_made": 1, "greatest_ranks": 2},
 "ab": {"state": "settled", "arm": "${!arm}", "decisions": $pid, "collectives_per_repetition": 16, "arms": [], "library_version": 22809,
        "choices": [{"sequence": "${SEQUENCE:-00000000000000a1}", "arm": "${!arm}", "gain_percent": $pid.5, "low": 1, "high": 4, "decisions": $pid},
                    {"sequence": "a1", "arm": "gate", "decisions": 1}, {"sequence": "00000000000000a2", "arm": "", "decisions": 1}]}}
REPORT
done
PROGRAM
chmod +x "$work/ranks"
export ARM_1=gate ARM_2=gate
expect 0 run --quiet -- "$work/ranks"
silent
kept '"device":"NVIDIA H200"'
kept '"library_version":22809,"options":"","sequence":"00000000000000a1"},"arm":"gate","ranks":2,"gain_percent":1.5,"low":1.0,"high":4.0,"decisions":1,'
[ "$(grep -c '"key"' "$memory")" -eq 1 ] || fail 'what is no choice was kept'
expect 0 run --quiet -- "$work/ranks"
kept '"decisions":2,'
SEQUENCE=00000000000000a3 expect 0 run --quiet -- "$work/ranks"
[ "$(grep -c '"key"' "$memory")" -eq 2 ] || fail 'another sequence has no choice of its own'
ARM_2=plain expect 0 run --quiet -- "$work/ranks"
if grep -qF '"sequence":"00000000000000a1"' "$memory"; then fail 'a choice in which ranks differ is kept'; fi
kept '"sequence":"00000000000000a3"'
expect 0 run --quiet -- bash -c 'cat "$ELBOWROOM_RUN_CHOICES"'
[ "$(cat "$out")" = 'device NVIDIA H200
00000000000000a3 22809 gate' ] || fail "not what was kept: $(cat "$out")"
# Nobody else may hold the lock, and who holds it does not hold the job.
[ "$(stat -c %a "$XDG_CACHE_HOME" "$XDG_CACHE_HOME/elbowroom" "$memory.lock" | tr '\n' ' ')" = '700 700 600 ' ] || fail 'modes of the cache'
(exec 9>"$memory.lock" && flock 9 && exec sleep 60) &
holder=$!
until ! flock -n "$memory.lock" true; do sleep 0.05; done
expect 3 run --quiet -- bash -c "'$work/ranks'; exit 3"
complains "what auto found is not kept: $memory.lock: held by another process that writes nothing for 5 s"
kill "$holder"
rm -r "$XDG_CACHE_HOME"

# --- programs of tests/interposer, against a driver that runs nothing, with the interposer itself ---------------------------------
ELBOWROOM_BIN=$real_bin
driver=$(dirname "$real_bin")/../tests/interposer/driver
program=$(dirname "$real_bin")/interposer_launches
[ -e "$driver/libcuda.so.1" ] && [ -x "$program" ] || finish
export LD_LIBRARY_PATH=$driver

# compares OPTION...: runs a program of 151 times 16 collectives, in which nothing gains.
compares() { expect 0 run --off symmetric --report "$work/report.json" "$@" -- "$program" rest; }
# holds TEXT: the report has it, blanks aside.
holds() { tr -d ' \n' <"$work/report.json" | grep -qF -- "$1" || fail "report lacks: $1"; }

# --- one run compares, the next one knows ---------------------------------------------------------------------------------
compares
holds '"decisions":1,"arms":[{"arm":"plain"'
holds '"remembered":"","library_version":0,"choices":[{"sequence":"'
kept '"schema": "elbowroom.choices/1"'
kept '"device":"Fake Device"'
kept '"arm":"plain","ranks":0,"gain_percent":0.0,"low":0.0,"high":0.0,"decisions":1,'
compares
holds '"state":"settled","arm":"plain","collectives_per_repetition":1,"decisions":0,"arms":[],"remembered":"plain"'
closes 'nothing changed: no control gained anything in an earlier run, which is remembered'
kept '"decisions":1,' # nothing was compared

# --- whoever does without it compares, and leaves it as it is -----------------------------------------------------------
cp "$memory" "$work/before"
for option in --no-memory '--off=gate' '--sm-target=100'; do
  compares "$option"
  holds '"remembered":""'
done
cmp -s "$memory" "$work/before" && fail 'other options left nothing of their own'
[ "$(grep -c '"key"' "$memory")" -eq 3 ] || fail "not one choice for each set of options: $(cat "$memory")"
kept '"options":"gate off"'
kept '"options":"sm_target 100"'
NCCL_ALGO=Ring compares
holds '"remembered":""'
kept '"options":"NCCL_ALGO=Ring"'
cp "$memory" "$work/before"
compares --no-memory
cmp -s "$memory" "$work/before" || fail '--no-memory changed the memory'
expect 0 run --policy gate -- bash -c 'env'
lacks ELBOWROOM_RUN_CHOICES
expect 0 run --off ab -- bash -c 'env'
lacks ELBOWROOM_RUN_CHOICES
expect 0 run --off symmetric -- bash -c 'cat "$ELBOWROOM_RUN_CHOICES"'
grep -qxF 'device Fake Device' "$out" || fail 'the processes are told nothing'
[ "$(wc -l <"$out")" -eq 2 ] || fail 'choices under other options are told'
expect 0 run -- "$ELBOWROOM_BIN" run --no-memory -- env
lacks ELBOWROOM_RUN_CHOICES

# --- another arm is in force at once, checked soon, and given up where it gains nothing ---------------------------------------
rm "$memory"
compares
sed -i 's/"arm":"plain"/"arm":"priority, gate"/; s/"gain_percent":0.0,"low":0.0,"high":0.0/"gain_percent":5.0,"low":4.0,"high":6.0/' "$memory"
compares
holds '"remembered":"priority,gate"'
holds '"arm":"plain","collectives_per_repetition":1,"decisions":1'
closes "; 'priority, gate' of an earlier run was given up"
kept '"arm":"plain"'
# It gates from the first step on: this program ends before it is checked.
sed -i 's/"arm":"plain"/"arm":"priority, gate"/' "$memory"
expect 0 run --off symmetric --report "$work/report.json" -- "$program" short_run
holds '"decisions":0,"arms":[],"remembered":"priority,gate"'
closes 'priority, gate, as an earlier run found, not checked: the program ended before'
kept '"arm":"priority, gate"'
# What these rules cannot do, and other devices did, is no choice here.
sed -i 's/"arm":"priority, gate"/"arm":"priority, telepathy"/' "$memory"
compares
holds '"remembered":""'
sed -i 's/"device":"Fake Device"/"device":"Another"/' "$memory"
compares
holds '"remembered":""'

# --- files that are none of ours, or damaged, stop nothing and are not lost ---------------------------------------------------
echo '{"schema": "other/1"}' >"$memory"
compares
grep -qF 'memory of choices ignored' "$err" || fail 'no word of the foreign file'
grep -qF 'what auto found is not kept: ' "$err" || fail 'no word that nothing is kept'
[ "$(cat "$memory")" = '{"schema": "other/1"}' ] || fail 'a foreign file was replaced'
echo '{"schema": "elbowroom.choices/1", "choices": [' >"$memory"
compares
[ "$(cat "$memory.damaged")" = '{"schema": "elbowroom.choices/1", "choices": [' ] || fail 'a damaged file was lost'
kept '"arm":"plain"'
rm -r "$XDG_CACHE_HOME"
: >"$XDG_CACHE_HOME" # a file where the folder would be
compares
grep -qF 'what auto found is not kept: ' "$err" || fail 'no word of the folder'
rm "$XDG_CACHE_HOME"

# --- where it is -----------------------------------------------------------------------------------------------------
HOME=$work/home XDG_CACHE_HOME='' compares
[ -e "$work/home/.cache/elbowroom/choices.json" ] || fail 'not below .cache'
HOME='' XDG_CACHE_HOME=relative compares
holds '"decisions":1,'
[ ! -e relative ] || fail 'a relative folder was used'

finish
