#!/usr/bin/env bash
# XLA reduces by a kernel of its own instead of NCCL's unless told otherwise, where it can: the default changed between JAX 0.10.0 and 0.10.1.
#
# PyPI jax and jaxlib 0.10.0, 0.10.1, 0.11.2 and 0.12.0.1 on a CPU, jax-cuda13-pjrt 0.12.0.1 unpacked. No GPU. --xla_dump_to writes a file
# *.debug_options that names the options which differ from their defaults, for GPUs too:
#   --xla_gpu_unsupported_use_all_reduce_one_shot_kernel=true     0.10.0 names it (off by default); 0.10.1 names it where it is given false
#   --xla_gpu_experimental_use_collective_kernels=+ALL_GATHER     0.11.2, 0.12.0.1: ALL_GATHER and ALL_REDUCE, which was there; 0.10.1: exit code 1
#   --xla_gpu_enable_command_buffer=+COLLECTIVES                  0.12.0.1 has COLLECTIVES_KERNEL besides, 0.11.2 does not: these kernels are recorded
#                                                                 into CUDA graphs
# The kernel is stream_executor::gpu::AllReduceKernelImpl. So after `pip install -U jax` fewer rows of a trace are called nccl, no NCCL_* variable and
# no tuner or profiler plugin of NCCL sees those all-reduces, and profilers that show a graph as one row do not show them.
# An option that takes a list and is given an empty one is not in the file: a default list cannot be told from none by leaving it out.
set -euo pipefail
python=
for candidate in python3.14 python3.13 python3.12 python3; do
  if "$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 12))' 2>/dev/null; then python=$candidate && break; fi
done
[ -n "$python" ] || { echo 'skipped: jax 0.11.2 needs Python 3.12'; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for version in 0.10.0 0.10.1 0.11.2 0.12.0.1; do
  "$python" -m venv "$work/$version"
  "$work/$version/bin/pip" -q install "jax==$version" "jaxlib==$version"
done
differs() { # VERSION FLAG: the options for GPUs that differ, without their prefix; the exit code is the program's
  rm -rf "$work/dump"
  XLA_FLAGS="--xla_dump_to=$work/dump $2" JAX_PLATFORMS=cpu "$work/$1/bin/python" -c 'import jax; jax.jit(lambda x: x + 1)(1.0)' 2>"$work/said" || return
  sed -n 's/^xla_gpu_//p' "$work"/dump/*.debug_options | xargs
}
one_shot=--xla_gpu_unsupported_use_all_reduce_one_shot_kernel
kernels=--xla_gpu_experimental_use_collective_kernels=+ALL_GATHER
both='experimental_use_collective_kernels: COLLECTIVE_KERNEL_ALL_GATHER experimental_use_collective_kernels: COLLECTIVE_KERNEL_ALL_REDUCE'
[ "$(differs 0.10.0 $one_shot=true)" = 'unsupported_use_all_reduce_one_shot_kernel: true' ]
[ -z "$(differs 0.10.0 $one_shot=false)" ]
[ -z "$(differs 0.10.1 $one_shot=true)" ]
[ "$(differs 0.10.1 $one_shot=false)" = 'unsupported_use_all_reduce_one_shot_kernel: false' ]
echo 'off in 0.10.0, on in 0.10.1'
code=0
differs 0.10.1 $kernels || code=$?
[ "$code" = 1 ]
[ "$(differs 0.11.2 $kernels)" = "$both" ]
[ "$(differs 0.12.0.1 $kernels)" = "$both" ]
echo 'a list with ALL_REDUCE in 0.11.2 and 0.12.0.1'
[[ $(differs 0.11.2 --xla_gpu_enable_command_buffer=+COLLECTIVES) != *COLLECTIVES_KERNEL* ]]
[[ $(differs 0.12.0.1 --xla_gpu_enable_command_buffer=+COLLECTIVES) == *COLLECTIVES_KERNEL* ]]
echo 'in CUDA graphs from 0.12.0.1 on'
"$python" -m pip -q download --no-deps -d "$work/wheel" jax-cuda13-pjrt==0.12.0.1
"$python" - "$work"/wheel/*.whl <<'PYTHON'
import sys, zipfile
with zipfile.ZipFile(sys.argv[1]) as wheel:
    library = wheel.read("jax_plugins/xla_cuda13/xla_cuda_plugin.so")
sys.exit(b"_ZN15stream_executor3gpu19AllReduceKernelImplIf" not in library)
PYTHON
echo 'as described'
