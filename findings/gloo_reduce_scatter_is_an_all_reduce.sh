#!/usr/bin/env bash
# PyTorch's reduce-scatter over Gloo is an all-reduce: it sends twice what a reduce-scatter must, and a trace calls it gloo:all_reduce.
#
# PyTorch 2.15.0 (PyPI), four ranks of one host, no GPU. Bytes that all ranks write into sockets, in parts of the collective's 4 MiB, and the annotation
# that torch.profiler shows for the call:
#   all_reduce               6.0   gloo:all_reduce
#   reduce_scatter_tensor    6.0   gloo:all_reduce      by a ring: 3.0
#   reduce_scatter           6.0   gloo:all_reduce
#   all_gather_into_tensor   3.0   gloo:all_gather      the same for all_gather
#   all_to_all_single        3.0   gloo:all_to_all
# So a step of FSDP2 with two gathers moves four such shares of 3.0 in a test on CPUs where rings move three. A reader of traces that counts collectives by
# these names finds no reduce-scatter; the operator beside it, c10d::_reduce_scatter_base_, tells. Gloo's calls have no record_param_comms: neither size nor
# group stands in the trace.
set -euo pipefail
command -v python3 >/dev/null || { echo 'skipped: needs python3'; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/env"
"$work/env/bin/pip" -q install torch==2.15.0 numpy
cat >"$work/ranks.py" <<'PYTHON'
import sys

import torch
import torch.distributed as dist
from torch.profiler import ProfilerActivity, profile

RANKS, ELEMENTS = 4, 1 << 20


def written():
    with open("/proc/self/io") as counts:
        return int(dict(line.split(": ") for line in counts)["wchar"])


def rank_of(rank, folder):
    dist.init_process_group("gloo", init_method=f"file://{folder}/meeting", rank=rank, world_size=RANKS)
    whole, shard = torch.ones(ELEMENTS), torch.ones(ELEMENTS // RANKS)
    rows = []
    for call in (
        lambda: dist.all_reduce(whole),
        lambda: dist.reduce_scatter_tensor(shard, whole),
        lambda: dist.reduce_scatter(shard, list(whole.chunk(RANKS))),
        lambda: dist.all_gather_into_tensor(whole, shard),
        lambda: dist.all_gather(list(whole.chunk(RANKS)), shard),
        lambda: dist.all_to_all_single(torch.empty(ELEMENTS), whole),
    ):
        call()
        dist.barrier()
        before = written()
        call()
        sent = torch.tensor([written() - before])
        with profile(activities=[ProfilerActivity.CPU]) as profiled:
            call()
        dist.barrier()
        dist.all_reduce(sent)
        names = {event.name for event in profiled.events()}
        operators = sorted(name for name in names if name.startswith("c10d::"))
        said = sorted(name for name in names if name.startswith("gloo:"))
        rows.append((*operators, *said, f"{sent.item() / (4 * ELEMENTS):.1f}", "sized" if "record_param_comms" in names else "no size"))
    if rank == 0:
        with open(f"{folder}/rows", "w") as out:
            for row in rows:
                print(*row, file=out)
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    torch.multiprocessing.spawn(rank_of, args=(sys.argv[1],), nprocs=RANKS)
PYTHON
"$work/env/bin/python" "$work/ranks.py" "$work" >"$work/said" 2>&1 || { cat "$work/said" >&2; exit 1; }
cat "$work/rows"
diff "$work/rows" - <<'ROWS'
c10d::allreduce_ gloo:all_reduce 6.0 no size
c10d::_reduce_scatter_base_ gloo:all_reduce 6.0 no size
c10d::reduce_scatter_ gloo:all_reduce 6.0 no size
c10d::_allgather_base_ gloo:all_gather 3.0 no size
c10d::allgather_ gloo:all_gather 3.0 no size
c10d::alltoall_base_ gloo:all_to_all 3.0 no size
ROWS
echo 'as described'
