#!/usr/bin/env bash
# Budgets from the command to its closing line: two ranks of tests/interposer, of a stand-in for NCCL with which 8 of 24 blocks take a fifth less.
. "$(dirname "$0")/run_checks.bash" || exit

ELBOWROOM_BIN=$real_bin
driver=$(dirname "$real_bin")/../tests/interposer/driver
program=$(dirname "$real_bin")/interposer_budget_arm
[ -e "$driver/libcuda.so.1" ] && [ -x "$program" ] || finish
export LD_LIBRARY_PATH=$driver
memory=$XDG_CACHE_HOME/elbowroom/choices.json

compares() { expect 0 run --off symmetric --report "$work/report.json" "$@" -- "$program" job; }
holds() { tr -d ' \n' <"$work/report.json" | grep -qF -- "$1" || fail "report lacks: $1"; }
lacks_text() { if tr -d ' \n' <"$work/report.json" | grep -qF -- "$1"; then fail "report has: $1"; fi; }
complaint() { grep -qF -- "$1" "$err" || fail "not said: $1"; }

compares
complaint "no other control helped"
complaint "; collectives kept to 8 blocks: steps take 20.0 % ("
complaint "sums may differ in their last bits"
holds '"no_budgets":null'
holds '"decides":"thisprocess","blocks":8,"decisions":1'
holds '"decides":"anotherprocess","blocks":8'
grep -qF '"arm":"budget 8","ranks":0,"gain_percent":20.' "$memory" || fail "the budget is not kept: $(cat "$memory")"

# The next run begins with it and checks it.
compares
complaint 'no other control helped in an earlier run, which is remembered; collectives kept to 8 blocks: steps take 20.0 % ('
holds '"blocks":8,"decisions":1,"remembered":8'
grep -qF '"arm":"budget 8"' "$memory" || fail 'the budget is forgotten'
grep -qF '"decisions":2' "$memory" || fail "it was not confirmed: $(cat "$memory")"

# What leaves budgets out is said, but by who says so, and has a memory of its own.
for options in '--off budget' --same-bits; do
  # shellcheck disable=SC2086
  expect 0 run --off symmetric $options --report "$work/report.json" -- "$program" job
  holds "\"no_budgets\":\"${options// /}\""
  lacks_text '"blocks":8'
  lacks_text '"all_reduce":{"asked"'
done
NCCL_MAX_CTAS=24 expect 0 run --off symmetric -- "$program" job
complaint "no budget of blocks was compared because of NCCL_MAX_CTAS=24"
finish
