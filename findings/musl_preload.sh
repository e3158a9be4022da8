#!/usr/bin/env bash
# musl's loader ends a program with 127 where LD_PRELOAD names a library that needs functions of glibc. The program does not begin.
#
# Debian musl, musl-tools 1.2.3-1. No GPU.
#   Error relocating .../libchecked.so: __snprintf_chk: symbol not found
# A library that needs what both have is preloaded. So LD_PRELOAD is no variable to set for programs that nobody has looked at.
set -euo pipefail
command -v musl-gcc >/dev/null || { echo 'musl-gcc (package musl-tools) is not here' >&2; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
echo 'int main(void) { return 0; }' | musl-gcc -x c - -o program
echo 'int both(void) { return 1; }' | gcc -x c -shared -fPIC - -o libboth.so
echo '#include <stdio.h>
int checked(char *text, int number) { return snprintf(text, 4, "%d", number); }' | gcc -x c -O2 -D_FORTIFY_SOURCE=2 -shared -fPIC - -o libchecked.so
./program
LD_PRELOAD=$work/libboth.so ./program
code=0
LD_PRELOAD=$work/libchecked.so ./program 2>errors || code=$?
[ "$code" = 127 ]
grep -q '__snprintf_chk: symbol not found' errors
echo 'a preloaded library that needs glibc ends a program of musl with 127'
