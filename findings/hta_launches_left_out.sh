#!/usr/bin/env bash
# Holistic Trace Analysis does not count launches by cuLaunchKernelEx, cuBLASLt's and Triton's: a stream that has 9 kernels queued is said to have 1.
#
# HolisticTraceAnalysis 0.5.0 with pandas 3.1.1 (PyPI), Python 3.11, Linux x86-64. No GPU.
# 100 times, in a trace as torch.profiler writes it: 8 products and one elementwise kernel on a stream, all nine launched within 18 us and 50 us long each.
#   products launched by     get_cuda_kernel_launch_stats   get_queue_length_time_series, greatest
#   cudaLaunchKernelExC      900 launches, all              9
#   cuLaunchKernel           100                            9
#   cuLaunchKernelEx         100                            1
# In a published trace of a B200 cuLaunchKernelEx launches 220 of 768 kernels: cuBLASLt's and FlashInfer's products, attention and Triton's kernels. So launch
# delays and queue lengths are those of other kernels, and a host that is far ahead of such a stream looks as if it were not.
set -euo pipefail
command -v python3 >/dev/null || { echo 'skipped: needs python3'; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/env"
"$work/env/bin/pip" -q install HolisticTraceAnalysis==0.5.0 pandas==3.1.1
cat >"$work/launches.py" <<'PYTHON'
import json, pathlib, sys

from hta.trace_analysis import TraceAnalysis

STEPS, PRODUCTS = 100, 8


def trace(call):
    events = []

    def row(category, name, process, thread, begin, duration, number, **arguments):
        arguments |= {"External id": number, "correlation": number}
        events.append({"ph": "X", "cat": category, "name": name, "pid": process, "tid": thread, "ts": begin, "dur": duration, "args": arguments})

    row("user_annotation", "ProfilerStep#1", 9, 9, 0.0, 500.0 * STEPS, 1)
    for step in range(STEPS):
        for kernel in range(PRODUCTS + 1):
            number, product = 100 + 10 * step + kernel, kernel < PRODUCTS
            name = call if product else "cudaLaunchKernel"
            row("cuda_driver" if name.startswith("cu") and not name.startswith("cuda") else "cuda_runtime", name, 9, 9, 500.0 * step + 2 * kernel, 1.0, number)
            row("kernel", "nvjet_tst" if product else "elementwise", 0, 7, 500.0 * step + 20 + 51 * kernel, 50.0, number, device=0, stream=7)
    return {"schemaVersion": 1, "distributedInfo": {"backend": "nccl", "rank": 0, "world_size": 1}, "traceEvents": events}


for call in ("cudaLaunchKernelExC", "cuLaunchKernel", "cuLaunchKernelEx"):
    folder = pathlib.Path(sys.argv[1], call)
    folder.mkdir()
    path = folder / "rank0.json"
    path.write_text(json.dumps(trace(call)))
    analysis = TraceAnalysis(trace_files={0: str(path)}, trace_dir=str(folder))
    launches = analysis.get_cuda_kernel_launch_stats(visualize=False)[0]
    queue = analysis.get_queue_length_time_series()[0]
    print(call, len(launches), queue.queue_length.max())
PYTHON
seen=$("$work/env/bin/python" "$work/launches.py" "$work" 2>"$work/said" | grep -E '^cu[A-Za-z]+ [0-9]+ [0-9]+$') || { cat "$work/said" >&2; exit 1; }
echo "$seen"
[ "$seen" = 'cudaLaunchKernelExC 900 9
cuLaunchKernel 100 9
cuLaunchKernelEx 100 1' ]
echo 'as described'
