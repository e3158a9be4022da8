#!/usr/bin/env bash
# A script that is not told what to test, or where the sources are, ends at once with one line.
. "$(dirname "$0")/checks.bash" || exit

cd "$work" || exit 1
for script in "$ELBOWROOM_SOURCE_DIR"/tests/cli/*.sh "$ELBOWROOM_SOURCE_DIR"/tests/hip/*.sh; do
  for variable in ELBOWROOM_BIN ELBOWROOM_SOURCE_DIR; do
    command_line="(${script##*/} without $variable)"
    if env -u "$variable" timeout 10 bash "$script" >"$out" 2>"$err"; then fail 'exit 0'; fi
    complains "$variable"
  done
done

finish
