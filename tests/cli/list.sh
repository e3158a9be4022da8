#!/usr/bin/env bash
# `elbowroom list` shows every section, on a machine with GPUs and on one without.
. "$(dirname "$0")/checks.bash" || exit

expect 0 list
silent

# section TITLE WORD...: the lines below the title, up to the next title, have each word.
section() {
  local title=$1 lines word
  shift
  lines=$(awk -v title="$title" '/^[^ ]/ { inside = index($0, title) == 1; next } inside' "$out")
  [ -n "$lines" ] || fail "no section $title"
  for word in "$@"; do grep -qwF -- "$word" <<<"$lines" || fail "section $title lacks $word"; done
}

section Backends cuda hip sim
section Devices a40 a100 h100 h200 b200 mi250x mi300x
says '  h200           NVIDIA H200 SXM (sm_90, 132 SMs); fitted, 7.6 %'
says '  a100           NVIDIA A100 (sm_80, 108 SMs); extrapolated, 20 % or more'
says '  t4             NVIDIA T4 (sm_75, 40 SMs); not simulated'
section 'Communication kernels' nccl-2.28:512 nccl-2.28:544 nccl-2.30:640 nccl-2.30:symmetric nccl-2.32:544 rccl-5.2 rccl-6.2
section Suites quick paper controls library
section Schemes sequential concurrent priority shaped shaped_priority tuned green_context comm_blocks_only sm_target_only copy_engine
section Kernels tiled_gemm library_gemm elementwise gelu relu copy
section Collectives all_reduce all_gather reduce_scatter all_to_all broadcast all_to_all_v send_recv
section Controls blocks_per_sm priority launch_gate comm_blocks cluster sm_target comm_threads carveout comm_sms symmetric \
  copy_engine peer_detour windows_only
section 'Environment variables' ELBOWROOM_NCCL_LIBRARY ELBOWROOM_CUBLAS_LIBRARY ELBOWROOM_CUPTI_LIBRARY ELBOWROOM_HIP_LIBRARY \
  ELBOWROOM_HIPRTC_LIBRARY ELBOWROOM_RCCL_LIBRARY ELBOWROOM_ROCBLAS_LIBRARY ELBOWROOM_PROFILE \
  ELBOWROOM_RANK ELBOWROOM_RANKS ELBOWROOM_LOCAL_RANK ELBOWROOM_HOST ELBOWROOM_PORT ELBOWROOM_JOB ELBOWROOM_TOKEN ELBOWROOM_TOKEN_FILE

# Why a backend is unusable stands in doctor: a terminal of 80 columns shows each backend in one line.
if awk '/^[^ ]/ { inside = index($0, "Backends") == 1; next } inside && length > 80' "$out" | grep -q .; then fail 'a line of a backend is longer than 80 columns'; fi

finish
