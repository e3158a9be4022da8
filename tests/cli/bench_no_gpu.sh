#!/usr/bin/env bash
# Where there is no GPU, asking for one ends with exit 77 and one line, and nothing is written.
. "$(dirname "$0")/checks.bash" || exit
if usable cuda; then
  echo 'skipped: a GPU is usable here'
  exit 77
fi

expect 77 bench --backend cuda
complains 'elbowroom bench: backend cuda: '
expect 77 bench --backend cuda --json "$work/result.json" --trace "$work/trace.json" --markdown "$work/table.md"
complains 'elbowroom bench: backend cuda: '
expect 77 bench --backend cuda --json -
complains 'elbowroom bench: backend cuda: '
for file in result.json trace.json table.md; do
  [ ! -e "$work/$file" ] || fail "$file was written"
done

finish
