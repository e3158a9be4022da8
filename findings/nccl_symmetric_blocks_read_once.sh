#!/usr/bin/env bash
# NCCL 2.30.7 reads NCCL_SYM_CTAS, the number of blocks of its kernels for symmetric memory, at the first collective of a process,
# also where that collective's buffers are not registered; NCCL 2.28.9 reads it at the first one whose buffers are.
# A program that sets the variable before it registers buffers, but after another collective, gets:
#   2.28.9: 12 blocks          2.30.7: NCCL's own number, and 12 with NCCL_NO_CACHE=NCCL_SYM_CTAS in the environment
# Seen on 2 x H200, PyTorch 2.11.0, driver 580.159.04. Needs two GPUs with NVLink, PyTorch, and NCCL of one of these versions, that of
# the environment or, preloaded, the library that NCCL_LIBRARY names. Exit code 77: one of them is missing.
set -euo pipefail
export NCCL_NVLS_ENABLE=0 LD_PRELOAD=${NCCL_LIBRARY:-}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cat >"$folder/blocks.py" <<'P'
import ctypes, os, sys
try:
    import torch, torch.distributed as dist
except ImportError:
    sys.exit(77)
if torch.cuda.device_count() < 2: sys.exit(77)
rank = int(os.environ["LOCAL_RANK"])
torch.cuda.set_device(rank)
dist.init_process_group("nccl", device_id=torch.device("cuda", rank))
nccl = ctypes.CDLL("libnccl.so.2")
version = ctypes.c_int()
nccl.ncclGetVersion(ctypes.byref(version))
if version.value not in (22809, 23007): sys.exit(77)
dist.all_reduce(torch.ones(1 << 20, device="cuda"))  # ordinary memory
torch.cuda.synchronize()
os.environ["NCCL_SYM_CTAS"] = "12"
size, pointer, window = 64 << 20, ctypes.c_void_p(), ctypes.c_void_p()
assert nccl.ncclMemAlloc(ctypes.byref(pointer), ctypes.c_size_t(size)) == 0
communicator = ctypes.c_void_p(dist.group.WORLD._get_backend(torch.device("cuda"))._comm_ptr())
assert nccl.ncclCommWindowRegister(communicator, pointer, ctypes.c_size_t(size), ctypes.byref(window), 1) == 0
stream = ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)
with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) as profile:
    assert nccl.ncclAllReduce(pointer, pointer, ctypes.c_size_t(size // 4), 7, 0, communicator, stream) == 0
    torch.cuda.synchronize()
if rank == 0:
    import json
    profile.export_chrome_trace(sys.argv[1])
    kernels = [e for e in json.load(open(sys.argv[1]))["traceEvents"] if e.get("cat") == "kernel" and "ncclSymk" in e["name"]]
    print(version.value, kernels[0]["args"]["grid"][0])
sys.stdout.flush()
os._exit(0)
P
blocks() {
  local code=0
  env "$@" python3 -m torch.distributed.run --nproc-per-node 2 "$folder/blocks.py" "$folder/trace.json" 2>"$folder/errors" || code=$?
  ((code == 0)) || { grep -q 'exitcode *: 77' "$folder/errors" && exit 77; python3 -c 'import torch' 2>/dev/null || exit 77; cat "$folder/errors" >&2; exit 1; }
}
kept=$(blocks A=1)
anew=$(blocks NCCL_NO_CACHE=NCCL_SYM_CTAS)
echo "version, blocks: $kept; with NCCL_NO_CACHE: $anew"
case $kept in
  "22809 12") [[ $anew == "22809 12" ]] ;;
  "23007 12") exit 1 ;;
  23007*) [[ $anew == "23007 12" ]] ;;
  *) exit 1 ;;
esac
