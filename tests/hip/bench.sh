#!/usr/bin/env bash
# `elbowroom bench --backend hip` and `elbowroom list` against stand-ins for AMD's libraries: every scheme runs and verifies, or says why not.
. "$(dirname "$0")/../cli/checks.bash" || exit

# scenario NAME COMPUTE COLLECTIVE_OP: writes a small one and its path.
scenario() {
  cat >"$work/$1.json" <<TEXT
{"schema": "elbowroom.scenario/1", "name": "$1", "gpus": 2, "iterations": 3, "pattern": "pipeline",
 "compute": $2, "collective": {"op": "$3", "bytes": "16K", "dtype": "bf16"}}
TEXT
}
scenario gelu '{"kernel": "elementwise", "op": "gelu", "dtype": "f32", "bytes": "64K"}' all_reduce
scenario gemm '{"kernel": "library_gemm", "m": 48, "n": 64, "k": 32, "dtype": "bf16"}' all_to_all
schemes=sequential,concurrent,priority,shaped,shaped_priority,green_context,comm_blocks_only,sm_target_only,copy_engine
run=(bench --backend hip --trials 2 --scheme "$schemes" --scenario)

# rows SCHEME...: each has a row of figures; refused SCHEME REASON: it has a line that says why not.
rows() {
  local scheme
  for scheme in "$@"; do grep -qE "^[* ] $scheme " "$out" || fail "no row of $scheme"; done
}
refused() { grep -qF "# $1: refused: $2" "$out" || fail "$1 is not refused because: $2"; }

expect 0 list
says 'GPU 1: Fake AMD Instinct MI250X (mi250x, 110 SMs'

expect 0 "${run[@]}" "$work/gelu.json"
rows sequential concurrent priority shaped shaped_priority green_context comm_blocks_only
refused sm_target_only 'an SM target acts on library GEMMs only'
refused copy_engine 'copy engines alone cannot reduce'
grep -qF 'the hip backend has no recorder' "$err" || fail 'does not say why there is no overlap rate'

expect 0 "${run[@]}" "$work/gemm.json" --json -
says '"backend": "hip"'
says '"sm_target": '

expect 0 "${run[@]}" "$work/gemm.json"
rows sequential concurrent priority green_context comm_blocks_only sm_target_only
refused shaped 'the library launches its own kernel'
refused copy_engine "copy_engine: copy-engine collectives are NCCL's"

# A driver that ignores priorities is found out, and the other schemes run.
export ELBOWROOM_FAKE_HIP_PRIORITY=ignored
expect 0 "${run[@]}" "$work/gelu.json"
rows sequential concurrent shaped
refused priority 'priority: no effect on this driver ('
refused shaped_priority 'priority: no effect on this driver ('
export ELBOWROOM_FAKE_HIP_PRIORITY=none
expect 0 "${run[@]}" "$work/gelu.json"
refused priority 'priority: no effect on this driver (it offers one priority only)'
unset ELBOWROOM_FAKE_HIP_PRIORITY

# An older architecture, whose streams cannot wait for a word of memory by themselves.
ELBOWROOM_FAKE_HIP_ARCH=gfx906 expect 0 "${run[@]}" "$work/gelu.json"
says '(gfx906, '
rows sequential priority shaped_priority

# What keeps the backend from being used is one line.
ELBOWROOM_FAKE_HIP_DEVICES=0 expect 77 "${run[@]}" "$work/gelu.json"
complains 'backend hip: HIP 6.3.42134 shows no GPU'
ELBOWROOM_FAKE_HIP_ARCH=gfx1030 expect 77 "${run[@]}" "$work/gelu.json"
complains 'backend hip: GPU 0 (Fake AMD Instinct MI250X): architecture gfx1030, expected one of gfx906, gfx908, gfx90a, gfx942, gfx950'
ELBOWROOM_FAKE_HIP_FAIL=hipGetDeviceCount:999 expect 77 "${run[@]}" "$work/gelu.json"
complains 'backend hip: hipGetDeviceCount failed: '
ELBOWROOM_FAKE_HIP_FAIL=hipModuleLaunchKernel:719:20 expect 1 "${run[@]}" "$work/gelu.json"
grep -qF 'hipModuleLaunchKernel' "$err" || fail 'does not name the call that failed'
ELBOWROOM_HIP_LIBRARY=/no/libamdhip64.so expect 0 list
says 'AMD GPUs through HIP and RCCL - unusable'
[ "$(grep -c '^  hip ' "$out")" -eq 1 ] || fail 'not one line of hip'

finish
