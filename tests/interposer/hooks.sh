#!/usr/bin/env bash
# Every hooked function of the driver has a case in one of the programs, which shows what the hook tells.
set -euo pipefail

fail() {
  printf 'hooks.sh: %s\n' "$1" >&2
  exit 1
}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

tr -d '\n' <"$ELBOWROOM_SOURCE_DIR/src/interposer/cuda/hook_table.cpp" |
  grep -oE '(driver|legacy|per_thread)<&[A-Za-z_0-9]+>\( *"[A-Za-z_0-9]+"' | sed 's/.*"\(.*\)"/\1/' | sort >"$work/hooks"
[ "$(wc -l <"$work/hooks")" -ge 82 ] || fail "only $(wc -l <"$work/hooks") hooks in the table"
for program in $ELBOWROOM_HOOK_PROGRAMS; do "$program" list; done | sort >"$work/cases"
diff "$work/hooks" "$work/cases" >"$work/difference" || fail "hooks without a case (<), cases without a hook (>): $(cat "$work/difference")"

export ELBOWROOM_RUN_POLICY=gate ELBOWROOM_RUN_RULES=$ELBOWROOM_SOURCE_DIR/tests/interposer/rules/untimed.rules
for program in $ELBOWROOM_HOOK_PROGRAMS; do
  for hook in $("$program" list); do
    LD_PRELOAD="${ELBOWROOM_RUNTIME:+$ELBOWROOM_RUNTIME }$ELBOWROOM_INTERPOSER" "$program" "$hook" 2>"$work/said" ||
      fail "$hook: exit code $?: $(cat "$work/said")"
  done
done
