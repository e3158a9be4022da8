#!/usr/bin/env bash
# XProf's "Device collective communication" is the time in which a kernel whose name begins with "nccl" runs and no other does: hidden communication
# counts as nothing, and any other library's communication as computation, XLA's own all-reduce kernel too.
#
# xprof 2.24.2 (PyPI), Python 3.11, Linux x86-64. No GPU. Overview page of a profile of five equal steps: a kernel of 0.4 ms, and on another stream a
# second one of 0.4 ms. Milliseconds of a step:
#   second kernel                                            compute  collective  step
#   ncclDevKernel_AllReduce_Sum_bf16_RING_LL, behind             0.4         0.4   0.8
#   the same, half of it beside the first                        0.4         0.2   0.6
#   the same, all of it                                          0.4         0.0   0.4
#   stream_executor::gpu::AllReduceKernelImpl, behind            0.8         0.0   0.8    XLA's own (jax_own_all_reduce_kernel.sh)
#   nvshmemi_..., MemcpyP2P, behind                              0.8         0.0   0.8
# So a program that leaves NCCL for XLA's kernel, NVSHMEM or copies shows less communication and is not faster; and a collective that became slower where
# it is hidden, or slowed the computation beside it, shows nothing.
set -euo pipefail
command -v python3 >/dev/null || { echo 'skipped: needs python3'; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m venv "$work/env"
"$work/env/bin/pip" -q install xprof==2.24.2
cat >"$work/overview.py" <<'PYTHON'
import json, pathlib, sys

from xprof.convert import raw_to_tool_data

MS = 10**9  # in picoseconds


def number(value):
    out = b""
    while value > 127:
        out, value = out + bytes([value & 127 | 128]), value >> 7
    return out + bytes([value])


def field(tag, value):  # of a protocol buffer
    if isinstance(value, int):
        return number(tag << 3) + number(value)
    value = value.encode() if isinstance(value, str) else value
    return number(tag << 3 | 2) + number(len(value)) + value


def plane(identity, name, lines):  # XPlane; lines: (name, [(event, begin, duration, {statistic: value})])
    events, statistics, out = {}, {}, field(1, identity) + field(2, name)
    for index, (title, rows) in enumerate(lines):
        line = field(1, index + 1) + field(2, title) + field(3, 1000)
        for event, begin, duration, values in rows:
            stats = b"".join(field(4, field(1, statistics.setdefault(key, len(statistics) + 1)) + field(4, value)) for key, value in values.items())
            line += field(4, field(1, events.setdefault(event, len(events) + 1)) + field(2, begin) + field(3, duration) + stats)
        out += field(3, line)
    for tag, names in ((4, events), (5, statistics)):
        for text, key in names.items():
            out += field(tag, field(1, key) + field(2, field(1, key) + field(2, text)))
    return out


def profile(kernel, begin):
    host, first, second = [], [], []
    for step in range(5):
        at = step * MS
        host += [("train", at, MS, {"step_num": step, "_r": 1})]
        for row, (name, offset) in enumerate((("gemm_fusion", MS // 10), (kernel, begin))):
            called = {"correlation_id": 2 * step + row + 1}
            host.append(("cuLaunchKernelEx", at + (row + 1) * MS // 100, MS // 200, called))
            (first, second)[row].append((name, at + offset, 4 * MS // 10, called))
    gpu = [("Stream #13(Compute)", first), ("Stream #14(Compute)", second)]
    return field(1, plane(1, "/host:CPU", [("python", host)])) + field(1, plane(2, "/device:GPU:0", gpu)) + field(4, "host0")


def step_of(kernel, begin, folder):
    folder.mkdir()
    path = folder / "host0.xplane.pb"
    path.write_bytes(profile(kernel, begin))
    page, _ = raw_to_tool_data.xspace_to_tool_data([str(path)], "overview_page", {"use_saved_result": False})
    for table in json.loads(page):
        labels = [column["label"] for column in table.get("cols", [])]
        if "Device collective communication" in labels:
            cells = dict(zip(labels, (cell["v"] for cell in table["rows"][1]["c"])))
            return [cells[label] for label in ("Device compute", "Device collective communication", "Step time")]


NCCL = "ncclDevKernel_AllReduce_Sum_bf16_RING_LL"
OWN = "void stream_executor::gpu::AllReduceKernelImpl<float>"
rows = [(NCCL, 5), (NCCL, 3), (NCCL, 1), (OWN, 5), ("nvshmemi_fcollect", 5), ("MemcpyP2P", 5)]
for index, (kernel, begin) in enumerate(rows):
    print(kernel.split("::")[-1].split("<")[0], begin, *step_of(kernel, begin * MS // 10, pathlib.Path(sys.argv[1], str(index))))
PYTHON
seen=$("$work/env/bin/python" "$work/overview.py" "$work" 2>"$work/said") || { cat "$work/said" >&2; exit 1; }
echo "$seen"
[ "$seen" = 'ncclDevKernel_AllReduce_Sum_bf16_RING_LL 5 0.4 0.4 0.8
ncclDevKernel_AllReduce_Sum_bf16_RING_LL 3 0.4 0.2 0.6
ncclDevKernel_AllReduce_Sum_bf16_RING_LL 1 0.4 0.0 0.4
AllReduceKernelImpl 5 0.8 0.0 0.8
nvshmemi_fcollect 5 0.8 0.0 0.8
MemcpyP2P 5 0.8 0.0 0.8' ]
echo 'as described'
