#!/usr/bin/env bash
# Two readers of Nsight Systems' SQLite exports say that 72.5 % of the communication is hidden where none is, and that none is where all is.
#
# nsys-ai 0.3.0 and nsys-tui 0.1.5 (PyPI), Python 3.11, Linux x86-64. No GPU. Both take "CUPTI_ACTIVITY_KIND_KERNEL where deviceId = N" for GPU N.
#   ranks.sqlite: two ranks in one export, each with one visible GPU (TARGET_INFO_CUDA_DEVICE: gpuId 0 and 1, cudaId 0 for both), so that deviceId is 0
#     for both. Each computes 4 ms and then reduces 4 ms, ten times, one rank 4 ms behind the other:
#       one rank:   Overlap:       0.0ms (0.0% of NCCL overlapped)
#       both ranks: Overlap:      58.0ms (72.5% of NCCL overlapped)
#   graph.sqlite: ten all-reduces of 4 ms beside CUDA graphs of 8 ms, as nsys records them unless told --cuda-graph-trace=node: a row of
#     CUPTI_ACTIVITY_KIND_GRAPH_TRACE each and no row for their kernels. A kernel of 1 ms follows each graph:
#       Overlap:       0.0ms (0.0% of NCCL overlapped), Idle:          49.0ms
# deviceId is a process's own number: a GPU is globalPid and deviceId together. Record launchers that set CUDA_VISIBLE_DEVICES for each rank with an
# export for each rank.
set -euo pipefail
command -v python3 >/dev/null || { echo 'skipped: needs python3'; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/env"
"$work/env/bin/pip" -q install nsys-ai==0.3.0 nsys-tui==0.1.5
cat >"$work/export.py" <<'PYTHON'
import sqlite3, sys

MS = 1_000_000
TABLES = """
CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE TARGET_INFO_GPU (id INTEGER, name TEXT, busLocation TEXT, totalMemory INTEGER, memoryBandwidth INTEGER, smCount INTEGER, chipName TEXT);
CREATE TABLE TARGET_INFO_CUDA_DEVICE (gpuId INTEGER, cudaId INTEGER, pid INTEGER, uuid TEXT, numMultiprocessors INTEGER);
CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (start INTEGER, end INTEGER, deviceId INTEGER, contextId INTEGER, streamId INTEGER, correlationId INTEGER,
  globalPid INTEGER, demangledName INTEGER, shortName INTEGER, gridX INTEGER, gridY INTEGER, gridZ INTEGER, blockX INTEGER, blockY INTEGER, blockZ INTEGER);
CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (start INTEGER, end INTEGER, globalTid INTEGER, correlationId INTEGER, nameId INTEGER, returnValue INTEGER);
CREATE TABLE CUPTI_ACTIVITY_KIND_GRAPH_TRACE (start INTEGER, end INTEGER, deviceId INTEGER, graphId INTEGER, contextId INTEGER, streamId INTEGER,
  correlationId INTEGER, globalPid INTEGER);
CREATE TABLE NVTX_EVENTS (start INTEGER, end INTEGER, eventType INTEGER, text TEXT, globalTid INTEGER, textId INTEGER);
"""
NAMES = ("gemm", "ncclDevKernel_AllReduce_Sum_bf16_RING_LL")


def export(path, kernels, graphs=()):  # both in (rank, begin, end), kernels with their name
    base = sqlite3.connect(path)
    base.executescript(TABLES)
    base.executemany("INSERT INTO StringIds VALUES (?, ?)", enumerate(NAMES))
    process = [(1 << 56) | ((1001 + rank) << 24) for rank in range(2)]
    for rank in range(2):
        base.execute("INSERT INTO TARGET_INFO_GPU VALUES (?, 'NVIDIA H200', ?, 0, 0, 132, 'GH100')", (rank, f"0000:0{rank}:00.0"))
        base.execute("INSERT INTO TARGET_INFO_CUDA_DEVICE VALUES (?, 0, ?, '', 132)", (rank, 1001 + rank))
    for number, (name, rank, begin, end) in enumerate(kernels):
        stream, name = (20, 1) if name.startswith("nccl") else (7, 0)
        base.execute("INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (?, ?, 0, 1, ?, ?, ?, ?, ?, 24, 1, 1, 512, 1, 1)",
                     (begin, end, stream, number, process[rank], name, name))
    for number, (rank, begin, end) in enumerate(graphs):
        base.execute("INSERT INTO CUPTI_ACTIVITY_KIND_GRAPH_TRACE VALUES (?, ?, 0, 1, 1, 7, ?, ?)", (begin, end, 1000 + number, process[rank]))
    base.commit()


def rank_rows(rank):
    for step in range(1, 11):
        begin = (10 * step + 4 * rank) * MS
        yield "gemm", rank, begin, begin + 4 * MS
        yield NAMES[1], rank, begin + 4 * MS, begin + 8 * MS


folder = sys.argv[1]
export(f"{folder}/rank.sqlite", list(rank_rows(0)))
export(f"{folder}/ranks.sqlite", [*rank_rows(0), *rank_rows(1)])
begins = [10 * step * MS for step in range(1, 11)]
export(f"{folder}/graph.sqlite", [row for at in begins for row in ((NAMES[1], 0, at, at + 4 * MS), ("gemm", 0, at + 8 * MS, at + 9 * MS))],
       [(0, at, at + 8 * MS) for at in begins])
PYTHON
python3 "$work/export.py" "$work"
for reader in nsys-ai nsys-tui; do
  says() { # EXPORT: what the reader says of GPU 0, the whole recording; tools without a network fetch no extension, which ends no run
    (cd "$work" && "$work/env/bin/$reader" overlap "$1.sqlite" --gpu 0 --trim 0 1 2>/dev/null) | sed -nE 's/^ *(Overlap|Idle): +/\1: /p' | xargs
  }
  for export in rank ranks graph; do echo "$reader $export: $(says "$export")"; done
  [ "$(says rank)" = 'Overlap: 0.0ms (0.0% of NCCL overlapped) Idle: 18.0ms' ]
  [ "$(says ranks)" = 'Overlap: 58.0ms (72.5% of NCCL overlapped) Idle: 0.0ms' ]
  [ "$(says graph)" = 'Overlap: 0.0ms (0.0% of NCCL overlapped) Idle: 49.0ms' ]
done
echo 'as described'
