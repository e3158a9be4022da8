#!/usr/bin/env bash
# `elbowroom bench --dry-run` shows what would be run and needs no device.
. "$(dirname "$0")/checks.bash" || exit
golden=$ELBOWROOM_SOURCE_DIR/tests/cli/golden

expect 0 bench --suite quick --dry-run
silent
diff "$golden/dry_run_quick.txt" "$out" || fail 'differs from golden/dry_run_quick.txt'
expect 0 bench --dry-run
silent
diff "$golden/dry_run_quick.txt" "$out" || fail 'without --suite it is not the suite quick'

# count N ARGUMENT...: the dry run has N cases.
count() {
  local cases=$1
  shift
  expect 0 bench --dry-run "$@"
  [ "$(grep -cv '^#' "$out")" -eq "$cases" ] || fail "not $cases cases"
  if [ "$cases" -eq 1 ]; then says '# 1 case; '; else says "# $cases cases; "; fi
}
count 32 --suite paper # 2 sizes x 2 collectives x 2 tiles x 4 grids
says 'cb-ar-opt1-256: 2 GPUs'
says 'mb-a2a-opt2-114688: 2 GPUs' # 8,192/64 x 57,344/64 tiles
count 13 --suite controls
count 5 --suite library
count 1 --suite library --only '^cublas-8k-ag$'
count 8 --suite paper --only '^cb-a2a-'
count 3 -g 8
says 'gelu-ar: 8 GPUs'
expect 0 bench --dry-run --scheme shaped,sequential --trials 5
says 'schemes shaped sequential; 3 warm-up and 5 counted rounds each; nothing was run'

# Also where the backend that is asked for cannot be used.
expect 0 bench --dry-run --backend cuda --device a40 --json "$work/result.json"
[ ! -e "$work/result.json" ] || fail 'a dry run wrote a result'

finish
