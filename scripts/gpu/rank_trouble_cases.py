#!/usr/bin/env python3
"""One rank of scripts/gpu/rank_trouble.py: steps of products beside sums whose results are known to the bit, in one kind of trouble.

usage: rank_trouble_cases.py CASE cuda|cpu      started as a rank; prints one JSON line where it comes to the end
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from collections.abc import Callable
from datetime import timedelta

import launched
import torch
import torch.distributed as dist

DEVICE = sys.argv[2]
ON_GPU = DEVICE == "cuda"
STEPS = 120
TROUBLE_AT = 60  # when comparing has begun, and before a choice
LATE_SECONDS = 2.0
PEER_SECONDS = 40  # after these a rank gives up a peer that is gone
ELEMENTS = (8 << 20) if ON_GPU else 1 << 12
WIDTH = 2048 if ON_GPU else 32


class Loop:
    """A step sums each of `parts` over the ranks of its group while products run. Counts sums that are not the mean of whole numbers."""

    def __init__(self, groups: list[dist.ProcessGroup | None]) -> None:
        self.groups = groups
        self.parts = [torch.empty(ELEMENTS // (place + 1), device=DEVICE) for place in range(len(groups))]
        self.left = torch.ones(WIDTH, WIDTH, device=DEVICE, dtype=torch.bfloat16)
        self.wrong = torch.zeros((), dtype=torch.int64, device=DEVICE)
        self.steps = 0

    def begun(self) -> list[dist.Work]:
        return [dist.all_reduce(part, group=group, async_op=True) for part, group in zip(self.parts, self.groups)]

    def products(self) -> None:
        for _ in range(6):
            self.left = (self.left @ self.left).clamp_(0, 1)

    def step(self) -> None:
        turn = self.steps % 5 + 1
        self.steps += 1
        for part in self.parts:
            part.fill_(turn * (dist.get_rank() + 1))
        works = self.begun()
        self.products()
        for work in works:
            work.wait()
        self.check(turn)

    def check(self, turn: int) -> None:
        ranks = dist.get_world_size()
        for part in self.parts:
            self.wrong += (part != turn * ranks * (ranks + 1) // 2).sum()

    def run(self, steps: int = STEPS, before: Callable[[int], None] = lambda step: None) -> Loop:
        for step in range(steps):
            before(step)
            self.step()
        return self


def on_rank_1(at: int, what: Callable[[], object]) -> Callable[[int], None]:
    return lambda step: what() if dist.get_rank() == 1 and step == at else None


def late() -> Loop:
    return Loop([None]).run(before=lambda step: time.sleep(LATE_SECONDS) if dist.get_rank() == 1 and step in (5, 40, TROUBLE_AT) else None)


def killed() -> Loop:
    return Loop([None]).run(before=on_rank_1(TROUBLE_AT, lambda: os.kill(os.getpid(), signal.SIGKILL)))


def ended_early() -> Loop:
    return Loop([None]).run(before=on_rank_1(TROUBLE_AT, lambda: os._exit(0)))


def fail() -> None:
    raise RuntimeError("as if a batch were damaged")


def raises() -> Loop:
    return Loop([None]).run(before=on_rank_1(TROUBLE_AT, fail))


def elastic() -> Loop:
    first = os.environ["TORCHELASTIC_RESTART_COUNT"] == "0"
    return Loop([None]).run(before=on_rank_1(TROUBLE_AT if first else -1, fail))


def communicators() -> Loop:
    return Loop([None, dist.new_group(), dist.new_group()]).run()


def grouped() -> Loop:
    loop = Loop([None, None, None])

    def together() -> list[dist.Work]:
        with dist._coalescing_manager(device=torch.device(DEVICE), async_ops=True) as works:
            for part in loop.parts:
                dist.all_reduce(part)
        return [works]

    loop.begun = together
    return loop.run()


def remade() -> Loop:
    """The process group is destroyed and made anew between steps."""
    first = Loop([None]).run(TROUBLE_AT)
    if ON_GPU:
        torch.cuda.synchronize()
    dist.destroy_process_group()
    join("again")
    second = Loop([None]).run(TROUBLE_AT)
    second.wrong += first.wrong
    return second


def captured() -> Loop:
    """Half of the steps are one CUDA graph."""
    loop = Loop([None]).run(10)
    if not ON_GPU:
        return loop
    torch.cuda.synchronize()
    with torch.cuda.stream(torch.cuda.Stream()):
        loop.run(3)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        loop.step()
    for _ in range(STEPS):
        graph.replay()
        loop.step()
    return loop


SPIN = """
extern "C" __global__ void wait_for_peer(volatile int* own, volatile int* peer, int turn) {
  if (threadIdx.x == 0) {
    *own = turn;
    __threadfence_system();
    while (*peer < turn) { }
  }
}
"""


def spinning() -> Loop:
    """A kernel waits for the peer's, as barriers on symmetric memory do; the peer launches its own before its sum, this rank behind it."""
    loop = Loop([None])
    if not ON_GPU:
        return loop.run()
    kernel = torch.cuda._compile_kernel(SPIN, "wait_for_peer")
    flags = shared_flags()
    aside = torch.cuda.Stream()

    def meet(turn: int) -> None:
        with torch.cuda.stream(aside):
            kernel((1, 1, 1), (32, 1, 1), (flags[dist.get_rank()], flags[1 - dist.get_rank()], turn))

    plain = loop.begun

    def begun() -> list[dist.Work]:
        if dist.get_rank() == 1:
            meet(loop.steps)
            aside.synchronize()
        works = plain()
        if dist.get_rank() == 0:
            meet(loop.steps)
        return works

    loop.begun = begun
    return loop.run()


