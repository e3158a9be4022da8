#!/usr/bin/env bash
# Help fits 80 columns, and each subcommand ends with an example and its exit codes.
. "$(dirname "$0")/checks.bash" || exit

narrow() { awk 'length > 80' "$out" | grep -q ' [^ ]* ' && fail 'a line is longer than 80 columns'; }

expect 0 --help
narrow
says 'elbowroom help SUBCOMMAND'
commands=$(sed -n '/^Subcommands:/,/^$/ s/^  \([a-z][a-z]*\) .*/\1/p' "$out")
[ "$(wc -w <<<"$commands")" -ge 10 ] || fail 'the subcommands were not found'
for command in $commands; do
  expect 0 "$command" --help
  narrow
  grep -qx 'Example:' "$out" || fail 'no example'
  grep -qE "^  elbowroom ${command}( |\$)" "$out" || fail 'the example is of another subcommand'
  grep -q '^Exit codes: ' "$out" || fail 'no exit codes'
  ! grep -q 'Excludes:' "$out" || fail 'says at each option what it excludes'
  cp "$out" "$work/by-option"
  expect 0 help "$command"
  cmp -s "$out" "$work/by-option" || fail "help $command is not $command --help"
done
expect 0 run --help
says "Exit codes: the command's own"

expect 0 --version
cp "$out" "$work/version"
for other in version -V; do
  expect 0 "$other"
  cmp -s "$out" "$work/version" || fail "$other is not --version"
done
expect 2 help nonsense
complains "'nonsense' is no subcommand"
# A command that is called help is the user's own.
expect 127 run -- help-that-is-not-there version
finish
