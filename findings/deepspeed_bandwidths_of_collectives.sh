#!/usr/bin/env bash
# DeepSpeed's communication logger says four times the bus bandwidth of nccl-tests for a reduce-scatter on four ranks, and counts all ranks for a group of two.
#
# DeepSpeed 0.19.8 and PyTorch 2.15.0 (PyPI), four ranks over Gloo, no GPU. Bytes that are divided by the measured time, in parts of the collective's
# 4 MiB; those of nccl-tests by its PERFORMANCE.md, which the logger names as its source:
#                                  algbw                    busbw
#                            DeepSpeed  nccl-tests    DeepSpeed  nccl-tests
#   all_reduce                    2.0       1.0            1.5       1.5
#   all_gather_into_tensor        1.0       1.0           0.75      0.75
#   reduce_scatter_tensor         4.0       1.0            3.0      0.75     the ranks times what is whole already
#   all_to_all_single             1.0       1.0           0.75      0.75
#   in groups of two of the four ranks:
#   all_reduce                    2.0       1.0            1.5       1.0
#   all_gather_into_tensor        2.0       1.0            1.5       0.5
#   reduce_scatter_tensor         4.0       1.0            3.0       0.5     six times
# DeepSpeed says Gbps, nccl-tests GB/s. So with ZeRO a reduce-scatter seems to exceed the links it runs on, and an all-gather of the same bytes and time
# does not. Gathers and reduce-scatters of small groups seem faster the more ranks the job has. The row's message size and latency can be used: the size is
# the shard for a gather and the whole for a reduce-scatter.
set -euo pipefail
command -v python3 >/dev/null || { echo 'skipped: needs python3'; exit 77; }
command -v g++ >/dev/null || { echo 'skipped: needs g++'; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/env"
"$work/env/bin/pip" -q install torch==2.15.0 numpy setuptools wheel
"$work/env/bin/pip" -q install deepspeed==0.19.8
export DS_ACCELERATOR=cpu TORCH_EXTENSIONS_DIR=$work/extensions MEETING=$work/meeting
cat >"$work/ranks.py" <<'PYTHON'
import os

import torch

RANKS, ELEMENTS = 4, 1 << 20


def rank_of(rank):
    os.environ.update(RANK=str(rank), LOCAL_RANK=str(rank), WORLD_SIZE=str(RANKS), MASTER_ADDR="127.0.0.1", MASTER_PORT="0")
    import deepspeed.comm as dist
    from deepspeed.comm import comm

    torch.distributed.init_process_group("gloo", init_method="file://" + os.environ["MEETING"], rank=rank, world_size=RANKS)
    dist.init_distributed("gloo", verbose=False)  # takes the group that is there
    pairs = [dist.new_group([0, 1]), dist.new_group([2, 3])]
    dist.configure(enabled=True, prof_all=True, verbose=False)
    whole = torch.ones(ELEMENTS)
    for title, group, ranks in (("all", None, RANKS), ("two", pairs[rank // 2], 2)):
        shard = torch.ones(ELEMENTS // ranks)
        dist.all_reduce(whole, group=group, log_name=f"all_reduce {title}")
        dist.all_gather_into_tensor(whole, shard, group=group, log_name=f"all_gather_into_tensor {title}")
        dist.reduce_scatter_tensor(shard, whole, group=group, log_name=f"reduce_scatter_tensor {title}")
        dist.all_to_all_single(torch.empty(ELEMENTS), whole, group=group, log_name=f"all_to_all_single {title}")
    if rank == 0:
        with open(os.environ["MEETING"] + ".rows", "w") as out:
            for name, sizes in comm.comms_logger.get_raw_data().items():
                for size, (_, milliseconds, *bandwidths) in sizes.items():  # Gbps
                    parts = (round(one[0] * milliseconds[0] * 1e6 / 8 / (4 * ELEMENTS), 3) for one in bandwidths)
                    print(name, size, *parts, file=out)
    dist.barrier()


if __name__ == "__main__":
    torch.multiprocessing.spawn(rank_of, nprocs=RANKS)
PYTHON
"$work/env/bin/python" "$work/ranks.py" >"$work/said" 2>&1 || { cat "$work/said" >&2; exit 1; }
cat "$MEETING.rows"
diff "$MEETING.rows" - <<'ROWS'
all_reduce all 4194304 2.0 1.5
all_gather_into_tensor all 1048576 1.0 0.75
reduce_scatter_tensor all 4194304 4.0 3.0
all_to_all_single all 4194304 1.0 0.75
all_reduce two 4194304 2.0 1.5
all_gather_into_tensor two 2097152 2.0 1.5
reduce_scatter_tensor two 4194304 4.0 3.0
all_to_all_single two 4194304 1.0 0.75
ROWS
echo 'as described'
