#!/usr/bin/env bash
# Where words and documents go: a stream that takes nothing changes no outcome, no file of the user's is replaced, no output is another one.
. "$(dirname "$0")/run_checks.bash" || exit
bench=(bench --backend sim --trials 2 --only sgemm-ar-pair --scheme concurrent)
sim() { usable sim; }

# --- streams that take nothing ----------------------------------------------------------------------------------------
# ends CODE WHAT: the last command ended so.
ends() {
  local got=$?
  command_line=$2
  [ "$got" -eq "$1" ] || fail "exit $got, expected $1"
}
: >"$out" 2>"$err"
for target in /dev/full closed gone; do
  to_target() {
    case $target in
      /dev/full) "$@" 2>/dev/full ;;
      closed) "$@" 2>&- ;;
      gone) { "$@" 2>&3; } 3> >(exec 0<&-; exec sleep 0) ;; # a pipe whose reader has gone
    esac
  }
  to_target "$ELBOWROOM_BIN" nonsense; ends 2 "nonsense (standard error $target)"
  to_target "$ELBOWROOM_BIN" plan --threads 0 --registers 1 >"$out"; ends 2 "plan (standard error $target)"
  to_target "$ELBOWROOM_BIN" plan --threads 256 --registers 56 --device auto >"$out"; ends 0 "plan (a notice to standard error $target)"
  says 'nccl-2'
  rm -f "$work/r.json"
  to_target "$ELBOWROOM_BIN" run --verbose --report "$work/r.json" -- sh -c 'exit 3'; ends 3 "run (standard error $target)"
  grep -q elbowroom.run/1 "$work/r.json" || fail 'the report is lost'
  rm -f "$work/ran"
  ELBOWROOM_PROFILE=$work/not-a-profile to_target "$ELBOWROOM_BIN" run -- touch "$work/ran"; ends 0 "run (a notice to standard error $target)"
  echo '{' >"$work/not-a-profile"
  rm -f "$work/ran"
  ELBOWROOM_PROFILE=$work/not-a-profile to_target "$ELBOWROOM_BIN" run -- touch "$work/ran"; ends 0 "run (a warning to standard error $target)"
  [ -e "$work/ran" ] || fail 'the command never ran'
  if sim; then
    rm -f "$work/b.json"
    to_target "$ELBOWROOM_BIN" "${bench[@]}" --json "$work/b.json" >"$out"; ends 0 "bench (standard error $target)"
    grep -q elbowroom.result/1 "$work/b.json" || fail 'the result is lost'
    to_target "$ELBOWROOM_BIN" tune --backend sim --suite quick --only sgemm-ar-pair --budget 0.01 >"$out"; ends 0 "tune (standard error $target)"
  fi
done
rm "$work/not-a-profile"

# No file takes the place of a closed stream; a command finds its streams as they were.
if sim; then
  "$ELBOWROOM_BIN" "${bench[@]}" --json "$work/b.json" >&- 2>"$err"; ends 1 'bench (standard output closed)'
  python3 -c 'import json, sys; json.load(open(sys.argv[1]))' "$work/b.json" || fail 'a table is in the document'
  "$ELBOWROOM_BIN" "${bench[@]}" --json "$work/b.json" <&- >&- 2>&-; ends 1 'bench (all streams closed)'
  python3 -c 'import json, sys; json.load(open(sys.argv[1]))' "$work/b.json" || fail 'a table is in the document'
fi
"$ELBOWROOM_BIN" run -- bash -c '[ ! -e /dev/fd/0 ] && [ ! -e /dev/fd/2 ]' <&- 2>&-; ends 0 'run (closed streams stay closed)'
for command in 'list' 'plan --device h200 --threads 256 --registers 56' '--help' 'plan --help' '--version'; do
  "$ELBOWROOM_BIN" $command >/dev/full 2>"$err"; ends 1 "$command (standard output full)"
  grep -qF 'standard output: cannot be written: No space left on device' "$err" || fail 'no reason'
  set -o pipefail
  "$ELBOWROOM_BIN" $command 2>"$err" | true; ends 0 "$command (the reader has gone)"
  set +o pipefail
  [ ! -s "$err" ] || fail 'complains of a reader that has gone'
