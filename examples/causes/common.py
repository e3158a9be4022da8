"""What the programs of this folder share: two ranks, the loop of examples/programs, sizes.

Each program has one cause of exposed communication and nothing else, as `elbowroom explain` names it. scripts/gpu/causes.sh records and checks
all of them:

    torchrun --nproc-per-node 2 examples/causes/late_peer.py --trace rank0.json
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "programs"))

import loop
import torch
import torch.distributed as dist

MIB = 1 << 20

Step = Callable[[], None]


class Work:
    """Products on the current stream, and a buffer to reduce. One product of 8,192 takes an H100 some 1.7 ms."""

    def __init__(self, options: loop.argparse.Namespace, device: torch.device) -> None:
        self.device = device
        self.kind = torch.bfloat16 if device.type == "cuda" else torch.float32
        size = options.size
        self._factors = [torch.randn(size, size, device=device, dtype=self.kind) for _ in range(2)]
        self._product = torch.empty(size, size, device=device, dtype=self.kind)
        self._word = torch.ones(1, device=device)

    def products(self, count: int) -> None:
        for _ in range(count):
            torch.mm(*self._factors, out=self._product)

    def begin(self) -> None:
        """A kernel that nothing else uses: explain finds steps by what repeats."""
        torch.relu_(self._product)

    def buffer(self, mebibytes: float) -> torch.Tensor:
        return torch.ones(max(int(mebibytes * MIB) // self.kind.itemsize, 1), device=self.device, dtype=self.kind)

    def meet(self) -> None:
        """Hosts of all ranks go on together: where each waits for its own GPU, one that is late once stays late."""
        reduce(self._word).wait()
        self.wait_for_kernels()

    def wait_for_kernels(self) -> None:
        """The host waits for what the current stream was given."""
        if self.device.type == "cuda":
            torch.cuda.current_stream().synchronize()


def reduce(buffer: torch.Tensor) -> dist.Work:
    """Begins when the current stream has come here, on the communicator's own stream."""
    return dist.all_reduce(buffer, op=dist.ReduceOp.MAX, async_op=True)


def run(cause: str, step_of: Callable[[loop.argparse.Namespace, torch.device], Step], doc: str | None) -> None:
    options = loop.parser(doc, size=8192, mib=512)
    options.set_defaults(steps=20)
    options = options.parse_args()
    with loop.ranks(options) as device:
        step = step_of(options, device)
        loop.run(cause, options, device, step, lambda: iter([torch.zeros(1, device=device)]))
