#!/usr/bin/env bash
# cudaOccAvailableDynamicSMemPerBlock answers with dynamic shared memory at which one block fewer runs than was asked for.
#
# cuda_occupancy.h of PyPI nvidia-cuda-runtime 13.0.96, built with g++; no GPU. The function divides the SM's memory by the blocks and
# leaves out the 1,024 B that each block takes beside its own from sm_80 on. cudaOccMaxActiveBlocksPerMultiprocessor of the same header
# counts them. Blocks of 256 threads, largest carve-out:
#   sm_80, 2 blocks:  83,968 B, with which 1 runs         sm_90, 2 blocks: 116,736 B, with which 1 runs
#   sm_90, 4 blocks:  58,368 B, with which 3 run          sm_120, 3 blocks: 34,048 B, with which 2 run
# For one block the answer holds. 1,024 B less is right for the others.
set -euo pipefail
command -v g++ >/dev/null || { echo 'no g++'; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/env"
"$work/env/bin/pip" -q install nvidia-cuda-runtime==13.0.96
include=$(dirname "$(find "$work/env" -name cuda_occupancy.h)")

cat >"$work/ask.cpp" <<'CPP'
#include <climits>
#include <cstdio>
#include <cuda_occupancy.h>

// Prints: device, blocks asked for, dynamic shared memory that is available, blocks that run with it, and with 1,024 B less.
static void ask(const char* name, int major, int threads, std::size_t per_sm, int blocks) {
  cudaOccDeviceProp device;
  device.computeMajor = major;
  device.computeMinor = 0;
  device.maxThreadsPerBlock = 1024;
  device.maxThreadsPerMultiprocessor = threads;
  device.regsPerBlock = device.regsPerMultiprocessor = 65536;
  device.warpSize = 32;
  device.sharedMemPerBlock = 48 << 10;
  device.sharedMemPerMultiprocessor = per_sm;
  device.numSms = 1;
  device.sharedMemPerBlockOptin = per_sm - 1024;
  device.reservedSharedMemPerBlock = 1024;
  cudaOccFuncAttributes kernel;
  kernel.maxThreadsPerBlock = 1024;
  kernel.numRegs = 32;
  kernel.sharedSizeBytes = 0;
  kernel.shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN;
  kernel.maxDynamicSharedSizeBytes = device.sharedMemPerBlockOptin;
  kernel.numBlockBarriers = 1;
  cudaOccDeviceState state;
  state.carveoutConfig = 100;
  std::size_t bytes = 0;
  cudaOccResult with, less;
  cudaOccAvailableDynamicSMemPerBlock(&bytes, &device, &kernel, &state, blocks, 256);
  cudaOccMaxActiveBlocksPerMultiprocessor(&with, &device, &kernel, &state, 256, bytes);
  cudaOccMaxActiveBlocksPerMultiprocessor(&less, &device, &kernel, &state, 256, bytes - 1024);
  std::printf("%s %d %zu %d %d\n", name, blocks, bytes, with.activeBlocksPerMultiprocessor, less.activeBlocksPerMultiprocessor);
}

int main() {
  ask("sm_80", 8, 2048, 164 << 10, 2);
  ask("sm_90", 9, 2048, 228 << 10, 1);
  ask("sm_90", 9, 2048, 228 << 10, 2);
  ask("sm_90", 9, 2048, 228 << 10, 4);
  ask("sm_120", 12, 1536, 100 << 10, 3);
}
CPP
g++ -I"$include" -o "$work/ask" "$work/ask.cpp"
[ "$("$work/ask")" = "sm_80 2 83968 1 2
sm_90 1 232448 1 1
sm_90 2 116736 1 2
sm_90 4 58368 3 4
sm_120 3 34048 2 3" ]
echo 'cudaOccAvailableDynamicSMemPerBlock leaves out the 1,024 B of each block from sm_80 on'
