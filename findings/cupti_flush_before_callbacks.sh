#!/usr/bin/env bash
# CUPTI's header says of cuptiActivityFlushAll: CUPTI_ERROR_INVALID_OPERATION (7) "if not preceded by a successful call to
# cuptiActivityRegisterCallbacks". The libcupti of CUDA 13.0 (PyTorch 2.11.0+cu130, driver 580.159.04, H200) returns CUPTI_SUCCESS (0)
# in a process that has used a GPU and registered nothing. So the call cannot tell whether another profiler has registered callbacks.
# Exit code 77: no GPU, no PyTorch with CUDA 13.0.
set -euo pipefail
python3 - <<'P'
import ctypes, re, sys
try:
    import torch
except ImportError:
    sys.exit(77)
if not torch.cuda.is_available() or torch.version.cuda != "13.0": sys.exit(77)
torch.zeros(1, device="cuda")
path = re.search(r"\S*/libcupti\.so\S*", open("/proc/self/maps").read())
if not path: sys.exit(77)
code = ctypes.CDLL(path[0]).cuptiActivityFlushAll(0)
print(f"cuptiActivityFlushAll before callbacks: {code}")
sys.exit(code != 0)
P
