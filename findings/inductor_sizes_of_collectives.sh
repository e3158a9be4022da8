#!/usr/bin/env bash
# PyTorch's compiler has two estimates of how long a collective takes, and they take it for other sizes: an all-gather of 8 ranks for an
# eighth, or an all-reduce for twice what it is.
#
# PyTorch 2.15.0 (PyPI), a fake process group of 8 ranks, no GPU. Collectives of 32 MiB in a compiled function, as torch._inductor.comm_analysis sees them:
# the scheduler's passes by estimate_nccl_collective_runtime, the graph's (overlap scheduling, bucketing) by ..._from_fx_node. Its model of NCCL is the same.
#                           scheduler              graph              the model asked for 32 MiB
#   all_reduce              32 MiB  300.7 us       64 MiB  545.3 us     300.7 us
#   all_gather_into_tensor   4 MiB   47.5 us       36 MiB  169.8 us     154.5 us
#   reduce_scatter_tensor   32 MiB  154.5 us       36 MiB  169.8 us     154.5 us
# The scheduler's size is the input, which for a gather is one rank's shard: a third of the time here. The graph's is input and output together. NCCL's own
# estimate goes before the graph's where a group has one; a group that is fake or of another library has none. Times are those of an A100's links, which
# the model takes without a GPU.
# So by the scheduler's figures computation of 50 us hides a gather that by the model takes 150, and a program that is compiled without GPUs is ordered by
# other figures than on them. Overlap that either pass reports is not to be compared with the other's.
set -euo pipefail
command -v python3 >/dev/null || { echo 'skipped: needs python3'; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/env"
"$work/env/bin/pip" -q install torch==2.15.0 numpy
cat >"$work/sizes.py" <<'PYTHON'
import torch
import torch._inductor.config as config
import torch.distributed as dist
import torch.distributed._functional_collectives as functional
from torch._inductor import comm_analysis, ir
from torch.testing._internal.distributed.fake_pg import FakeStore

RANKS, ELEMENTS = 8, 1 << 23  # 32 MiB of f32
SHORT = {"all_reduce_": "all_reduce"}
dist.init_process_group("fake", store=FakeStore(), rank=0, world_size=RANKS)
world = dist.group.WORLD


def row(name, by, size, milliseconds):
    name = SHORT.get(name, name)
    kind = comm_analysis.get_collective_type_from_kernel_name(name)
    model = comm_analysis.estimate_nccl_collective_runtime_impl(size, RANKS, kind)
    of_whole = comm_analysis.estimate_nccl_collective_runtime_impl(4 * ELEMENTS, RANKS, kind)
    same = "as the model says of that size" if milliseconds == model else "otherwise"
    print(name, by, size // 2**20, "MiB,", same)
    print(f"#   {1000 * milliseconds:.1f} us; of 32 MiB {1000 * of_whole:.1f} us")


def graph_estimates(graph):
    for node in graph.nodes:
        if node.op == "call_function" and "_c10d_functional" in str(node.target) and "wait" not in str(node.target):
            estimate = comm_analysis.estimate_nccl_collective_runtime_from_fx_node(node)
            row(str(node.target).split(".")[1], "graph", comm_analysis.estimate_fx_collective_size(node), estimate)


def scheduler_estimates(nodes):
    for node in (one.node for one in nodes):
        if isinstance(node, ir._CollectiveKernel) and not isinstance(node, ir._WaitKernel):
            size, estimate = comm_analysis.get_collective_input_size_bytes(node), comm_analysis.estimate_nccl_collective_runtime(node)
            row(node.python_kernel_name.split(".")[-2], "scheduler", size, estimate)
    return nodes


config.force_disable_caches = True
config.post_grad_custom_post_pass = graph_estimates
config.reorder_for_compute_comm_overlap = True
config.reorder_for_compute_comm_overlap_passes = [scheduler_estimates]
for function, elements in (
    (lambda x: functional.all_reduce(x, "sum", world) + 1, ELEMENTS),
    (lambda x: functional.all_gather_tensor(x, 0, world) + 1, ELEMENTS // RANKS),
    (lambda x: functional.reduce_scatter_tensor(x, "sum", 0, world) + 1, ELEMENTS),
):
    torch._dynamo.reset()
    torch.compile(function, fullgraph=True)(torch.ones(elements))
PYTHON
export TORCHINDUCTOR_CACHE_DIR=$work/cache CUDA_VISIBLE_DEVICES=
"$work/env/bin/python" "$work/sizes.py" >"$work/rows" 2>"$work/said" || { cat "$work/said" >&2; exit 1; }
cat "$work/rows"
diff <(grep -v '^#' "$work/rows") - <<'ROWS'
all_reduce graph 64 MiB, as the model says of that size
all_reduce scheduler 32 MiB, as the model says of that size
all_gather_into_tensor graph 36 MiB, as the model says of that size
all_gather_into_tensor scheduler 4 MiB, as the model says of that size
reduce_scatter_tensor graph 36 MiB, as the model says of that size
reduce_scatter_tensor scheduler 32 MiB, as the model says of that size
ROWS
echo 'as described'
