#!/usr/bin/env bash
# cuptiActivityFlushAll(0) hands out completed buffers and, says its header, does not wait for kernels. With libcupti 13.0 (PyTorch
# 2.11.0+cu130, driver 580.159.04, H200) it returns within a millisecond beside a kernel of 0.5 s, and waits as long as a device's queue
# has no room: 0.36 s where another thread has launched small kernels behind the long one until its launches blocked (the long one had
# 0.36 s left). cuptiActivityEnable and cuptiActivityDisable returned within 0.3 ms in both cases.
# Seen: flush beside a kernel: 0.3 ms; with a full queue: 354.6 ms
# Exit code 77: no GPU, no PyTorch with CUDA 13.0.
set -euo pipefail
python3 - <<'P'
import ctypes, re, sys, threading, time
try:
    import torch
except ImportError:
    sys.exit(77)
if not torch.cuda.is_available() or torch.version.cuda != "13.0": sys.exit(77)
x = torch.zeros(1, device="cuda")
path = re.search(r"\S*/libcupti\.so\S*", open("/proc/self/maps").read())
if not path: sys.exit(77)
cupti, libc = ctypes.CDLL(path[0]), ctypes.CDLL(None)
libc.aligned_alloc.restype = ctypes.c_void_p
size = ctypes.POINTER(ctypes.c_size_t)
def request(buffer, length, most): buffer[0], length[0], most[0] = libc.aligned_alloc(8, 1 << 20), 1 << 20, 0
wanted = ctypes.CFUNCTYPE(None, ctypes.POINTER(ctypes.c_void_p), size, size)(request)
done = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_uint32, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_size_t)(lambda *_: None)
cupti.cuptiActivityRegisterCallbacks(wanted, done)
cupti.cuptiActivityEnable(10)  # CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL
def small_kernels():
    for _ in range(3000): x.add_(1)
def flush_takes(behind):
    torch.cuda._sleep(1_000_000_000)
    thread = threading.Thread(target=behind)
    thread.start()
    time.sleep(0.15)
    begin = time.monotonic()
    cupti.cuptiActivityFlushAll(0)
    took = time.monotonic() - begin
    thread.join()
    torch.cuda.synchronize()
    return took
alone, full = flush_takes(lambda: None), flush_takes(small_kernels)
print(f"flush beside a kernel: {alone * 1e3:.1f} ms; with a full queue: {full * 1e3:.1f} ms")
sys.exit(not (alone < 0.05 < 0.1 < full))
P
