#!/usr/bin/env bash
# XLA has two flags for NCCL's symmetric buffers, by version of JAX, and ends a program that names one it lacks or gives it another type.
#
# PyPI jax-cuda13-pjrt 0.10.2 and 0.11.2 (xla_cuda_plugin.so), jax and jaxlib 0.11.2 on a CPU. No GPU.
#   0.10.2: xla_gpu_experimental_enable_nccl_symmetric_buffers    0.11.2: that and xla_enable_nccl_symmetric_buffers_for_collectives
# In the library a flag's name is a text of its own, between zero bytes; fields of messages hold it without.
#   XLA_FLAGS=...                                                   jax.devices()
#   --xla_gpu_experimental_enable_nccl_symmetric_buffers=true       works: a bool
#   --xla_enable_nccl_symmetric_buffers_for_collectives=all         works: a list, "op:size:op_type or op"
#   --xla_enable_nccl_symmetric_buffers_for_collectives=true        exit code 1
#   --xla_of_no_version=true                                        exit code 1, "Unknown flag in XLA_FLAGS"
# jaxlib reads the variable too, for its CPU client: a flag must be known to both.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
bool=xla_gpu_experimental_enable_nccl_symmetric_buffers
list=xla_enable_nccl_symmetric_buffers_for_collectives

flags() { # VERSION: which of the two its plugin has
  python3 -m pip -q download --no-deps -d "$work/$1" "jax-cuda13-pjrt==$1"
  python3 - "$work/$1"/*.whl "$bool" "$list" <<'PYTHON'
import sys, zipfile
with zipfile.ZipFile(sys.argv[1]) as wheel:
    library = wheel.read("jax_plugins/xla_cuda13/xla_cuda_plugin.so")
print(" ".join(name for name in sys.argv[2:] if b"\0" + name.encode() + b"\0" in library))
PYTHON
  rm -r "${work:?}/$1"
}
[ "$(flags 0.10.2)" = "$bool" ]
[ "$(flags 0.11.2)" = "$bool $list" ]
echo "0.10.2 has one of the flags, 0.11.2 both"

python=
for candidate in python3.14 python3.13 python3.12 python3; do
  if "$candidate" -c 'import sys; sys.exit(sys.version_info < (3, 12))' 2>/dev/null; then python=$candidate && break; fi
done
[ -n "$python" ] || { echo 'jax 0.11.2 needs Python 3.12: how it takes the flags was not run' >&2; exit 77; }
"$python" -m venv "$work/env"
"$work/env/bin/pip" -q install jax==0.11.2 jaxlib==0.11.2
code() { # FLAG: what a program with it ends with
  local code=0
  XLA_FLAGS=$1 JAX_PLATFORMS=cpu "$work/env/bin/python" -c 'import jax; jax.devices()' 2>"$work/errors" || code=$?
  echo "$code"
}
[ "$(code "--$bool=true")" = 0 ]
[ "$(code "--$list=all")" = 0 ]
[ "$(code "--$list=true")" = 1 ]
[ "$(code --xla_of_no_version=true)" = 1 ]
grep -q 'Unknown flag in XLA_FLAGS: --xla_of_no_version=true' "$work/errors"
echo 'an unknown flag, or a list that is given a bool, ends the program'
