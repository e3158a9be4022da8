#!/usr/bin/env bash
# Each process that used the driver leaves one whole report, and no other process leaves any.
set -euo pipefail

fail() {
  printf 'reports.sh: %s\n' "$1" >&2
  exit 1
}

work=$(mktemp -d)
copies=$(mktemp -d)
trap 'rm -rf "$work" "$copies"' EXIT
export LD_LIBRARY_PATH=$ELBOWROOM_DRIVER_DIR ELBOWROOM_RUN_REPORT_DIR=$work

run() { # CASE, number of reports expected
  rm -f "$work"/*
  LD_PRELOAD=$ELBOWROOM_INTERPOSER "$ELBOWROOM_PROGRAM" "$1" || fail "$1: exit code $?"
  local found
  found=$(find "$work" -name '*.json' | wc -l)
  [ "$found" = "$2" ] || fail "$1: $found reports, expected $2"
  [ -z "$(find "$work" -name '*.part')" ] || fail "$1: an unfinished report was left"
}

policy=${ELBOWROOM_POLICY:-gate}
ELBOWROOM_RUN_POLICY=$policy run launch_some 1
report=$(cat "$work"/*.json)
for expected in '"schema": *"elbowroom.run-process/1"' "\"policy\": *\"$policy\"" '"total": *10' 'ncclDevKernel_' \
  "\"${ELBOWROOM_LAUNCH:-cuLaunchKernel}\"" '"program": *"interposer_' '"device_count_seen": *1'; do
  grep -qE "$expected" <<<"$report" || fail "the report lacks $expected: $report"
done
run forked_idle 1
run forked 1 # its children stand aside

# A run inside a run preloads the library twice, or two copies of it: one of them acts.
cp "$ELBOWROOM_INTERPOSER" "$copies/second.so"
for second in "$ELBOWROOM_INTERPOSER" "$copies/second.so"; do
  ELBOWROOM_INTERPOSER="$ELBOWROOM_INTERPOSER $second" run launch_some 1
done

# 150 steps and one more of 32 launches: what was left alone counts as launched, and is not in the account of our own time.
# Of each collective there is a launch in it.
if [ -n "${ELBOWROOM_LAUNCHES_PROGRAM:-}" ]; then
  ELBOWROOM_RUN_POLICY=auto ELBOWROOM_PROGRAM=$ELBOWROOM_LAUNCHES_PROGRAM run rest 1
  grep -qE '"total": *4835,"at_rest": *[1-9]' "$work"/*.json || fail "not 4835 launches, some of them at rest: $(cat "$work"/*.json)"
  at_rest=$(sed -n 's/.*"at_rest": *\([0-9]*\).*/\1/p' "$work"/*.json)
  calls=$(sed -n 's/.*"overhead": *{"nanoseconds": *[0-9]*, *"calls": *\([0-9]*\).*/\1/p' "$work"/*.json)
  { [ "$calls" -gt 2400 ] && [ "$calls" -le $((4835 - at_rest)) ]; } ||
    fail "not the collectives and what was asked about, but $calls launches in the account: $(cat "$work"/*.json)"
fi

# NCCL's calls tell the size (as the power of two) of their kernels: fifteen of 4 MiB, one of which nothing is known.
ELBOWROOM_PROGRAM=$ELBOWROOM_LIBRARIES_PROGRAM run sizes 1
report=$(cat "$work"/*.json)
grep -qE '"size_class": *22,[^}]*"count": *15\b' <<<"$report" || fail "not fifteen collectives of 4 MiB (size class 22): $report"
grep -qE '"library_version": *[1-9]' <<<"$report" || fail "no version of NCCL: $report"
grep -qE '"nccl": *\{"calls": *[1-9]' <<<"$report" || fail "no calls of NCCL: $report"
grep -qE 'Broadcast[^}]*"size_class": *0,' <<<"$report" || fail "a size for a kernel of which nothing was said: $report"

# A product in a window has a target.
if [ -n "${ELBOWROOM_PLUGIN:-}" ]; then
  export ELBOWROOM_RUN_POLICY=gate ELBOWROOM_RUN_RULES=$ELBOWROOM_SOURCE_DIR/tests/interposer/rules/sm_target.rules
  ELBOWROOM_PROGRAM=$ELBOWROOM_LIBRARIES_PROGRAM run sm_target 1
  grep -qE '"sm_target": *[1-9]' "$work"/*.json || fail "no product with a target: $(cat "$work"/*.json)"
  unset ELBOWROOM_RUN_POLICY ELBOWROOM_RUN_RULES
fi

# An entry point that is newer than its hook is left alone, which is said.
if [ -n "${ELBOWROOM_ROUTES_PROGRAM:-}" ]; then
  ELBOWROOM_PROGRAM=$ELBOWROOM_ROUTES_PROGRAM run proc_address_newer 1
  grep -qF 'cuStreamWaitValue64_v2: the driver has a newer form' "$work"/*.json || fail "no word of the newer form: $(cat "$work"/*.json)"
fi

# Without a driver there is nothing to report, and a folder that is not there is no reason to fail.
rm -f "$work"/*
LD_PRELOAD=$ELBOWROOM_INTERPOSER true
[ -z "$(ls "$work")" ] || fail "a process without driver left a report"
ELBOWROOM_RUN_REPORT_DIR=$work/absent LD_PRELOAD=$ELBOWROOM_INTERPOSER "$ELBOWROOM_PROGRAM" launch_some 2>"$work/said" || fail "exit code $?"
grep -q "report cannot be written" "$work/said" || fail "no word about the folder that is absent"
# A report that does not fit in a file ends nobody and is not left in pieces, whether the program heeds the signal of its limit or not.
for handler in DEFAULT IGN; do
  rm -f "$work"/* "$work"/.*.part
  (
    [ "$handler" = DEFAULT ] || trap '' XFSZ
    ulimit -f 1
    LD_PRELOAD=$ELBOWROOM_INTERPOSER "$ELBOWROOM_PROGRAM" launch_some 2>&1 | cat >"$copies/said"
    exit "${PIPESTATUS[0]}"
  ) || fail "a file limit, $handler: exit code $?"
  [ -z "$(ls -A "$work")" ] || fail "a file limit, $handler: pieces of a report: $(ls -A "$work")"
  grep -q "report cannot be written" "$copies/said" || fail "a file limit, $handler: no word about it"
done
ELBOWROOM_RUN_POLICY=nonsense LD_PRELOAD=$ELBOWROOM_INTERPOSER "$ELBOWROOM_PROGRAM" launch_some 2>"$work/said" || fail "exit code $?"
grep -q "nonsense" "$work/said" || fail "no word about a policy that does not exist"
