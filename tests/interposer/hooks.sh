#!/usr/bin/env bash
# Every hooked function has a case in one of the programs, which shows what the hook tells: it passes with the hook and fails without
# it. A hook that no case needs is one too many.
set -euo pipefail

fail() {
  printf 'hooks.sh: %s\n' "$1" >&2
  exit 1
}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

tr -d '\n' <"$ELBOWROOM_SOURCE_DIR/src/interposer/$ELBOWROOM_HOOK_TABLE/hook_table.cpp" |
  grep -oE '(driver|runtime|legacy|per_thread|unnamed|library)<&[A-Za-z_0-9]+>\( *"[A-Za-z_0-9]+"' | sed 's/.*"\(.*\)"/\1/' | sort -u >"$work/hooks"
[ "$(wc -l <"$work/hooks")" -ge "$ELBOWROOM_LEAST_HOOKS" ] || fail "only $(wc -l <"$work/hooks") hooks in the table"
for program in $ELBOWROOM_HOOK_PROGRAMS; do "$program" list; done | sort >"$work/cases"
diff "$work/hooks" "$work/cases" >"$work/difference" || fail "hooks without a case (<), cases without a hook (>): $(cat "$work/difference")"

run() { # PROGRAM CASE [past]
  LD_PRELOAD="${ELBOWROOM_RUNTIME:+$ELBOWROOM_RUNTIME }$ELBOWROOM_INTERPOSER" "$@" 2>"$work/said"
}

for program in $ELBOWROOM_HOOK_PROGRAMS; do
  rules=$ELBOWROOM_HOOK_RULES
  case $program in *library_hooks) rules=library_hooks ;; esac
  export ELBOWROOM_RUN_RULES=$ELBOWROOM_SOURCE_DIR/tests/interposer/rules/$rules.rules
  for hook in $("$program" list); do
    run "$program" "$hook" || fail "$hook: exit code $?: $(cat "$work/said")"
    code=0
    ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0 run "$program" "$hook" past || code=$?
    { [ "$code" = 1 ] && grep -qF ': expected ' "$work/said"; } ||
      fail "$hook: nothing is missed without it (exit code $code): $(cat "$work/said")"
  done
done
