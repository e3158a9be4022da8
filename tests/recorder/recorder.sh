#!/usr/bin/env bash
# `elbowroom explain -- COMMAND` and `run --record`: a recording of a program whose CUPTI is a stand-in, beside the program's own
# profiler before, during and after it, in a program that forks and in one that ends early.
. "$ELBOWROOM_SOURCE_DIR/tests/cli/checks.bash" || exit
cd "$work" || exit 1
command -v python3 >/dev/null || exit 77
unset CUDA_INJECTION64_PATH

# has_steps DOCUMENT: steps of 10 ms, of which 3 ms are an all-reduce that the second product waits for.
has_steps() {
  python3 - "$1" <<'TEXT' || fail "other figures in $1"
import json, sys
document = json.load(open(sys.argv[1]))
assert document["steps"] >= 6, document["steps"]
assert 2900 < document["exposed_us"] < 3010, document["exposed_us"]
assert [one["collective"] for one in document["collectives"]] == ["all_reduce"]
assert document["causes"][0]["cause"] == "program_order", document["causes"]
assert document["host_not_launched_us"] < document["step_us"]["median"] / 5
TEXT
}

expect 0 explain --after 0.3 --json whole.json --record whole.tar -- "$RECORDED_PROGRAM" 2.5
says 'Communication is exposed'
has_steps whole.json
expect 0 explain whole.tar --json again.json
has_steps again.json
expect 0 explain --after 0.3 --record whole.tar -- "$RECORDED_PROGRAM" 1 # an earlier recording is replaced
echo mine >mine
expect 2 explain --record mine -- true
complains "--record: 'mine' exists and is no recording"

# A rank's file says which rank it is.
RANK=3 WORLD_SIZE=8 "$ELBOWROOM_BIN" explain --after 0.3 --json rank.json -- true >"$out" 2>"$err"
[ $? -eq 2 ] || fail 'one rank of several is no place for explain'
for named in 'RANK=3 WORLD_SIZE=8' 'ELBOWROOM_RANK=3 ELBOWROOM_RANKS=8' 'NODE_RANK=0 LOCAL_RANK=3 WORLD_SIZE=8'; do
  # shellcheck disable=SC2086
  expect 0 explain --after 0.3 --json rank.json -- env $named "$RECORDED_PROGRAM" 1
  [ "$(python3 -c 'import json; print(json.load(open("rank.json"))["ranks"][0]["rank"])')" = 3 ] || fail "not rank 3 by $named"
done

# What the program's exit code is, it stays.
expect 7 explain --after 0.3 -- bash -c '"$0" 1; exit 7' "$RECORDED_PROGRAM"
says 'Communication is exposed'

# Its end comes before that of the recording: what is there counts.
expect 0 explain --after 0.3 --json early.json -- "$RECORDED_PROGRAM" 1.2
has_steps early.json
# Nothing was recorded: the command was too short and keeps its exit code, or it used no GPU.
expect 0 explain --after 3 -- "$RECORDED_PROGRAM" 0.5
complains 'the command ended after 0.'
complains 's, before the recording at 3 s; expected a command that repeats steps for some seconds'
expect 0 explain --after 3 -- "$RECORDED_PROGRAM" 1.2
complains 's, before the recording at 3 s; --after 0.'
expect 3 explain -- bash -c 'exit 3'
complains 'before the recording at 60 s'
expect 1 explain --after 0 -- true
complains 'nothing was recorded: '
complains 'the command used no GPU'
expect 127 explain -- no-such-command
expect 0 explain --after 0.3 -- "$RECORDED_PROGRAM" 1 fork
says 'Communication is exposed'

# The program's own profiler gets its records: exit code 3 says that it does not. One that was under way loses those of its first cycle.
expect 1 explain --after 0.3 -- "$RECORDED_PROGRAM" 1.5 profiler-before
complains 'another profiler was under way in this process'
expect 0 explain --after 0.3 -- "$RECORDED_PROGRAM" 5 profiler-during
expect 0 explain --after 0.3 -- "$RECORDED_PROGRAM" 4 profiler-after
says 'Communication is exposed'

# Where a process uses several devices, CUPTI is called before they run.
expect 0 explain --after 1.5 --json two.json -- "$RECORDED_PROGRAM" 4 two-devices
has_steps two.json

# A library of the user's stays.
CUDA_INJECTION64_PATH=/opt/mine.so expect 77 explain -- "$RECORDED_PROGRAM" 1
complains "CUDA_INJECTION64_PATH is '/opt/mine.so' and stays: nothing is recorded"
CUDA_INJECTION64_PATH=/opt/mine.so expect 0 run --quiet --policy observe --record mine.tar -- bash -c 'echo $CUDA_INJECTION64_PATH'
[ "$(cat "$out")" = /opt/mine.so ] || fail 'the library of the user does not stay'
grep -qF 'elbowroom run: --record: CUDA_INJECTION64_PATH is' "$err" || fail 'not said'

# Under run.
expect 0 run --quiet --record run.tar -- "$RECORDED_PROGRAM" 7
expect 0 explain run.tar --json run.json
has_steps run.json
finish
