"""A kernel of many blocks is launched right behind a collective, and its blocks take the SMs first."""

import common
import torch


def step_of(options, device):
    work = common.Work(options, device)
    buffer = work.buffer(options.mib / 2)
    large, result = (torch.ones(options.mib * 2 * common.MIB, device=device) for _ in range(2))

    def step() -> None:
        work.begin()
        reducing = common.reduce(buffer)
        torch.sin(large, out=result)
        reducing.wait()

    return step


if __name__ == "__main__":
    common.run("lost_race", step_of, __doc__)
