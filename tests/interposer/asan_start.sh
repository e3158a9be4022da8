#!/usr/bin/env bash
# A program under a sanitizer starts with the interposer: its runtime calls dlsym before its own functions of the C library are ready.
set -euo pipefail

fail() {
  printf 'asan_start.sh: %s\n' "$1" >&2
  exit 1
}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
printf '#include <stdio.h>\nint main(void) { return puts("started") < 0; }\n' >"$work/start.c"

tried=0
for compiler in clang-19 clang gcc; do
  command -v "$compiler" >/dev/null || continue
  for sanitizer in address thread; do
    "$compiler" -fsanitize=$sanitizer "$work/start.c" -o "$work/start" 2>/dev/null || continue
    # Where a runtime has to come first, it is not preloaded after ours: that is the runtime's own complaint, and not tried here.
    [ "$(ASAN_OPTIONS=verify_asan_link_order=0 "$work/start" 2>/dev/null)" = started ] || continue
    found=$(ASAN_OPTIONS=verify_asan_link_order=0 LD_PRELOAD=$ELBOWROOM_INTERPOSER "$work/start" 2>&1) ||
      fail "$compiler -fsanitize=$sanitizer: exit code $?: $found"
    [ "$found" = started ] || fail "$compiler -fsanitize=$sanitizer: $found"
    tried=$((tried + 1))
  done
done
[ "$tried" -gt 0 ] || exit 77

# What docs/run.md says of gcc's shared runtime, and what helps.
if command -v gcc >/dev/null && gcc -fsanitize=address "$work/start.c" -o "$work/start" 2>/dev/null; then
  found=$(LD_PRELOAD=$ELBOWROOM_INTERPOSER "$work/start" 2>&1) && fail "gcc's shared runtime takes a preloaded library: docs/run.md says that it does not"
  grep -qF 'ASan runtime does not come first in initial library list' <<<"$found" || fail "gcc's shared runtime: $found"
fi
if command -v gcc >/dev/null && gcc -fsanitize=address -static-libasan "$work/start.c" -o "$work/start" 2>/dev/null; then
  found=$(LD_PRELOAD=$ELBOWROOM_INTERPOSER "$work/start" 2>&1) || fail "gcc -static-libasan: exit code $?: $found"
  [ "$found" = started ] || fail "gcc -static-libasan: $found"
fi

# The usual way for extensions of Python: the runtime is preloaded, and `elbowroom run` leaves it first.
runtime=$(gcc -print-file-name=libasan.so 2>/dev/null || true)
if [ -e "$runtime" ] && gcc "$work/start.c" -o "$work/start" && [ "$(LD_PRELOAD=$runtime "$work/start" 2>/dev/null)" = started ]; then
  found=$(LD_PRELOAD=$runtime:$ELBOWROOM_INTERPOSER "$work/start" 2>&1) || fail "behind a preloaded runtime: exit code $?: $found"
  [ "$found" = started ] || fail "behind a preloaded runtime: $found"
fi
