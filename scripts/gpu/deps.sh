#!/usr/bin/env bash
# Gathers into build/deps the headers and libraries that the build needs, from the Debian packages of this machine: carried with
# the sources they make scripts/gpu/build.sh work on a machine that has compilers and no package manager.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
rm -rf build/deps
mkdir -p build/deps
dpkg -L libfmt-dev libfmt9 nlohmann-json3-dev rapidjson-dev libzstd-dev libcli11-dev libgtest-dev libgmock-dev librapidcheck-dev |
  grep -E '^/usr/(include|lib|share/cmake)/' | while read -r file; do
  [[ -d $file ]] && continue
  mkdir -p "build/deps$(dirname "$file")"
  cp -a "$file" "build/deps$file"
done
du -sh build/deps
