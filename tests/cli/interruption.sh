#!/usr/bin/env bash
# A signal that ends bench or tune leaves a line, the exit code of a shell and what was measured; one that kills `run` leaves nothing behind.
. "$(dirname "$0")/run_checks.bash" || exit
cd "$work" || exit 1

# interrupted SIGNAL CODE FILE ARGUMENT...: the command gets the signal as soon as FILE is there.
interrupted() {
  local signal=$1 code=$2 file=$3 pid tries=0 begin got
  shift 3
  command_line="$* (SIG$signal)"
  : >"$out"
  env --default-signal=INT,TERM "$ELBOWROOM_BIN" "$@" >"$out" 2>"$err" &
  pid=$!
  until [ -s "$file" ] || ((++tries == 1000)); do sleep 0.02; done
  begin=$SECONDS
  kill -s "$signal" "$pid"
  wait "$pid"
  got=$?
  [ "$got" -eq "$code" ] || fail "exit $got, expected $code"
  ((SECONDS - begin < 9)) || fail "took $((SECONDS - begin)) s to end"
}
if usable sim; then
  for signal in INT TERM; do
    code=$([ $signal = INT ] && echo 130 || echo 143)
    rm -f r.json
    interrupted $signal "$code" r.json bench --backend sim --suite paper --trials 100 --json r.json
    grep -qE "^elbowroom bench: interrupted by SIG$signal; [0-9]+ of 32 cases are complete" "$err" || fail 'does not say what it did'
    python3 -c 'import json; assert json.load(open("r.json"))["cases"]' || fail 'what was measured is lost'
  done
  # One document goes to standard output, whatever ended the run.
  rm -f t.json
  interrupted INT 130 t.json bench --backend sim --suite paper --trials 100 --json - --trace t.json
  python3 -c 'import json; assert json.load(open("stdout"))["cases"]' || fail 'standard output holds no document'
  # An ignored signal stays ignored.
  rm -f r.json
  (trap '' INT; exec "$ELBOWROOM_BIN" bench --backend sim --trials 30 --only sgemm-ar-pair --json r.json >"$out" 2>"$err") &
  pid=$!
  sleep 0.3
  kill -s INT "$pid"
  command_line='bench (SIGINT ignored)'
  wait "$pid" || fail "exit $?, expected 0"
  # A search goes on from where it was.
  cat >case.json <<'JSON'
{"schema": "elbowroom.scenario/1", "name": "long", "gpus": 2, "iterations": 200, "pattern": "pipeline",
 "compute": {"kernel": "library_gemm", "m": 8192, "n": 8192, "k": 8192, "dtype": "bf16"},
 "collective": {"op": "all_reduce", "bytes": "512M", "dtype": "bf16"}}
JSON
  mkdir state
  touch began
  env --default-signal=INT "$ELBOWROOM_BIN" tune --backend sim --scenario case.json --budget 600 --profile state/p.json >"$out" 2>"$err" &
  pid=$! tries=0
  until ls state/p.json.tuning-* >/dev/null 2>&1 || ((++tries == 1000)); do sleep 0.02; done
  kill -s INT "$pid"
  wait "$pid"
  code=$?
  command_line='tune (SIGINT)'
  [ "$code" -eq 130 ] || fail "exit $code, expected 130"
  grep -qE 'state/p.json.tuning-[0-9a-f]+: keeps [0-9]+ trials, the same command goes on from there' "$err" || fail 'does not say what it keeps'
  grep -qF 'elbowroom tune: interrupted by SIGINT; 0 of 1 cases are complete' "$err" || fail 'does not say what it did'
  expect 0 tune --backend sim --scenario case.json --budget 1 --profile state/p.json
  grep -qE 'going on after [0-9]+ trials' "$err" || fail 'begins anew'
fi

# --- a killed run -----------------------------------------------------------------------------------------------------
# killed: a run with a folder of its own is killed while its command runs.
killed() {
  command_line='run (SIGKILL)'
  rm -f pid
  "$ELBOWROOM_BIN" run --report r.json -- bash -c 'echo $$ >pid; exec sleep 60' 2>"$err" &
  local run=$! tries=0
  until [ -s pid ] || ((++tries == 500)); do sleep 0.02; done
  kill -s KILL "$run"
  wait "$run" 2>/dev/null
}
gone() { # gone PID
  local tries=0
  while kill -0 "$1" 2>/dev/null && ((++tries < 250)); do sleep 0.02; done
  ! kill -0 "$1" 2>/dev/null
}
rm -f r.json
killed
gone "$(cat pid)" || fail 'the command of a killed run goes on'
[ "$(ls "$TMPDIR" | wc -l)" -eq 1 ] || fail 'expected one folder that nobody removed'
# The next run removes it, and leaves alone what another one holds and what is not of a run.
mkdir "$TMPDIR/elbowroom-other"
"$ELBOWROOM_BIN" run --report other.json -- bash -c 'echo $$ >other; exec sleep 60' 2>"$err" &
other=$! tries=0
until [ -s other ] || ((++tries == 500)); do sleep 0.02; done
expect 0 run --report r.json -- true
[ "$(ls -d "$TMPDIR"/* | wc -l)" -eq 2 ] || fail "expected the folders of the other run and of somebody else: $(ls "$TMPDIR")"
kill -s TERM "$other"
wait "$other"
rmdir "$TMPDIR/elbowroom-other"
[ -z "$(ls -A "$TMPDIR")" ] || fail 'a temporary folder is left'

# --- nowhere to put a folder ------------------------------------------------------------------------------------------
TMPDIR=/nowhere/at/all expect 5 run -- sh -c 'exit 5'
complains 'elbowroom: not known what changed: no process left a report, exit code 5'
rm -f r.json
TMPDIR=/nowhere/at/all expect 5 run --report r.json -- sh -c 'exit 5'
complains 'elbowroom: not known what changed: no process left a report, exit code 5'
grep -q elbowroom.run/1 r.json || fail 'no report, though another folder can be used'
mkdir relative
TMPDIR=relative expect 0 run --off gate -- bash -c 'cd / && cat "$ELBOWROOM_RUN_RULES"'
says 'gate off'

finish
