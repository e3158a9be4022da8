#!/usr/bin/env bash
# `elbowroom plan FILE`: kernels of compilers' texts, code objects and folders of Triton's cache.
. "$(dirname "$0")/checks.bash" || exit

cat >"$work/ptxas.log" <<'LOG'
ptxas info    : Compiling entry function 'gemm' for 'sm_90'
ptxas info    : Used 56 registers, used 1 barriers, 4096 bytes smem
LOG
cat >"$work/usage.txt" <<'LOG'
arch = sm_90
 Function gemm:
  REG:56 STACK:0 SHARED:5120 LOCAL:0 CONSTANT[0]:360 TEXTURE:0 SURFACE:0 SAMPLER:0
LOG
# Both are the kernel of README's table.
for file in "$work/ptxas.log" "$work/usage.txt"; do
  expect 0 plan "$file" --device h200 --threads 256 --comm nccl-2.30:544
  says '    256         56       4,096            0          4  1: 111,744 to 228,352'
  says 'none                gemm'
  says 'none: no pad makes room for a nccl-2.30:544 block (blocked by registers, shared memory).'
  says '      Priority and the launch gate need no room: elbowroom run -- COMMAND compares steps with and without them.'
done
printf 'arch = sm_90\n Function small:\n  REG:16 STACK:0 SHARED:1024 LOCAL:0\n' >"$work/small.txt"
expect 0 plan "$work/small.txt" --device h200 --threads 256 --comm nccl-2.28:544
says '1, pad to 127,616'
grep -q Priority "$out" && fail 'gives a next step to a kernel that has room'
says 'N, pad to P: a pad of at most P B holds the kernel at N blocks per SM, and a nccl-2.28:544 block has room.'
expect 0 plan "$work/usage.txt" --device h200 --threads 256 --json
says '"schema": "elbowroom.kernels/1"'
says '"static_shared": 4096'
says '"pad_min": 111744'
expect 2 plan "$work/usage.txt" --device h200
complains '--threads: missing'
expect 2 plan "$work/usage.txt" --device a100 --threads 256
complains 'code for sm_90, expected some that a100 (sm_80) runs'
expect 2 plan "$work/absent" --device h200 --threads 256
complains 'absent: cannot be read'
echo 'no kernel' >"$work/other"
expect 2 plan "$work/other" --device h200 --threads 256
complains 'other: no kernel, expected a cubin'
expect 2 plan "$work/usage.txt" --device h200 --threads 256 --registers 56
complains 'excludes'

# An AMD code object, as clang writes it: 256 threads by its metadata, 4,096 B of LDS and 3 VGPRs. The other kernel's threads are not there.
hsaco=$ELBOWROOM_SOURCE_DIR/tests/fuzz/corpus/kernels/hsaco
expect 0 plan "$hsaco" --device mi300x --threads 128
says '    256          3       4,096            0         '
says '    128          2           0            0         '
# The same in a bundle, as hipcc --genco writes it, and in a program.
bundle=$ELBOWROOM_SOURCE_DIR/tests/fuzz/corpus/kernels/bundle
{ cat "$ELBOWROOM_BIN" && head -c 20M /dev/zero && cat "$bundle"; } >"$work/program"
for file in "$bundle" "$work/program"; do
  expect 0 plan "$file" --device mi300x --threads 128
  says '    256          3       4,096            0         '
  says '    128          2           0            0         '
done
expect 2 plan "$bundle" --device mi210 --threads 128
complains 'code for gfx942, expected some that mi210 (gfx90a) runs'
head -c 200 "$bundle" >"$work/cut"
expect 2 plan "$work/cut" --device mi300x --threads 128
complains 'cut: no kernel in an offload bundle'
printf 'CCOB\002\000\001\000' >"$work/no_frame"
expect 2 plan "$work/no_frame" --device mi300x --threads 128
complains 'no_frame: its AMD code is compressed, expected zstd and a program built with that, or --no-offload-compress'
# As clang 19 packs a kernel for two devices (version 2, whose head has 24 bytes), and as ROCm 7.1 does (version 3: 32 bytes).
compressed=$ELBOWROOM_SOURCE_DIR/tests/fuzz/corpus/kernels/compressed
{ printf 'CCOB\003\000\001\000' && head -c 24 /dev/zero && tail -c +25 "$compressed"; } >"$work/version_3"
if "$ELBOWROOM_BIN" plan "$compressed" --device mi300x --threads 256 2>&1 | grep -q 'expected zstd'; then
  echo 'skipped: compressed bundles, without zstd'
else
  cat "$ELBOWROOM_BIN" "$compressed" >"$work/packed_program"
  for file in "$compressed" "$work/version_3" "$work/packed_program"; do
    for device in mi300x mi210; do
      expect 0 plan "$file" --device $device --threads 256
      says '    256          3       4,096            0          8'
    done
  done
  head -c 1000 "$compressed" >"$work/cut_short"
  expect 2 plan "$work/cut_short" --device mi300x --threads 256
  complains 'cut_short: its AMD code is compressed and damaged'
