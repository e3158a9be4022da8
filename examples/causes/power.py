"""Products keep the GPU at its power limit. A collective that they would hide at full clocks lasts a little longer than they do."""

import common
import torch
import torch.distributed as dist

ALONE, BESIDE = 6, 3  # products
SPIN_CYCLES = 200_000  # 0.1 ms of one thread: room for the collective to begin
TAIL = 0.1  # of the collective, with no product beside it


class Balanced:
    """As much to reduce as outlasts the products beside it by a tenth."""

    def __init__(self, options, device: torch.device) -> None:
        self._work = common.Work(options, device)
        self._buffer = self._work.buffer(4 * options.mib)
        self._elements = self._buffer.numel() // 2
        self._events = [torch.cuda.Event(enable_timing=True) for _ in range(3)]

    def step(self) -> None:
        begin, hidden, end = self._events
        self._work.begin()
        self._work.products(ALONE)
        begin.record()
        reducing = common.reduce(self._buffer[: self._elements])
        torch.cuda._sleep(SPIN_CYCLES)
        self._work.products(BESIDE)
        hidden.record()
        reducing.wait()
        end.record()

    def balance(self, rounds: int, steps: int) -> None:
        begin, hidden, end = self._events
        for _ in range(rounds):
            times = torch.zeros(2, device=self._buffer.device)
            for _ in range(steps):
                self.step()
                end.synchronize()
                times += torch.tensor([begin.elapsed_time(hidden), begin.elapsed_time(end)], device=self._buffer.device)
            dist.all_reduce(times)  # both ranks take one size
            products, whole = times.tolist()
            hides = whole < 1.005 * products
            self._elements = int(self._elements * (1.2 if hides else products / (1 - TAIL) / whole))
            self._elements = min(max(self._elements, 1), self._buffer.numel())


def step_of(options, device):
    if device.type != "cuda":
        common.loop.skip("clocks are those of GPUs")
    balanced = Balanced(options, device)
    balanced.balance(rounds=6, steps=4)
    return balanced.step


if __name__ == "__main__":
    common.run("power", step_of, __doc__)
