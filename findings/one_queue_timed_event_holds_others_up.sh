#!/usr/bin/env bash
# Under CUDA_DEVICE_MAX_CONNECTIONS=1, which Megatron-LM's users set, an event decides whether streams run side by side. With a time (what
# torch.cuda.Event(enable_timing=True) and profilers' ranges record), recorded behind a long kernel, it holds up every kernel that is launched later, on
# any stream, until the long one has ended; without a time it holds up none. Stream priorities change nothing. With two queues no record holds
# anything up. Driver 580.159.04, CUDA 13.0, PyTorch 2.11.0+cu130, H200.
# Exit code 77: no GPU, no PyTorch 2.11 with CUDA 13.0.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cat >"$work/one_queue.py" <<'P'
import sys, time
try:
    import torch
except ImportError:
    sys.exit(77)
if not torch.cuda.is_available() or torch.version.cuda != "13.0" or not torch.__version__.startswith("2.11."): sys.exit(77)
held = []
for priority in (0, -1):
    first, second = torch.cuda.Stream(priority=priority), torch.cuda.Stream()
    for timed in (False, True):
        shares = []
        for _ in range(7):
            behind, ended = torch.cuda.Event(enable_timing=timed), torch.cuda.Event()
            torch.cuda.synchronize()
            begin = time.perf_counter()
            with torch.cuda.stream(first):
                torch.cuda._sleep(20_000_000)
                behind.record()
            with torch.cuda.stream(second):
                torch.cuda._sleep(2_000)
                ended.record()
            while not ended.query(): pass
            short = time.perf_counter() - begin
            torch.cuda.synchronize()
            shares.append(short / (time.perf_counter() - begin))
        held.append(sorted(shares)[3] > 0.5)
print("held up by a record, priorities 0, 0 and -1, -1, without and with a time:", *held)
sys.exit(held != [sys.argv[1] == "1" and timed for _ in (0, 1) for timed in (False, True)])
P
CUDA_DEVICE_MAX_CONNECTIONS=1 python3 "$work/one_queue.py" 1
CUDA_DEVICE_MAX_CONNECTIONS=2 python3 "$work/one_queue.py" 2
