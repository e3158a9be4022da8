#!/usr/bin/env bash
# Each option of each subcommand is described in the subcommand's pages.
. "$(dirname "$0")/checks.bash" || exit
cd "$ELBOWROOM_SOURCE_DIR" || exit 1

# pages SUBCOMMAND: where its options are described; nothing for one that has no page.
pages() {
  case $1 in
    list) echo docs/outputs.md ;;
    plan) echo README.md docs/outputs.md docs/pad-ranges.md ;;
    bench) echo docs/reference/commands.md docs/cases.md docs/metrics.md docs/outputs.md docs/tuning.md ;;
    tune) echo docs/reference/commands.md docs/cases.md docs/metrics.md docs/outputs.md docs/tuning.md ;;
    profile) echo docs/outputs.md docs/tuning.md ;;
    step) echo docs/outputs.md docs/steps.md ;;
    explain) echo docs/explain.md ;;
    report) echo docs/report.md ;;
    run) echo docs/run.md docs/reference/commands.md ;;
    measure) echo docs/reference/commands.md docs/programs.md ;;
    calibrate) echo docs/devices.md docs/reference/commands.md ;;
    completion) echo docs/outputs.md ;;
    doctor) echo docs/doctor.md ;;
    validate) echo docs/outputs.md docs/results/scale.md ;;
    launch) echo docs/ranks.md ;;
  esac
}

# names SECTION: what the help on standard output lists in it.
names() { sed -n "/^$1/,/^\$/ s/^  \\([^ ].*\\)/\\1/p" "$out" | sed 's/  .*//'; }

# options: those of the help on standard output, one a line with all of its names: "-g|--gpus".
options() { names Options | grep -E '^-' | sed 's/ .*//; s/=.*//; s/,/|/g' | grep -vx -- '-h|--help'; }

# undescribed FILE...: of the options on standard input, those of which no file has a name.
undescribed() {
  local option
  while read -r option; do
    grep -qE -- "(^|[^-a-z])($option)([^-a-z]|\$)" "$@" || echo "$option"
  done
}

described=0
# check SUBCOMMAND...: the last is the one whose options these are.
check() {
  local of missing subcommand
  expect 0 "$@" --help
  read -ra of <<<"$(pages "$1")"
  [ "${#of[@]}" -gt 0 ] || { fail 'no page describes it'; return; }
  described=$((described + $(options | grep -c .)))
  missing=$(options | undescribed "${of[@]}")
  [ -z "$missing" ] || fail "not in ${of[*]}: ${missing//$'\n'/ }"
  for subcommand in $(names Subcommands | awk '{ print $1 }'); do check "$@" "$subcommand"; done
}

expect 0 --help
for command in $(names Subcommands | awk '{ print $1 }'); do check "$command"; done
[ "$described" -ge 80 ] || fail "found $described options only"

# An option that nobody described is noticed.
command_line='(a planted option)'
[ "$(printf '%s\n' --energy --made-up | undescribed docs/run.md docs/reference/commands.md)" = --made-up ] || fail 'not noticed'

finish