fi
# A tool that has no more than the mark of a bundle is asked for NVIDIA's code, and one without that named as it was.
mkdir "$work/stand_in"
printf '#!/bin/sh\nprintf " Function gemm:\\n  REG:96 STACK:0 SHARED:1024 LOCAL:0\\n"\n' >"$work/stand_in/cuobjdump"
chmod +x "$work/stand_in/cuobjdump"
PATH=$work/stand_in:$PATH expect 0 plan "$ELBOWROOM_BIN" --device h200 --threads 256
says '    256         96  '
printf '#!/bin/sh\nexit 3\n' >"$work/stand_in/cuobjdump"
PATH=$work/stand_in:$PATH expect 2 plan "$ELBOWROOM_BIN" --device h200 --threads 256
complains 'no kernel in an offload bundle'
# HIP has no gate.
expect 0 plan "$hsaco" --device mi300x --threads 1024 --comm 1024,128,65536,0,1
says '      Priority needs no room: elbowroom run -- COMMAND compares steps with and without it.'

# The compiler was told of two waves per SIMD: descriptor "fixed.kd" allocates 22 granules of 8, and the metadata count 3 VGPRs as before.
cp "$hsaco" "$work/bounded.hsaco"
printf '\025' | dd of="$work/bounded.hsaco" bs=1 seek=$((0x6c0 + 48)) conv=notrunc status=none
expect 0 plan "$work/bounded.hsaco" --device mi300x --threads 128
says '    256        176       4,096            0          2  '
says '    128          2           0            0         '
# Hand-written code has no amdhsa.target: the ELF's flags name gfx942.
LC_ALL=C sed 's/amdhsa\.target/amdhsa.absent/' "$hsaco" >"$work/flags.hsaco"
expect 0 plan "$work/flags.hsaco" --device mi300x --threads 128
expect 2 plan "$work/flags.hsaco" --device mi210 --threads 128
complains 'code for gfx942, expected some that mi210 (gfx90a) runs'
# Triton launches its AMD kernels with LDS that their metadata do not count.
mkdir -p "$work/triton_amd/abc"
cp "$hsaco" "$work/triton_amd/abc/open.hsaco"
echo '{"num_warps": 4, "warp_size": 64, "shared": 16384, "name": "open"}' >"$work/triton_amd/abc/open.json"
expect 0 plan "$work/triton_amd" --device mi300x
says '    256          2           0       16,384          4  '

# A folder of Triton's cache: threads and dynamic memory stand beside the code. cuobjdump is a stand-in.
mkdir -p "$work/triton/abc"
printf '\177ELF\002\001\001\051\010%055d' 0 | tr 0 '\0' >"$work/triton/abc/gemm.cubin"
echo '{"num_warps": 8, "shared": 65536, "name": "gemm"}' >"$work/triton/abc/gemm.json"
mkdir "$work/tools"
printf '#!/bin/sh\nprintf " Function gemm:\\n  REG:96 STACK:0 SHARED:1024 LOCAL:0\\n"\n' >"$work/tools/cuobjdump"
chmod +x "$work/tools/cuobjdump"
PATH=$work/tools:$PATH expect 0 plan "$work/triton" --device h200
says '    256         96  '
says '     65,536          2  '
printf '#!/bin/sh\nexit 3\n' >"$work/tools/cuobjdump"
PATH=$work/tools:$PATH expect 1 plan "$work/triton" --device h200
complains 'cuobjdump -res-usage cannot read it'
# NVIDIA's package puts it where no PATH leads, in the Python that programs use.
if ! PATH=/usr/bin:/bin command -v cuobjdump >/dev/null && [ ! -e /usr/local/cuda/bin/cuobjdump ]; then
  mkdir -p "$work/venv/bin" "$work/venv/lib/python3.12/site-packages/nvidia/cu13/bin"
  printf '#!/bin/sh\nprintf " Function gemm:\\n  REG:96 STACK:0 SHARED:1024 LOCAL:0\\n"\n' >"$work/venv/lib/python3.12/site-packages/nvidia/cu13/bin/cuobjdump"
  chmod +x "$work/venv/lib/python3.12/site-packages/nvidia/cu13/bin/cuobjdump"
  export -n CUDA_HOME
  PATH=/usr/bin:/bin ELBOWROOM_PYTHON=$work/venv/bin/python3 expect 0 plan "$work/triton" --device h200
  says '    256         96  '
  PATH=/usr/bin:/bin ELBOWROOM_PYTHON=$work/none/bin/python3 expect 77 plan "$work/triton" --device h200
  complains 'nvcc -Xptxas -v needs none'
fi
mkdir "$work/empty"
expect 2 plan "$work/empty" --device h200
complains 'no .cubin or .hsaco in it'

finish
