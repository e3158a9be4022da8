#!/usr/bin/env bash
# Builds what run.sh needs and puts it into build/gpu, to be carried to a machine with GPUs.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
cmake --build build/release --target elbowroom_tool elbowroom_interposer elbowroom_recorder test_device measure_rows empty_plan example_raw_overlap
rm -rf build/gpu
mkdir -p build/gpu/share/elbowroom
cp build/release/bin/{elbowroom,test_device,measure_rows,empty_plan,example_raw_overlap} build/release/lib/libelbowroom_{interposer,recorder}.so build/gpu/
strip build/gpu/{elbowroom,test_device,measure_rows,empty_plan,example_raw_overlap,libelbowroom_interposer.so,libelbowroom_recorder.so}
nvcc -cubin -arch=sm_90 -o build/gpu/own_kernels.cubin scripts/gpu/own_kernels.cu
cp -r python build/gpu/share/elbowroom/  # beside the program, as an installation has it
ls -la build/gpu
