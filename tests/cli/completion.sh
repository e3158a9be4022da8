#!/usr/bin/env bash
# `elbowroom completion` knows all subcommands and options; what it prints is a script, or a manual page, without faults.
. "$(dirname "$0")/checks.bash" || exit

expect 0 completion bash
silent
cp "$out" "$work/completion.bash"
# completes WORD...: the words that bash would offer for the last of them, one a line.
completes() (
  . "$work/completion.bash"
  COMP_WORDS=("$@") COMP_CWORD=$(($# - 1)) COMPREPLY=()
  _elbowroom
  printf '%s\n' "${COMPREPLY[@]}"
)
# offers WANTED WORD...
offers() {
  local wanted=$1
  shift
  command_line="completion of: $*"
  completes "$@" | grep -qxF -- "$wanted" || fail "does not offer $wanted"
}
offers bench elbowroom be
offers help elbowroom h
offers --min-reduction elbowroom bench --min
offers --preset elbowroom step transformer --pre
offers remove elbowroom profile rem
offers tune elbowroom help tu
[ -z "$(completes elbowroom bench --no-such)" ] || fail 'offers what is not there'
[ -z "$(completes elbowroom run -- --pol)" ] || fail 'completes the options of the command that run starts'
expect 0 --help
for command in $(sed -n '/^Subcommands:/,/^$/ s/^  \([a-z][a-z]*\) .*/\1/p' "$out"); do offers "$command" elbowroom ''; done

expect 0 completion zsh
says '#compdef elbowroom'
says "'--min-reduction:Fail (1) unless every case'\\''s best scheme"
if command -v zsh >/dev/null; then zsh -n "$out" || fail 'zsh finds faults'; fi

expect 0 completion man
says '.SS elbowroom step transformer'
says '.B \-\-policy'
if command -v groff >/dev/null; then
  groff -man -Tascii -P-cbou -ww "$out" >"$work/page" 2>"$err" || fail 'groff fails'
  [ ! -s "$err" ] || fail 'groff has warnings'
  grep -q 'SUBCOMMANDS' "$work/page" || fail 'no page'
fi
expect 2 completion fish
expect 2 completion
finish
