#!/usr/bin/env bash
# The preloaded library brings nothing into a program but the interposed names: no further library, no further symbol.
set -euo pipefail

fail() {
  printf 'library.sh: %s\n' "$1" >&2
  exit 1
}

sources=$ELBOWROOM_SOURCE_DIR/src/${ELBOWROOM_INTERPOSER_SOURCES:-interposer/cuda}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

readelf -d "$ELBOWROOM_INTERPOSER" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | sort >"$work/needed"
[ -s "$work/needed" ] || fail "readelf names no needed library"
extra=$(grep -vE '^(libc\.so|libdl\.so|libpthread\.so|libm\.so|ld-linux)' "$work/needed" || true)
[ -z "$extra" ] || fail "needs $extra; expected the C library alone"

nm -D --defined-only --format=posix "$ELBOWROOM_INTERPOSER" | awk '{ sub(/@.*/, "", $1); print $1 }' | sort >"$work/exported"

# One table lists the hooked functions; dlsym is a way to all of them, and dlopen and dlmopen tell what is hidden from them.
{
  echo dlsym
  echo dlopen
  echo dlmopen
  tr -d '\n' <"$sources/hook_table.cpp" | grep -oE '<&[A-Za-z_0-9]+>\( *"[A-Za-z_0-9]+"' | sed 's/.*"\(.*\)"/\1/'
} | sort -u >"$work/table"
diff "$work/table" "$work/exported" >"$work/difference" || fail "exported names differ from hook_table.cpp: $(cat "$work/difference")"

# Little of the static TLS: there is none to spare for a library that comes after LD_AUDIT, or that NCCL loads.
tls=$(readelf -lW "$ELBOWROOM_INTERPOSER" | awk '$1 == "TLS" { print $6 }')
((${tls:-0} <= 256)) || fail "$((tls)) bytes of static TLS, expected at most 256"

# What PyTorch's wheels run on: manylinux_2_28.
objdump -T "$ELBOWROOM_INTERPOSER" | grep -oE '\(?GLIBC_[0-9.]+\)? .*' | tr -d '()' | sort -u >"$work/versions"
[ -s "$work/versions" ] || fail "objdump names no version of the C library"
newer=$(awk '{ split($1, part, /[_.]/); if (part[2] > 2 || part[3] > 28) print }' "$work/versions" | tr '\n' ' ')
[ -z "$newer" ] || fail "needs a newer C library than 2.28: $newer"
