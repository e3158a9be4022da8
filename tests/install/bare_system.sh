#!/usr/bin/env bash
# README's commands, as they stand there, in a bare system: `pip install` and `elbowroom doctor`, then `run` over a small C program,
# `./dev demo`, and one test target with the packages of `./dev test`. Run by hand, as root: takes 20 minutes of two cores.
#
# usage: bare_system.sh ROOT [WHEEL]      WHEEL: is installed instead of one built there. ROOT is made by one of
#   debootstrap --variant=minbase bookworm ROOT http://deb.debian.org/debian
#   debootstrap --variant=minbase --components=main,universe noble ROOT http://archive.ubuntu.com/ubuntu gutsy     (add noble-updates to its sources: clang-19 is there)
set -euo pipefail
(($# >= 1)) || { sed -n '/^# usage/,/^[^#]/s/^# //p' "$0" >&2; exit 2; }
source=$(cd "$(dirname "$0")/../.." && pwd) root=$(realpath "$1") wheel=${2:-}

trap 'umount "$root/proc" "$root/dev" 2>/dev/null || true' EXIT
mountpoint -q "$root/proc" || mount -t proc proc "$root/proc"
mountpoint -q "$root/dev" || mount --bind /dev "$root/dev"
cp /etc/resolv.conf "$root/etc/resolv.conf"
echo 'APT::Get::Assume-Yes "true";' >"$root/etc/apt/apt.conf.d/99yes"
rm -rf "$root/root/elbowroom" && git clone -q "$source" "$root/root/elbowroom"
[ -z "${PIP_CERT:-}" ] || cp "$PIP_CERT" "$root/root/pip.crt"
[ -z "$wheel" ] || cp "$wheel" "$root/root/"

# The first block of README, without what needs a job.
commands=$(sed -n '/^<!-- not run: installs -->/,/elbowroom doctor/s/^    //p' "$source/README.md")
[ -z "$wheel" ] || commands=${commands/pip install ./pip install \/root\/$(basename "$wheel")}
cat >"$root/root/program.c" <<'C'
#include <stdio.h>
#include <stdlib.h>
int main(void) { return printf("preloaded: %s\n", getenv("LD_PRELOAD") ? getenv("LD_PRELOAD") : "nothing") < 0; }
C
inside() {
  env -i HOME=/root TERM=dumb DEBIAN_FRONTEND=noninteractive ${PIP_CERT:+PIP_CERT=/root/pip.crt} PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
    chroot "$root" bash -c "set -e; cd /root/elbowroom; $1"
}
inside 'apt-get -q update >/dev/null'
echo "$commands"
inside "${commands/elbowroom doctor/elbowroom doctor || ((\$? == 1)); true}
  gcc -o /root/program /root/program.c; elbowroom run -- /root/program >/root/said; cat /root/said; grep -q libelbowroom_interposer.so /root/said"
inside './dev demo'
inside 'source <(sed -n "/^test_packages=/p" dev); apt-get -q install --no-install-recommends "${test_packages[@]}" >/dev/null
  cmake --preset release -DELBOWROOM_TESTS=ON -DELBOWROOM_BENCHMARKS=OFF -DELBOWROOM_WERROR=ON >/dev/null
  cmake --build build/release --target test_run && ctest --test-dir build/release -R "^test_run\."'
echo "passed: $(sed -n 's/^PRETTY_NAME=//p' "$root/etc/os-release")"
