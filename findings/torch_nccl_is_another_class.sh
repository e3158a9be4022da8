#!/usr/bin/env bash
# PyTorch 2.15.0 (PyPI): "nccl" makes a ProcessGroupNCCL2, which is no ProcessGroupNCCL. Code that asks a backend for that class takes NCCL for
# another library, without an error, and FSDP2 and DDP programs go on without what stood behind the question.
# Seen, no GPU:
#   init_process_group("nccl")                           RuntimeError: nccl2 requires at least one CUDA device
#   the same with TORCH_DIST_USE_NCCL2=0                 ValueError: ProcessGroupNCCL is only supported with GPUs, no GPUs found!
#   issubclass(ProcessGroupNCCL2, ProcessGroupNCCL)      False
#   of both classes: _comm_ptr, register_mem_pool;       of ProcessGroupNCCL alone: get_runtime_nccl_version, uid, _set_default_timeout
# Whoever needs the communicator can ask a backend for _comm_ptr instead of its class. On 2 x H200 a tool that asked for the class changed nothing in DDP and
# FSDP2 programs that it had made 7 % faster with 2.11. 3 GB of wheels, some three minutes.
set -euo pipefail
command -v python3 >/dev/null || { echo 'skipped: needs python3'; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/env"
"$work/env/bin/pip" -q install torch==2.15.0 numpy >/dev/null
cat >"$work/ask.py" <<'PYTHON'
import socket
import sys

import torch.distributed as dist
from torch.distributed import distributed_c10d as c10d

if sys.argv[1] == "make":
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    try:
        dist.init_process_group("nccl", init_method=f"tcp://127.0.0.1:{port}", rank=0, world_size=1)
    except Exception as error:
        print(f"{type(error).__name__}: {str(error).splitlines()[0]}")
else:
    old, new = c10d.ProcessGroupNCCL, c10d.ProcessGroupNCCL2
    print(issubclass(new, old), *(hasattr(kind, name) for kind in (old, new) for name in sys.argv[2:]))
PYTHON
python="$work/env/bin/python"
failed=0
check() {  # NAME EXPECTED GOT
  echo "$1: $3"
  [[ $3 == "$2" ]] || { echo "expected: $2"; failed=1; }
}
export CUDA_VISIBLE_DEVICES=
check default 'RuntimeError: nccl2 requires at least one CUDA device' "$("$python" "$work/ask.py" make 2>/dev/null)"
check before 'ValueError: ProcessGroupNCCL is only supported with GPUs, no GPUs found!' "$(TORCH_DIST_USE_NCCL2=0 "$python" "$work/ask.py" make 2>/dev/null)"
check classes 'False True True True True True True False False' "$("$python" "$work/ask.py" names _comm_ptr register_mem_pool get_runtime_nccl_version uid 2>/dev/null)"
exit "$failed"
