#!/usr/bin/env bash
# docs/hooks.md says for each hooked function why it is hooked, and names no other.
set -euo pipefail
cd "$ELBOWROOM_SOURCE_DIR"

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cat src/interposer/cuda/hook_table.cpp src/interposer/hip/hook_table.cpp | tr -d '\n' | grep -oE '<&[A-Za-z_0-9]+>\( *"[A-Za-z_0-9]+"' |
  sed -E 's/.*"(.*)"/\1/; s/(_v2)?(_ptsz|_ptds|_spt)?$//' | sort -u >"$work/hooked"
[ -s "$work/hooked" ] || { echo 'hooks_table.sh: no hook was found in the tables' >&2; exit 1; }
grep -E '^\| `' docs/hooks.md | cut -d'|' -f2 | grep -oE '`[^`]+`' | tr -d '`' | sort >"$work/explained"
diff "$work/hooked" "$work/explained" >"$work/difference" || {
  printf 'hooks_table.sh: docs/hooks.md and the tables differ (<: not explained, >: not hooked or named twice):\n%s\n' "$(cat "$work/difference")" >&2
  exit 1
}

# docs/deadlock.md lists each row of the table of what is unusual, in its words.
sed -n 's/^    "\(.*\)",$/| \1 |/p' src/interposer/core/unusual.hpp >"$work/rows"
[ -s "$work/rows" ] || { echo 'hooks_table.sh: no row was found in unusual.hpp' >&2; exit 1; }
sed -n '/^| what is seen |$/,/^$/p' docs/deadlock.md | sed 1,2d | sed '/^$/d' | diff "$work/rows" - >"$work/difference" || {
  printf 'hooks_table.sh: docs/deadlock.md and unusual.hpp differ:\n%s\n' "$(cat "$work/difference")" >&2
  exit 1
}
