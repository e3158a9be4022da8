#!/usr/bin/env bash
# cuobjdump's SHARED holds 1,024 B from sm_90 on that ptxas -v and cuFuncGetAttribute do not count.
#
# ptxas 13.0.88 (PyPI nvidia-cuda-nvcc), cuobjdump 13.5.37 (PyPI nvidia-cuda-cuobjdump), Linux x86-64. No GPU.
# One kernel with 4,096 B of static shared memory:
#   sm_80:  ptxas "4096 bytes smem", cuobjdump -res-usage "SHARED:4096"
#   sm_90:  ptxas "4096 bytes smem", cuobjdump -res-usage "SHARED:5120"
#   sm_120: ptxas "4096 bytes smem", cuobjdump -res-usage "SHARED:5120"
# A kernel without shared memory has SHARED:0 everywhere. The 1,024 B are those that the driver reserves for each block; an
# occupancy computed from SHARED and from the reserve counts them twice.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/env"
"$work/env/bin/pip" -q install nvidia-cuda-nvcc==13.0.88 nvidia-cuda-cuobjdump==13.5.37
ptxas=$(find "$work/env" -name ptxas -type f)
cuobjdump=$(find "$work/env" -name cuobjdump -type f)
chmod +x "$ptxas" "$cuobjdump"

cat >"$work/kernel.ptx" <<'PTX'
.version 8.7
.target sm_80
.address_size 64
.visible .entry with_tile(.param .u64 out) {
  .reg .b32 %r<4>;
  .reg .b64 %d<3>;
  .shared .align 4 .b8 tile[4096];
  mov.u32 %r0, %tid.x;
  mov.u32 %r1, tile;
  st.volatile.shared.u32 [%r1], %r0;
  bar.sync 0;
  ld.volatile.shared.u32 %r2, [%r1];
  ld.param.u64 %d0, [out];
  st.global.u32 [%d0], %r2;
  ret;
}
PTX

shared() { # ARCHITECTURE: what ptxas and cuobjdump say
  sed "s/sm_80/$1/" "$work/kernel.ptx" >"$work/$1.ptx"
  "$ptxas" -v -arch="$1" "$work/$1.ptx" -o "$work/$1.cubin" 2>&1 | grep -oE '[0-9]+ bytes smem' | cut -d' ' -f1
  "$cuobjdump" -res-usage "$work/$1.cubin" 2>&1 | grep -oE 'SHARED:[0-9]+' | cut -d: -f2
}
[ "$(shared sm_80 | xargs)" = '4096 4096' ]
[ "$(shared sm_90 | xargs)" = '4096 5120' ]
[ "$(shared sm_120 | xargs)" = '4096 5120' ]
echo 'cuobjdump counts 1,024 B of shared memory more than ptxas from sm_90 on'
