#!/usr/bin/env bash
# `./dev help`, CONTRIBUTING.md and what ./dev takes name the same commands in the same words; CI runs the tests that a developer runs.
. "$(dirname "$0")/checks.bash" || exit
cd "$ELBOWROOM_SOURCE_DIR" || exit 1
command_line='(./dev help)'
: >"$err"
./dev help | sed -n 's/^  \([a-z].*\)/\1/p' >"$out"
[ "$(wc -l <"$out")" -ge 7 ] || fail 'not every command'
diff <(sed -n 's|^    ./dev ||p' CONTRIBUTING.md) "$out" >"$err" || fail 'CONTRIBUTING.md says something else'
diff <(sed -n '/^case .*help/,/^esac/ s/^  \("\?[a-z][-a-z "]*\).*) .*;;$/\1/p' dev | tr -d '"' | sed 's/ *|.*//; s/ *$//' | sort) \
  <(sed 's/  .*//' "$out" | sort) >"$err" || fail 'what it takes is not what it says'
mkdir "$work/without"
for absent in dpkg-query cmake; do printf '#!/bin/sh\nexit 1\n' >"$work/without/$absent"; done
printf '#!/bin/sh\ntouch "%s"\n' "$work/asked" >"$work/without/apt-get"
chmod +x "$work/without/"*
if PATH=$work/without:$PATH ./dev --no-install build >"$out" 2>"$err"; then fail '--no-install went on without its packages'; fi
grep -q '^dev: packages are missing: g++ cmake ' "$err" || fail 'the packages are not named'
[ ! -e "$work/asked" ] || fail '--no-install asked apt'
grep -qx './dev test' .ci/run || fail '.ci/run does not call it'
grep -q -- '- run: .ci/run' .github/workflows/tests.yml || fail 'a public host runs something else'
finish
