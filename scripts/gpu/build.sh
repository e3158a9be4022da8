#!/usr/bin/env bash
# Builds on the machine with GPUs what run.sh takes from build/gpu, with the headers and static libraries that
# scripts/gpu/deps.sh gathered into build/deps: such a machine may have a compiler and no package manager.
#   usage: scripts/gpu/build.sh OUT     (takes the compiler's output)
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
out=${1:?usage: scripts/gpu/build.sh OUT}
mkdir -p "$out"
start=$SECONDS
cmake -S . -B build/there -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_PREFIX_PATH="$PWD/build/deps/usr" \
  -DCMAKE_CUDA_ARCHITECTURES=90-real -DELBOWROOM_INSTALL=OFF >"$out/configure.txt" 2>&1 || { tail -20 "$out/configure.txt"; exit 1; }
ninja -C build/there -k 0 elbowroom_tool elbowroom_interposer elbowroom_recorder test_device measure_rows empty_plan example_raw_overlap >"$out/build.txt" 2>&1 || grep -A8 -E 'FAILED|error' "$out/build.txt" | head -60
mkdir -p build/gpu/share/elbowroom
cp -r python build/gpu/share/elbowroom/  # beside the program, as an installation has it
for built in build/there/bin/{elbowroom,test_device,measure_rows,empty_plan,example_raw_overlap} build/there/lib/libelbowroom_{interposer,recorder}.so; do
  [[ -e $built ]] || { echo "not built: $built"; continue; }
  cp "$built" build/gpu/
  strip build/gpu/"$(basename "$built")"
done
echo "built in $((SECONDS - start)) s"
