#!/usr/bin/env python3
"""Time and memory of `elbowroom explain` beside those of Holistic Trace Analysis and TraceLens, and on a trace of 1 GiB.

usage: explain_speed.py ELBOWROOM TRACE.json.gz [--rounds N] [--python PYTHON] [--tracelens PROGRAM] [--folder FOLDER]

TRACE is ddp-v100-19370-kernels.json.gz of HolisticTraceAnalysis (tests/data/df_index_resolver). PYTHON is one with
`pip install HolisticTraceAnalysis==0.5.0`; PROGRAM is TraceLens_generate_perf_report_pytorch of AMD-AGI/TraceLens, timed
whole. All read the same plain JSON, one process at a time and in turn; the median of N
rounds (5) counts, and for each the greatest memory of its process. HTA's time is that of reading the trace and `get_comm_comp_overlap`, without the imports. The trace of 1 GiB has the events of the small one twenty times, each time two seconds later and with correlations of its own.
"""

from __future__ import annotations

import argparse
import gzip
import multiprocessing
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HTA = """
import os, sys, time
from hta.trace_analysis import TraceAnalysis
begin, used = time.perf_counter(), time.process_time()
trace = TraceAnalysis(trace_files={1: sys.argv[1]}, trace_dir=os.path.dirname(sys.argv[1]))
overlap = trace.get_comm_comp_overlap(visualize=False)
print("seconds", time.perf_counter() - begin, "of the processor", time.process_time() - used)
"""
COPIES = 20
APART_US = 2_000_000
NUMBERS_APART = 10_000_000


def run(command: list[str]) -> tuple[float, float, int, str]:
    """Seconds on the clock and of the processors, KiB at most, what it printed."""
    begin = time.perf_counter()
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as process:
        text = process.stdout.read()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit(f"{' '.join(command)[:200]}: exit {process.returncode}")
    return time.perf_counter() - begin, usage.ru_utime + usage.ru_stime, usage.ru_maxrss, text


def large(small: Path, path: Path) -> None:
    text = small.read_text()
    head, rest = text.split('"traceEvents": [', 1)
    events, tail = rest.rsplit("]", 1)
    number = re.compile(r'("(?:ts|correlation|id|External id)": )(\d+)')
    parts = number.split(events)
    with path.open("w") as file:
        file.write(head + '"traceEvents": [')
        for copy in range(COPIES):
            moved = parts[:]
            for at in range(1, len(parts), 3):
                moved[at + 1] = str(int(parts[at + 1]) + copy * (APART_US if parts[at] == '"ts": ' else NUMBERS_APART))
            file.write(("," if copy else "") + "".join(moved))
        file.write("]" + tail)


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("elbowroom")
    parser.add_argument("trace", type=Path)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--python")
    parser.add_argument("--tracelens")
    parser.add_argument("--folder", type=Path)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(dir=arguments.folder) as folder:
        small = Path(folder) / "small.json"
        # A child's greatest memory counts what this process had when it began: this one stays small.
        with gzip.open(arguments.trace) as packed, small.open("wb") as plain:
            shutil.copyfileobj(packed, plain)
        ours, theirs, calls, reports = [], [], [], []
        for _ in range(arguments.rounds):
            ours.append(run([arguments.elbowroom, "explain", str(small)]))
            if arguments.python:
                theirs.append(run([arguments.python, "-c", HTA, str(small)]))
                found = re.search(r"seconds ([\d.e-]+) of the processor ([\d.e-]+)", theirs[-1][3])
                calls.append((float(found[1]), float(found[2])))
            if arguments.tracelens:
                reports.append(run([arguments.tracelens, "--profile_json_path", str(small), "--output_csvs_dir", str(Path(folder) / "report")]))
        wall, cpu = (statistics.median(one[i] for one in ours) for i in (0, 1))
        memory = max(one[2] for one in ours)
        print(f"{small.stat().st_size / 1e6:.1f} MB: explain {wall:.3f} s, {cpu:.3f} s of a processor, {memory / 1024:.1f} MiB")
        if theirs:
            their_wall, their_cpu = (statistics.median(one[i] for one in calls) for i in (0, 1))
            peak = max(one[2] for one in theirs)
            print(f"HTA, get_comm_comp_overlap: {their_wall:.2f} s, {their_cpu:.2f} s of a processor, {peak / 1024:.0f} MiB")
            print(f"explain is {their_wall / wall:.1f} times as fast by the clock, {their_cpu / cpu:.1f} times by processor time, in {memory / peak:.3f} of the memory")
        if reports:
            report_wall, report_cpu = (statistics.median(one[i] for one in reports) for i in (0, 1))
            print(f"TraceLens, its report: {report_wall:.2f} s, {report_cpu:.2f} s of a processor, {max(one[2] for one in reports) / 1024:.0f} MiB")
            print(f"explain is {report_wall / wall:.1f} times as fast by the clock, {report_cpu / cpu:.1f} times by processor time")
        big = Path(folder) / "big.json"
        maker = multiprocessing.Process(target=large, args=(small, big))
        maker.start()
        maker.join()
        wall, cpu, memory, _ = run(["taskset", "-c", "0", arguments.elbowroom, "explain", str(big)])
        print(f"{big.stat().st_size / 2**30:.2f} GiB on one core: {wall:.2f} s, {cpu:.2f} s of the processor, {memory / 1024:.0f} MiB")
    return 0


if __name__ == "__main__":
    sys.exit(main())