def shared_flags() -> list[torch.Tensor]:
    """An integer of each rank, on its GPU, that all ranks can read and write."""
    flags = flags_of_peers() if torch.cuda.device_count() >= dist.get_world_size() else flags_of_one_gpu()
    torch.cuda.synchronize()
    dist.barrier()
    return flags


def flags_of_peers() -> list[torch.Tensor]:
    import torch.distributed._symmetric_memory as symmetric

    own = symmetric.empty(1 << 10, dtype=torch.int32, device=DEVICE).zero_()
    memory = symmetric.rendezvous(own, dist.group.WORLD)
    return [own if rank == dist.get_rank() else memory.get_buffer(rank, own.shape, own.dtype) for rank in range(dist.get_world_size())]


def flags_of_one_gpu() -> list[torch.Tensor]:
    """Symmetric memory refuses ranks that share a GPU."""
    from torch.multiprocessing.reductions import reduce_tensor

    own = torch.zeros(1 << 10, dtype=torch.int32, device=DEVICE)
    handles: list[object] = [None] * dist.get_world_size()
    dist.all_gather_object(handles, reduce_tensor(own))
    return [own if rank == dist.get_rank() else make(*values) for rank, (make, values) in enumerate(handles)]


CASES = {
    "late": late,
    "killed": killed,
    "ended_early": ended_early,
    "raises": raises,
    "elastic": elastic,
    "communicators": communicators,
    "grouped": grouped,
    "remade": remade,
    "captured": captured,
    "spinning": spinning,
    "spinning_named": spinning,
}


def join(again: str = "") -> None:
    device = torch.device("cuda", torch.cuda.current_device()) if ON_GPU else None
    store = dist.TCPStore(os.environ["MASTER_ADDR"], int(os.environ["MASTER_PORT"]), is_master=False) if again else None
    where = {"store": dist.PrefixStore(again, store), "rank": int(os.environ["RANK"]), "world_size": int(os.environ["WORLD_SIZE"])} if again else {}
    dist.init_process_group("nccl" if ON_GPU else "gloo", timeout=timedelta(seconds=PEER_SECONDS), device_id=device, **where)


def main() -> None:
    if ON_GPU:
        torch.cuda.set_device(launched.own_device(int(os.environ["LOCAL_RANK"]), torch))
    # Ranks that are started anew may meet in PyTorch's store what the ranks before them left there, NCCL's address among it.
    attempt = os.environ["TORCHELASTIC_RESTART_COUNT"]
    join("" if attempt == "0" else f"attempt {attempt}")
    loop = CASES.get(sys.argv[1], lambda: Loop([None]).run())()
    line = json.dumps({"rank": dist.get_rank(), "wrong": int(loop.wrong), "steps": loop.steps})
    os.write(sys.stdout.fileno(), f"{line}\n".encode())  # in one piece: the other rank writes to the same place
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
