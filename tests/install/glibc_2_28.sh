#!/usr/bin/env bash
# The program, its interposer and its recorder start with glibc 2.28, the oldest that wheels of PyTorch load with. Run by hand: it
# builds that glibc, which takes 10 minutes of one core, and makes a root of it alone.
# Needs root, gcc, make, bison and gawk.
#
# usage: glibc_2_28.sh GLIBC LIBGCC BUILD FOLDER [PYTHON]
#   GLIBC   sources of glibc 2.28 (git tag glibc-2.28; those of its tests may be absent)
#   LIBGCC  libgcc_s.so.1 of GCC 11 or older, whose needs that glibc meets: of Debian 11's libgcc-s1, for example
#   BUILD   has bin/elbowroom and lib/
#   FOLDER  keeps the built glibc
#   PYTHON  has usr/bin/python3 and its library, installed for that glibc: CPython built by `zig cc -target x86_64-linux-gnu.2.28` of
#           ziglang 0.13, for example. The Python hook is then tried as well. Programs linked by 0.11 export `errno`, and find 0 in it.
set -euo pipefail
(($# == 4 || $# == 5)) || { sed -n '/^# usage/,/^[^#]/s/^# //p' "$0" >&2; exit 2; }
glibc=$(realpath "$1") libgcc=$(realpath "$2") build=$(realpath "$3") folder=$(realpath -m "$4") python=${5:+$(realpath "$5")}
hook=$(realpath "${BASH_SOURCE[0]%/*}/../../python")
made=$folder/build root=$folder/root

mkdir -p "$made"
if [ ! -e "$made/libc.so" ] || [ ! -e "$made/login/libutil.so" ]; then
  cd "$made"
  # Newer compilers warn of more, and no longer merge what two files define.
  "$glibc/configure" --prefix=/usr --disable-werror --disable-nscd --without-selinux CXX= CFLAGS='-O2 -g0 -fcommon' >configure.log 2>&1
  make -j"$(nproc)" lib >make.log 2>&1
  for library in nptl/libpthread dlfcn/libdl rt/librt math/libm login/libutil; do
    make -C "$glibc/${library%/*}" subdir="${library%/*}" ..=../ objdir="$made" "$made/$library.so" >>make.log 2>&1
  done
fi

! mountpoint -q "$root/proc" || umount "$root/proc"
rm -rf "$root"
mkdir -p "$root"/{lib64,proc,tmp,elbowroom}
cp "$made/elf/ld.so" "$root/lib64/ld-linux-x86-64.so.2"
cp "$made/libc.so" "$root/lib64/libc.so.6"
cp "$made/math/libm.so" "$root/lib64/libm.so.6"
cp "$made/nptl/libpthread.so" "$root/lib64/libpthread.so.0"
cp "$made/dlfcn/libdl.so" "$root/lib64/libdl.so.2"
cp "$made/rt/librt.so" "$root/lib64/librt.so.1"
cp "$made/login/libutil.so" "$root/lib64/libutil.so.1"
cp "$libgcc" "$root/lib64/libgcc_s.so.1"
cp -r "$build/bin" "$build/lib" "$root/elbowroom"
if [ -n "$python" ]; then
  mkdir -p "$root/dev" "$root/elbowroom/share/elbowroom"
  mknod -m 666 "$root/dev/null" c 1 3
  cp -r "$python/usr" "$root"
  cp -r "$hook" "$root/elbowroom/share/elbowroom"
fi

cat >"$folder/program.c" <<'C'
#include <dlfcn.h>
#include <gnu/libc-version.h>
#include <stdio.h>
#include <stdlib.h>
int main(int count, char** libraries) {
  for (int i = 1; i < count; ++i) {
    if (!dlopen(libraries[i], RTLD_NOW)) { return fprintf(stderr, "%s\n", dlerror()), 1; }
  }
  const char* preloaded = getenv("LD_PRELOAD");
  return printf("glibc %s, preloaded: %s\n", gnu_get_libc_version(), preloaded ? preloaded : "nothing") < 0;
}
C
# Start files and libraries of the system's glibc would ask for its version.
gcc -O1 -U_FORTIFY_SOURCE -nostdlib -no-pie -o "$root/program" "$made/csu/crt1.o" "$made/csu/crti.o" "$folder/program.c" \
  -L"$root/lib64" -l:libdl.so.2 -l:libc.so.6 -l:ld-linux-x86-64.so.2 "$made/libc_nonshared.a" "$made/csu/crtn.o"

trap 'umount "$root/proc"' EXIT
mount -t proc proc "$root/proc"
inside() { env -i HOME=/ PATH="/elbowroom/bin:/usr/bin:$PATH" chroot "$root" "$@"; }
inside elbowroom --version
inside elbowroom plan --device h200 --threads 256 --registers 56 >/dev/null
inside elbowroom doctor || (($? == 1))
recorder=/elbowroom/lib/libelbowroom_recorder.so
[ -e "$root$recorder" ] || recorder=
for backend in cuda hip; do
  seen=$(inside elbowroom run --backend "$backend" -- /program $recorder)
  echo "$seen"
  [[ $seen == 'glibc 2.28, preloaded: '*libelbowroom_interposer*.so* ]] || { echo "FAIL: expected glibc 2.28 and an interposer"; exit 1; }
done
if [ -n "$python" ]; then
  seen=$(inside elbowroom run -- python3 -c 'import os, sys; print(os.confstr("CS_GNU_LIBC_VERSION"), sys.modules["sitecustomize"].__file__)')
  echo "$seen"
  [[ $seen == 'glibc 2.28 '*/elbowroom/hook/sitecustomize.py ]] || { echo "FAIL: expected glibc 2.28 and the Python hook"; exit 1; }
fi
echo "passed: the program, its interposers${recorder:+, its recorder}${python:+, its Python hook} with glibc 2.28"
