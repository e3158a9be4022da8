#!/usr/bin/env python3
"""Blocks of collectives under budgets that change while a program runs, and of symmetric kernels (2 GPUs, NCCL 2.28 or later, under 60 s).

    python3 scripts/gpu/budget_probe.py build/release/lib/libelbowroom_interposer.so

Starts torchrun three times with the library preloaded: budgets of 0, 8, 16 and 4 blocks in turns of 64 all-reduces; symmetric memory as NCCL
launches it; and with `symmetric_blocks 16`. Each rank prints one JSON line with the blocks of its kernels in order, as [blocks, how many in a row].
Fails (1) where sums are wrong, ranks differ, or the blocks are not as asked.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from itertools import groupby
from pathlib import Path

STEPS = 300  # four turns of 64 and the begin of the next


def blocks_of(trace: Path) -> list[int]:
    events = json.loads(trace.read_text())["traceEvents"]
    kernels = [event for event in events if event.get("cat") == "kernel" and "nccl" in event["name"]]
    return [event["args"]["grid"][0] for event in sorted(kernels, key=lambda event: event["ts"])]


def rank_main(mode: str, folder: Path) -> None:
    import torch
    import torch.distributed as dist

    rank = int(os.environ["LOCAL_RANK"])
    torch.cuda.set_device(rank)
    dist.init_process_group("nccl", device_id=torch.device("cuda", rank))
    world = dist.get_world_size()
    if mode == "budgets":
        data = torch.empty(8 << 20, device="cuda")
        steps = STEPS
    else:
        backend = dist.group.WORLD._get_backend(torch.device("cuda"))
        dist.all_reduce(torch.zeros(1, device="cuda"))
        pool = torch.cuda.MemPool(backend.mem_allocator)
        with torch.cuda.use_mem_pool(pool):
            data = torch.empty(16 << 20, device="cuda")
        backend.register_mem_pool(pool, symm=True)
        steps = 8
    right = True
    with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.CUDA]) as profiler:
        for step in range(steps):
            data.fill_(step + rank)
            dist.all_reduce(data)
            if step % 16 == 0:  # keeps the host near the device, as a training step does
                expected = world * step + world * (world - 1) / 2
                right = right and bool((data == expected).all())
        torch.cuda.synchronize()
    trace = folder / f"{mode}-{rank}.json"
    profiler.export_chrome_trace(str(trace))
    runs = [[blocks, len(list(same))] for blocks, same in groupby(blocks_of(trace))]
    print(json.dumps({"mode": mode, "rank": rank, "right": right, "blocks": runs}), flush=True)
    if mode != "budgets":
        backend.deregister_mem_pool(pool)
    dist.destroy_process_group()


def launch(mode: str, library: Path, rules: str, folder: Path) -> list[dict]:
    rules_file = folder / f"{mode}.rules"
    rules_file.write_text(rules)
    environment = dict(os.environ, LD_PRELOAD=str(library), ELBOWROOM_RUN_POLICY="observe", NCCL_NVLS_ENABLE="0",
                       ELBOWROOM_RUN_RULES=str(rules_file), ELBOWROOM_RUN_JOB=folder.name)
    if mode == "budgets":
        environment["NCCL_TUNER_PLUGIN"] = str(library)
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2", __file__, "--rank", mode, str(folder)]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=120)
    lines = [json.loads(line) for line in done.stdout.splitlines() if line.startswith('{"mode"')]
    if done.returncode != 0 or len(lines) != 2:
        sys.stderr.write(done.stdout + done.stderr)
        sys.exit(f"{mode}: exit code {done.returncode}, {len(lines)} ranks reported")
    return sorted(lines, key=lambda line: line["rank"])


def main() -> int:
    library = Path(sys.argv[1]).resolve()
    wrong = []
    with tempfile.TemporaryDirectory(prefix="elbowroom-probe-") as name:
        folder = Path(name)
        modes = {"budgets": "budget 0 8 16 4 every 64\n", "symmetric_plain": "timing off\n", "symmetric_16": "symmetric_blocks 16\n"}
        for mode, rules in modes.items():
            ranks = launch(mode, library, rules, folder)
            for rank in ranks:
                print(json.dumps(rank))
            if not all(rank["right"] for rank in ranks):
                wrong.append(f"{mode}: wrong sums")
            if ranks[0]["blocks"] != ranks[1]["blocks"]:
                wrong.append(f"{mode}: the ranks differ")
            seen = {blocks for blocks, _ in ranks[0]["blocks"]}
            if mode == "budgets" and not {4, 8, 16} <= seen:
                wrong.append(f"{mode}: blocks {sorted(seen)}, expected 4, 8 and 16 among them")
            if mode == "symmetric_16" and 16 not in seen:
                wrong.append(f"{mode}: blocks {sorted(seen)}, expected 16")
    for line in wrong:
        print(line, file=sys.stderr)
    return 1 if wrong else 0


if __name__ == "__main__":
    if len(sys.argv) == 4 and sys.argv[1] == "--rank":
        rank_main(sys.argv[2], Path(sys.argv[3]))
    elif len(sys.argv) == 2:
        sys.exit(main())
    else:
        sys.exit(__doc__)
