#!/usr/bin/env bash
# Signals reach a command once, however they are sent, and the first process of a container leaves no zombies.
. "$(dirname "$0")/run_checks.bash" || exit
command -v python3 >/dev/null || exit 77

# A program that saves its state for half a second when it is asked to end, and says how often it was asked.
cat >"$work/saving.py" <<'PROGRAM'
import os, signal, sys, time
asked = 0
def ask(number, frame):
    global asked
    asked += 1
signal.signal(signal.SIGTERM, ask)
signal.signal(signal.SIGUSR1, ask)
sys.stdout.write(f"ready in session {os.getsid(0)}\n")  # in one piece, beside another program's
sys.stdout.flush()
while not asked:
    time.sleep(0.01)
until = time.monotonic() + 0.5
while time.monotonic() < until:
    time.sleep(0.05)
sys.stdout.write(f"asked {asked}\n")
sys.stdout.flush()
PROGRAM

# begins COUNT COMMAND...: in a session of its own, once so many programs are there.
begins() {
  local count=$1 tries=0
  shift
  command_line=$*
  : >"$out"
  setsid --fork "$@" >"$out" 2>"$err"
  until [ "$(grep -c ready "$out")" -eq "$count" ] || ((++tries == 500)); do sleep 0.02; done
  # From the program itself: a list of processes names its own reader as well, which is of the session that runs all tests.
  session=$(sed -n 's/^ready in session //p' "$out" | head -n 1)
  [ -n "$session" ] || { fail 'did not begin'; finish; }
}
# asked_once: each of so many programs.
asked_once() {
  local tries=0
  until [ "$(grep -c asked "$out")" -eq "$1" ] || ((++tries == 300)); do sleep 0.02; done
  [ "$(grep -cx 'asked 1' "$out")" -eq "$1" ] || fail "not asked once: $(grep asked "$out" | tr '\n' ' ')"
}
run=("$ELBOWROOM_BIN" run --quiet --)
launch=("$ELBOWROOM_BIN" launch -n 2 --)
program=(python3 "$work/saving.py")
for ((repeat = 0; repeat < 5; ++repeat)); do
  begins 1 "${run[@]}" "${program[@]}"
  kill -TERM -- "-$session" # the group
  asked_once 1
  begins 1 "${run[@]}" "${program[@]}"
  kill -TERM "$session" # this process alone, which is the session's first
  asked_once 1
  begins 1 "${run[@]}" "${program[@]}"
  pkill -USR1 -s "$session" # every process, as a batch system does
  asked_once 1
done
begins 2 "${launch[@]}" "${run[@]}" "${program[@]}"
kill -TERM "$session"
asked_once 2
begins 2 "${launch[@]}" "${program[@]}"
pkill -TERM -s "$session"
asked_once 2
begins 2 "${run[@]}" "${launch[@]}" "${program[@]}"
kill -TERM -- "-$session"
asked_once 2

# --- any signal that ends a process -------------------------------------------------------------------------------------
for signal in ALRM XCPU PROF VTALRM IO PWR STKFLT RTMIN RTMIN+3 RTMAX; do
  command_line="run (signal $signal)"
  : >"$out"
  "$ELBOWROOM_BIN" run -- bash -c "trap 'exit 42' $signal; echo ready; while :; do sleep 0.02; done" >"$out" 2>"$err" &
  pid=$! tries=0
  until grep -q ready "$out" || ((++tries == 500)); do sleep 0.02; done
  kill -s "$signal" "$pid"
  wait "$pid"
  code=$?
  [ "$code" -eq 42 ] || fail "exit $code after SIG$signal, expected 42"
done

# --- the first process of a container -----------------------------------------------------------------------------------
orphans='for i in 1 2 3; do (setsid sleep 0.1 &); done; sleep 0.7; echo "zombies: $(ps -e -o stat= | grep -c Z)"'
if unshare -pf --mount-proc true 2>/dev/null; then
  for first in "${run[*]}" "$ELBOWROOM_BIN launch -n 1 --"; do
    command_line="$first (as process 1)"
    # shellcheck disable=SC2086
    unshare -pf --mount-proc $first bash -c "$orphans" >"$out" 2>"$err"
    grep -qx 'zombies: 0' "$out" || fail 'processes that nobody waits for stay'
  done
else
  echo 'skipped: the first process of a container, for which namespaces need root'
fi
finish
