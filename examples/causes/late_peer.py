"""Rank 1 computes twice as long as rank 0, which waits for it in a small collective."""

import common
import torch.distributed as dist


def step_of(options, device):
    work = common.Work(options, device)
    buffer = work.buffer(options.mib / 128)
    products = 8 if dist.get_rank() == 1 else 4

    def step() -> None:
        work.begin()
        work.products(products)
        common.reduce(buffer).wait()

    return step


if __name__ == "__main__":
    common.run("late_peer", step_of, __doc__)