done

# --- two spellings of one file ----------------------------------------------------------------------------------------
mkdir "$work/here"
ln -s here "$work/there"
cd "$work/here" || exit 1
same() { # same FIRST SECOND
  expect 2 bench --backend sim --json "$1" --trace "$2"
  complains "--trace: '$2', expected another file than --json's"
}
same x ./x
same x ../there/x
same x "$work/here/x"
same ./x .//x
ln -s nowhere link
same link nowhere
same ./- "$work/there/-"
echo '{"schema": "elbowroom.result/1"}' >old
ln old hard
same old hard
expect 2 bench --backend sim --profile np.json --json ./np.json
complains "--profile: 'np.json', expected another file than --json's"
ELBOWROOM_PROFILE=np.json expect 2 bench --backend sim --json ./np.json
expect 2 tune --backend sim --suite quick --profile np.json --json ../there/np.json
complains "--json: '../there/np.json', expected another file than --profile's"
expect 2 run --profile np.json --report ./np.json -- touch ran
complains "--report: './np.json', expected another file than --profile's"
"$ELBOWROOM_BIN" run --report log -- echo output >log 2>"$err"; ends 2 'run --report log >log'
grep -qF "elbowroom run: --report: 'log', expected another file than standard output's" "$err" || fail 'standard output is replaced'
"$ELBOWROOM_BIN" bench --backend sim --json - --trace log >log 2>"$err"; ends 2 'bench --json - --trace log >log'
[ ! -e x ] && [ ! -e ran ] && [ ! -e np.json ] || fail 'something was made'

# --- files of the user's ----------------------------------------------------------------------------------------------
echo '{"schema": "elbowroom.profile/1", "choices": []}' >profile.json
printf 'import torch\n' >train.py
printf '#!/bin/sh\nexit 0\n' >scr
chmod +x scr
echo '{"schema": "elbowroom.scenario/1", "name": "mine"}' >scenario.json
cp profile.json mine.json
printf '# Notes\n' >notes.md
ln -s train.py train-link
md5sum train.py scr scenario.json mine.json notes.md >sums
keeps() { md5sum --status -c sums || fail 'a file of the user'"'"'s is replaced'; }
expect 2 profile export train.py --profile profile.json
complains 'elbowroom profile: file: train.py: not an elbowroom.profile/1 document, expected one, an empty file or a new name'
expect 2 profile export profile.json --profile ./profile.json
complains "--profile: './profile.json', expected another file than file's"
expect 2 tune --backend sim --suite quick --profile train.py
complains 'elbowroom tune: --profile: train.py: not an elbowroom.profile/1 document, expected one, an empty file or a new name'
ELBOWROOM_PROFILE=train.py expect 2 tune --backend sim --suite quick
complains '--profile: train.py: not an elbowroom.profile/1 document'
expect 2 tune --backend sim --suite quick --json scenario.json
complains '--json: scenario.json: schema: "elbowroom.scenario/1", expected "elbowroom.tune/1"'
expect 2 run --report scr -- ./scr
complains 'elbowroom run: --report: scr: not an elbowroom.run/1 document, expected one, an empty file or a new name'
expect 2 profile import profile.json --profile train.py
complains 'train.py: not an elbowroom.profile/1 document'
for file in train.py scr scenario.json mine.json notes.md train-link; do
  for option in --json --markdown --trace; do
    expect 2 bench --backend sim "$option" "$file"
    complains "elbowroom bench: $option: $file: "
  done
done
expect 2 bench --validate "$ELBOWROOM_SOURCE_DIR/data/h200x2.csv" --json train.py
complains '--json: train.py: not an elbowroom.validation/1 document'
keeps

# What cannot be written is refused before anything runs, whatever it is.
ln -s loop loop
ln -s missing/x dangling
for file in loop dangling train.py/x "$(printf 'x%.0s' {1..300})" /proc/x . here/; do
  expect 2 bench --backend sim --json "$file"
  complains '--json: '
  complains 'cannot be written: '
