#!/usr/bin/env bash
# PyTorch's TensorBoard plugin says that 93 % of a collective is hidden which nothing hides, and finds no communication in a trace of FSDP2.
#
# torch-tb-profiler 0.4.3 with tensorboard 2.21.0 and pandas 3.1.1 (PyPI), Python 3.11, Linux x86-64. No GPU.
# A step of 1,000 us: a product of 400 us, behind it a collective's kernel of 400 us, and the collective's annotation on the host (30 us) and on the GPU.
# The kernel has the External id of record_param_comms, not the annotation's, as in published traces of A100, MI300X and B200. In microseconds:
#   annotation                computation  overlap  communication
#   nccl:all_reduce                   800      400            430    the kernel counts as computation and hides its own annotation
#   the same on the host alone        800        0             30    what the host takes to call it (gpu_user_annotation is not in every trace)
#   nccl:_all_gather_base             800        0              0    FSDP2's; the plugin knows five names, this and _reduce_scatter_base are none
# 0.4.3, of 2023, is the newest. So its distributed view does not tell exposed communication from hidden, and its overview calls collectives kernels.
set -euo pipefail
command -v python3 >/dev/null || { echo 'skipped: needs python3'; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/env"
"$work/env/bin/pip" -q install torch-tb-profiler==0.4.3 tensorboard==2.21.0 pandas==3.1.1
cat >"$work/step.py" <<'PYTHON'
from torch_tb_profiler.profiler.data import RunProfileData


def trace(annotation, on_gpu):
    events = []

    def row(category, name, process, thread, begin, duration, **arguments):
        events.append({"ph": "X", "cat": category, "name": name, "pid": process, "tid": thread, "ts": begin, "dur": duration, "args": arguments})

    for step in range(3):
        at, number = 1000.0 * step, 100 + 10 * step
        product, titled, called = ({"External id": number + i} for i in (1, 2, 3))
        row("user_annotation", f"ProfilerStep#{step}", 9, 9, at, 1000.0, **{"External id": number})
        row("cpu_op", "aten::mm", 9, 9, at + 10, 20.0, **product)
        row("cuda_runtime", "cudaLaunchKernel", 9, 9, at + 12, 5.0, correlation=number, **product)
        row("kernel", "gemm", 0, 7, at + 100, 400.0, correlation=number, device=0, stream=7, **product)
        row("cpu_op", "record_param_comms", 9, 9, at + 40, 40.0, **called)
        row("user_annotation", annotation, 9, 9, at + 42, 30.0, **titled)
        row("cuda_runtime", "cudaLaunchKernelExC", 9, 9, at + 50, 5.0, correlation=number + 1, **called)
        row("kernel", "ncclDevKernel_AllReduce_Sum_bf16_RING_LL", 0, 20, at + 500, 400.0, correlation=number + 1, device=0, stream=20, **called)
        if on_gpu:
            row("gpu_user_annotation", annotation, 0, 20, at + 500, 400.0, **titled)
    return {"schemaVersion": 1, "distributedInfo": {"backend": "nccl", "rank": 0, "world_size": 2}, "traceEvents": events}


for annotation, on_gpu in (("nccl:all_reduce", True), ("nccl:all_reduce", False), ("nccl:_all_gather_base", True)):
    costs = RunProfileData.from_json("worker", "span", trace(annotation, on_gpu)).comm_overlap_costs[1]
    print(annotation, *(round(part) for part in (costs.computation, costs.overlap, costs.communication)))
PYTHON
seen=$("$work/env/bin/python" "$work/step.py" 2>"$work/said") || { cat "$work/said" >&2; exit 1; }
echo "$seen"
[ "$seen" = 'nccl:all_reduce 800 400 430
nccl:all_reduce 800 0 30
nccl:_all_gather_base 800 0 0' ]
echo 'as described'
