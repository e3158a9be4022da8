#!/usr/bin/env bash
# Several copies of NCCL in a process: each call reaches the copy that it reaches without the interposer, whatever was loaded before it.
set -euo pipefail

fail() {
  printf 'copies.sh: %s\n' "$1" >&2
  exit 1
}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
compared=0

before= also=  # what else is preloaded, before the interposer and behind it

compare() { # OPERATION...
  # Without the interposer a name that nobody defines ends the program, and one that is bound to what was unloaded may keep it for ever: nothing
  # to compare.
  timeout 10 env LD_PRELOAD="$before $also" "$ELBOWROOM_COPIES" "$ELBOWROOM_COPIES_DIR" "$@" >"$work/plain" 2>/dev/null || return 0
  timeout 20 env LD_PRELOAD="$before $ELBOWROOM_INTERPOSER $also" "$ELBOWROOM_COPIES" "$ELBOWROOM_COPIES_DIR" "$@" >"$work/interposed" 2>"$work/said" ||
    fail "$*: exit code $? $(cat "$work/said")"
  diff "$work/plain" "$work/interposed" >"$work/difference" || fail "$*: $(cat "$work/difference")"
  compared=$((compared + 1))
}

# A library loaded by its path beside a framework that has a copy of its own, in both orders; a jump out of the framework.
compare nccl1l nccl1d own3l own3c nccl1d own3j
compare own3l own3c nccl1l nccl1d own3c own3j
# Two frameworks, each linked to its own; what was made global is everybody's from then on, but for those who were bound before.
compare user1l user1c user2l user2c user1d user2d
compare user1l user1c nccl2g user2l user2c user1c user2x
compare nccl2g own3l own3c user1l user1c nccl2x
compare now1l nccl2g now1c user2l user2c
compare now0l nccl2g now0c nccl2x
compare nccl1l nccl2l now1l nccl2g now1j now1c
compare nccl2g now1l now1c
# The same by the order of loading alone.
compare handed1l nccl2g handed1p nccl2x
compare nccl2g handed1l handed1p
compare nccl1g handed1l handed1p
compare handed_later1l nccl2g handed_later1p
# A plugin that is linked to no copy has that of who brought it.
compare host2l host2c free0c nccl1l free0c
# Where one framework was, another one is loaded with another copy; the same by look-ups.
compare user1l user1c user1u user2l user2c user2u user1l user1c
compare nccl1l nccl1d nccl1u nccl2l nccl2d nccl2u nccl1l nccl1d
# What the program looked up in its global scope stays, whoever unloads it. What a framework looked up goes with that.
compare nccl2g nccl2e nccl2u nccl2e
compare asks3l asks3p asks3u asks3l asks3p
# The same on a thread that has little room.
compare user1l user1s user2l user2s user1c user2c
# What is global is next for the program, whatever others were bound to.
compare nccl1n user1l user1c nccl2g nccl2n
compare nccl2g user1l user1c nccl1n
# A table is filled when its library is loaded. One with a copy of its own asks for another.
compare points1l nccl2g points1p nccl2n
compare nccl2g points1l points1p
compare asks3l asks3p nccl2g asks3p
compare nccl2g asks3l asks3p asks_symbolic3l asks_symbolic3p
# Between the program and the interposer.
before="$ELBOWROOM_COPIES_DIR/nccl1.so"
compare nccl1n user2l user2c
before=
# Copies with versions: the loader tells them apart wherever they are.
compare brings_bothl uses_old1c uses_new2c
compare brings_bothg uses_old1c uses_new2c old1x
compare nccl1l brings_bothg uses_new2p uses_old1p
compare old1g uses_new2l uses_new2c uses_old1l uses_old1c
also="$ELBOWROOM_COPIES_DIR/brings_both.so"
compare uses_old1c uses_new2c
also=
# What a constructor loads was not there at the start: it is nobody else's.
also="$ELBOWROOM_COPIES_DIR/loads_user1.so"
compare user1l user2l user1c user2c user2x
compare user2l user2c
also=
# One without a soname is known by its path; its file's name is that of another one.
compare nameless/nccl2l user2l user2c nameless/nccl2d
compare nccl2l uses_namelessl uses_namelessc user2l user2c
# One that chooses its functions when it is bound.
compare uses_chosen3l uses_chosen3c
compare nccl1l uses_chosen3l uses_chosen3c chosen3x
# Behind hundreds of other libraries.
others=()
for ((i = 0; i < 800; ++i)); do
  cp "$ELBOWROOM_COPIES_DIR/small.so" "$work/small$i.so"
  others+=("$(realpath --relative-to="$ELBOWROOM_COPIES_DIR" "$work")/small${i}l")
done
compare "${others[@]}" user1l user2l user1c user2c
[ "$compared" -ge 20 ] || fail "only $compared of the chosen cases ran without the interposer"

stems=(nccl1 nccl2 own3 user1 user2 now0 now1 host2)
letters=(l g c s d x u)
RANDOM=${ELBOWROOM_SEED:-1}
for ((program = 0; program < 150; ++program)); do
  operations=()
  for ((i = 0; i < 8; ++i)); do operations+=("${stems[RANDOM % 8]}${letters[RANDOM % 7]}"); done
  compare "${operations[@]}"
done
[ "$compared" -ge 100 ] || fail "only $compared programs ran without the interposer"
