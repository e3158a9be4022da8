#!/usr/bin/env bash
# Every subcommand in several processes: what all ranks would say is said once, by rank 0, and files are written once. tests/cli/ranks.sh has
# what ranks do for each other.
. "$(dirname "$0")/checks.bash" || exit
cd "$work" || exit 1
usable sim || exit 77
unset RANK WORLD_SIZE LOCAL_RANK MASTER_ADDR MASTER_PORT

# once CODE ARGUMENT...: two ranks say what one process says, and launch names the one that failed.
once() {
  local code=$1
  shift
  expect "$code" "$@"
  mv "$out" one.out
  mv "$err" one.err
  expect "$code" launch -n 2 -- "$ELBOWROOM_BIN" "$@"
  grep -v "^elbowroom launch: rank [01] ended with exit code $code\$" "$err" >two.err
  diff one.out "$out" >&2 || fail 'prints something else than one process'
  diff one.err two.err >&2 || fail 'says something else than one process'
}

# quiet CODE ARGUMENT...: rank 1 of 2 says nothing, and needs no rank 0.
quiet() {
  local code=$1
  shift
  ELBOWROOM_RANKS=2 ELBOWROOM_RANK=1 expect "$code" "$@"
  [ ! -s "$out" ] && [ ! -s "$err" ] || fail 'rank 1 says something'
}

# both CODE_OF_RANK_0 CODE_OF_RANK_1 ARGUMENT...
both() {
  local other=$2
  once "$1" "${@:3}"
  quiet "$other" "${@:3}"
}

both 0 0 --help
both 0 0 --version
both 0 0 bench --help
both 0 0 run --help
both 0 0 list
both 0 0 plan --device h200 --threads 256 --registers 56
both 0 0 plan --device h200 --threads 256 --registers 56 --json
step=(step transformer --layers 1 --hidden 128 --ffn 256 --tokens 64 --dp 2)
both 0 0 "${step[@]}"
both 0 0 "${step[@]}" --json -
once 0 bench --backend sim --only gelu-ar --dry-run
grep -E '^(kernel|cublas),' "$ELBOWROOM_SOURCE_DIR/data/h200x2.csv" >rows.csv
once 0 bench --validate rows.csv

# What is wrong with a command line is said by rank 0. What else is wrong rank 0 alone meets, so the others end with 0.
both 2 2 plan --nonsense
both 2 2 nonsense
both 2 2 run --nonsense -- true
both 2 0 plan --device nonsense --threads 256 --registers 56
both 2 0 report nowhere.json
both 2 2 step transformer --layers 1 --dp two
both 2 0 step transformer --layers 1 --hidden 128 --ffn 256 --tokens 64 --dp 0
both 2 0 profile export --profile nowhere.json nowhere.too

# Files are rank 0's.
quiet 0 "${step[@]}" --json mine.json
[ ! -e mine.json ] || fail 'rank 1 writes a file'
expect 0 launch -n 2 -- "$ELBOWROOM_BIN" "${step[@]}" --json mine.json
"$ELBOWROOM_BIN" "${step[@]}" --json one.json >/dev/null
cmp -s one.json mine.json || fail 'writes something else than one process'
quiet 0 report mine.json --html mine.html
[ ! -e mine.html ] || fail 'rank 1 writes a page'

# `run` and `launch` start what is theirs on every rank. A sanitizer's library cannot be preloaded into bash.
library=$(dirname "$ELBOWROOM_BIN")/../lib/libelbowroom_interposer.so
if [ -e "$library" ] && env LD_PRELOAD="$library" bash -c true 2>/dev/null; then
  run=("$ELBOWROOM_BIN" run --backend cuda --no-memory --quiet -- bash -c)
  expect 0 launch -n 2 -- "${run[@]}" 'echo rank $ELBOWROOM_RANK of $ELBOWROOM_RANKS'
  sort "$out" | diff - <(printf 'rank %s of 2\n' 0 1) >&2 || fail 'not the command of each rank'
  expect 9 launch -n 2 -- "${run[@]}" 'exit $((ELBOWROOM_RANK * 9))'
  complains 'elbowroom launch: rank 1 ended with exit code 9'
fi
expect 0 launch -n 2 -- "$ELBOWROOM_BIN" launch -n 2 -- bash -c 'echo rank $ELBOWROOM_RANK of $ELBOWROOM_RANKS'
sort "$out" | diff - <(printf 'rank %s of 2\n' 0 0 1 1) >&2 || fail 'not a launch in a launch'

# Variables that contradict each other make nobody another rank.
ELBOWROOM_RANKS=2 expect 0 --version
says 'elbowroom '
finish
