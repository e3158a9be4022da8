#!/usr/bin/env bash
# CLI11 names arguments that it did not expect from the last one to the first in its message, and in order in remaining().
#
# CLI11 2.1.2 (Debian 12, libcli11-dev 2.1.2+ds-1). A program without options is called with `a --b 2 c`:
#   what():      The following arguments were not expected: c 2 --b a
#   remaining(): a --b 2 c
# A message made from remaining() has the order that was typed. Exits with 77 where apt has no such package.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
apt-get -q download libcli11-dev=2.1.2+ds-1 >download.log 2>&1 || { tail -1 download.log; exit 77; }
dpkg -x libcli11-dev_*.deb headers
cat >main.cpp <<'CPP'
#include <CLI/CLI.hpp>
#include <iostream>
int main(int argc, char** argv) {
  CLI::App app;
  try {
    app.parse(argc, argv);
  } catch (const CLI::ExtrasError& error) {
    std::cout << error.what() << '\n';
    for (const std::string& one : app.remaining()) std::cout << one << ' ';
    std::cout << '\n';
  }
}
CPP
g++ -std=c++17 -Iheaders/usr/include main.cpp -o main
./main a --b 2 c | tee out
grep -qx 'The following arguments were not expected: c 2 --b a' out
grep -qx 'a --b 2 c ' out
