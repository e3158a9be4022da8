#!/usr/bin/env bash
# g++ 12.2.0 of Debian 12 (glibc 2.36, libc6 2.36-9, 2026-11-28): -static-libstdc++ makes no program for an older glibc. The archive of the
# C++ runtime was compiled against 2.36. A program that throws, starts a thread and asks std::random_device needs
#   GLIBC_2.36  arc4random, of std::random_device
#   GLIBC_2.34  __libc_start_main, of the start file, and pthread_create, pthread_detach and pthread_join, in libpthread before
# Hidden functions of the same names in the program, which jump to the old versions, take the place of all of them: references of the
# archive bind to them, and the program then needs nothing newer than 2.28 but __libc_start_main.
# Exits 77 where the compiler or the C library is another one.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
command -v g++ readelf >/dev/null || exit 77
[[ $(g++ -dumpfullversion) == 12.2.0 && $(getconf GNU_LIBC_VERSION) == 'glibc 2.36' && $(uname -m) == x86_64 ]] || exit 77

cat >"$work/program.cpp" <<'CPP'
#include <memory>
#include <random>
#include <stdexcept>
#include <thread>
int main() {
  auto shared = std::make_shared<int>(0);
  std::thread([shared] { *shared = static_cast<int>(std::random_device("default")() % 2); }).join();
  try { throw std::runtime_error("thrown"); } catch (const std::exception&) { return *shared > 1; }
}
CPP
cat >"$work/old.cpp" <<'CPP'
#include <unistd.h>
extern "C" __attribute__((visibility("hidden"))) unsigned arc4random() {
  unsigned bits = 0;
  while (getentropy(&bits, sizeof bits) != 0) {}
  return bits;
}
#define OLD(name)                                                        \
  asm(".symver old_" #name "," #name "@GLIBC_2.2.5\n.text\n.globl " #name \
      "\n.hidden " #name "\n.type " #name ",@function\n" #name ": jmp old_" #name "@PLT")
OLD(pthread_create);
OLD(pthread_detach);
OLD(pthread_join);
CPP

# newer FILE: what it needs that glibc 2.28 has not.
newer() {
  objdump -T "$1" | sed -n 's/.*\*UND\*.*(GLIBC_2\.\(29\|3[0-9]\)) *\(.*\)/GLIBC_2.\1 \2/p' | sort -u
}
g++ -std=c++20 -O1 -static-libstdc++ "$work/program.cpp" -o "$work/plain"
g++ -std=c++20 -O1 -static-libstdc++ "$work/program.cpp" "$work/old.cpp" -o "$work/bound"
"$work/plain" && "$work/bound"
echo "plain:" && newer "$work/plain"
echo "with hidden functions:" && newer "$work/bound"
newer "$work/plain" | grep -qx 'GLIBC_2.36 arc4random'
newer "$work/plain" | grep -qx 'GLIBC_2.34 __libc_start_main'
newer "$work/plain" | grep -qx 'GLIBC_2.34 pthread_create'
[[ $(newer "$work/bound") == 'GLIBC_2.34 __libc_start_main' ]]