done
expect 2 tune --backend sim --suite quick --profile loop
complains '--profile: loop: cannot be read: Too many levels of symbolic links'
[ -L loop ] && [ ! -e loop.damaged ] || fail 'a link is moved away'
# A message is one line that moves no cursor, whatever it repeats.
expect 2 $'\e[31mred\nline'
complains "elbowroom: '?[31mred?line' is no subcommand"
expect 2 bench $'--nope\nnope'
complains '--nope?nope'
# Two lines are one too many for one fault.
expect 2 plan --threads 1025 --registers 5
complains 'one block needs 1,025 threads'
keeps

# What is ours is replaced, and so is what is empty or no file.
if sim; then
  touch x.json x.md x.trace
  for round in 1 2; do
    expect 0 "${bench[@]}" --json x.json --markdown x.md --trace x.trace
  done
  [ "$(head -1 x.md)" = '<!-- elbowroom.markdown/1 -->' ] || fail 'tables do not say what they are'
  python3 -c 'import json; assert json.load(open("x.trace"))["schema"] == "elbowroom.trace/1"' || fail 'a trace does not say what it is'
  expect 0 "${bench[@]}" --json /dev/null --trace /dev/null
  mkfifo pipe
  cat pipe >from-pipe &
  expect 0 "${bench[@]}" --json pipe
  wait $!
  grep -q elbowroom.result/1 from-pipe || fail 'nothing came through the pipe'
  ln -s target.json to-target
  expect 0 "${bench[@]}" --json to-target
  [ -L to-target ] && grep -q elbowroom.result/1 target.json || fail 'a link is not followed'
  touch empty.json
  expect 0 tune --backend sim --suite quick --only sgemm-ar-pair --budget 0.01 --profile empty.json
  [ ! -e empty.json.damaged ] || fail 'an empty file is kept as damaged'
fi
expect 0 profile export exported.json --profile profile.json
expect 0 profile export exported.json --profile profile.json
printf '{"schema": "elbowroom.profile/1", "choices": [' >cut.json
expect 0 profile import profile.json --profile cut.json
[ -s cut.json.damaged ] || fail 'a damaged profile is not kept'

# --- many writers, no room --------------------------------------------------------------------------------------------
# Ranks of a launcher that have one report: each writes a whole one.
pids=()
for rank in 0 1 2 3 4 5 6 7; do
  "$ELBOWROOM_BIN" run --quiet --report ranks.json -- true 2>"ranks.$rank" &
  pids+=($!)
done
wait "${pids[@]}"
command_line='run --quiet --report ranks.json (eight at once)'
[ -z "$(cat ranks.[0-7])" ] || fail "a rank complains: $(cat ranks.[0-7] | head -1)"
python3 -c 'import json; json.load(open("ranks.json"))' || fail 'not a whole report'
[ -z "$(find "$work" -name '*.partial')" ] || fail 'a partial file is left'

# no_room CODE ARGUMENT...: no file can grow.
no_room() {
  local code=$1
  shift
  command_line="$* (no room)"
  (ulimit -f 0 && "$ELBOWROOM_BIN" "$@" 2>&1; echo "exit $?") | cat >"$out"
  grep -qx "exit $code" "$out" || fail "$(tail -1 "$out"), expected exit $code"
}
if sim; then
  cp x.json before.json
  no_room 1 "${bench[@]}" --json x.json
  says 'x.json: cannot be written: File too large'
  cmp -s x.json before.json || fail 'the file is no longer as it was'
  no_room 1 tune --backend sim --suite quick --only sgemm-ar-pair --budget 0.01 --profile new.json
  says 'new.json: cannot be written: File too large'
fi
no_room 1 profile export exported.json --profile profile.json
no_room 1 profile import exported.json --profile profile.json
no_room 3 run --report r.json -- sh -c 'exit 3'
says 'r.json: cannot be written: File too large'
no_room 4 run --off gate -- bash -c 'echo "policy $ELBOWROOM_RUN_POLICY${ELBOWROOM_RUN_RULES:-}"; exit 4'
says 'policy observe'
says 'the command runs without a report, and with policy observe'
[ -z "$(find "$work" -name '*.partial')" ] || fail 'a partial file is left'
[ -z "$(ls -A "$work/tmp")" ] || fail 'a temporary folder is left'

finish
