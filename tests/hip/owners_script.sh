#!/usr/bin/env bash
# scripts/gpu/amd.sh, which owners of AMD GPUs run unseen: it measures, packs what it has, and says what failed.
. "$(dirname "$0")/../cli/checks.bash" || exit

export ELBOWROOM_BIN
script="$ELBOWROOM_SOURCE_DIR/scripts/gpu/amd.sh"

# run CODE STEPS: into $work/amd; what it says is in $work/said.
run() {
  local code=0
  rm -rf "$work"/amd*
  STEPS=$2 bash "$script" "$work/amd" >"$work/said" 2>&1 || code=$?
  [ "$code" -eq "$1" ] || fail "exit code $code with steps '$2', expected $1: $(tail -n 3 "$work/said")"
}

run 0 machine
tar -xzOf "$work"/amd-*.tar.gz amd/machine.txt >"$work/machine.txt" || fail 'no machine.txt in the archive'
grep -qF 'GPU 1: Fake AMD Instinct MI250X' "$work/machine.txt" || fail 'the archive does not name the GPUs'
[ "$(tar -xzOf "$work"/amd-*.tar.gz amd/failed-steps.txt)" = none ] || fail 'a step failed'

run 1 'machine nonsense'
[ "$(tar -xzOf "$work"/amd-*.tar.gz amd/failed-steps.txt)" = nonsense ] || fail 'the archive does not name the step that failed'

ELBOWROOM_FAKE_HIP_DEVICES=0 run 77 machine
grep -qF 'expected 2 or more' "$work/said" || fail 'does not say that there are too few GPUs'

finish
