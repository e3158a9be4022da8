"""Ways to send an exchange of a step, each launched beside the stream that computes (exchange_steps.py measures them)."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import torch
import torch.distributed as dist
import torch.distributed._symmetric_memory as symmetric
from exchange_probe import Nccl


def bytes_of(x: torch.Tensor) -> torch.Tensor:
    return x.view(torch.uint8).view(-1)


class Slots:
    """Memory given out from its begin in every step: an exchange has the same place each time."""

    def __init__(self, memory: torch.Tensor) -> None:
        self.memory = memory
        self.next = 0

    def place(self, size: int) -> int:
        begin, self.next = self.next, self.next + size
        if self.next > self.memory.numel():
            raise RuntimeError(f"a step's exchanges take more than {self.memory.numel()} bytes")
        return begin

    def take(self, shape: tuple[int, ...], dtype: torch.dtype) -> torch.Tensor:
        size = math.prod(shape) * dtype.itemsize
        begin = self.place(size)
        return self.memory[begin : begin + size].view(dtype).view(shape)

    def holds(self, x: torch.Tensor) -> bool:
        return 0 <= x.data_ptr() - self.memory.data_ptr() < self.memory.numel()


class Machine:
    """A stream, a communicator and memory, which ways share."""

    def __init__(self, size: int) -> None:
        self._stream = torch.cuda.Stream(priority=-1)
        self._ordinary = torch.cuda.Stream()
        self._nccl = Nccl()
        self._communicator = self._nccl.communicator()
        self.inputs, self.outputs = (Slots(self._nccl.memory(size)) for _ in range(2))
        for slots in (self.inputs, self.outputs):
            self._nccl.register(self._communicator, slots.memory)
        self._arrivals = Slots(symmetric.empty(size, dtype=torch.uint8, device="cuda"))
        self._handle = symmetric.rendezvous(self._arrivals.memory, dist.group.WORLD)
        self._peers = [self._handle.get_buffer(peer, (size,), torch.uint8) for peer in range(dist.get_world_size())]

    def begin_step(self) -> None:
        self.inputs.next = self.outputs.next = self._arrivals.next = 0

    @contextmanager
    def beside(self, waits: list[Callable[[], None]], ordinary: bool = False) -> Iterator[None]:
        """Work behind what the current stream has; a wait for its end is added to `waits`."""
        stream = self._ordinary if ordinary else self._stream
        stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(stream):
            yield
            done = stream.record_event()
        waits.append(lambda: torch.cuda.current_stream().wait_event(done))

    def collective(self, operation: str, source: torch.Tensor, target: torch.Tensor) -> None:
        self._nccl.run(operation, self._communicator, bytes_of(source), bytes_of(target), torch.cuda.current_stream())

    def pushed(self, operation: str, source: torch.Tensor, shape: tuple[int, ...]) -> torch.Tensor:
        """No barrier before: since a peer last read this place, it has come to the barriers of a step's other exchanges."""
        ranks, rank, sent = dist.get_world_size(), dist.get_rank(), bytes_of(source)
        parts = [sent] * ranks if operation == "all_gather" else sent.chunk(ranks)
        arrived = self._arrivals.take(shape, source.dtype)
        begin = self._arrivals.next - len(parts[0]) * (ranks - rank)
        for turn in range(1, ranks + 1):
            peer = (rank + turn) % ranks
            self._peers[peer][begin : begin + len(parts[0])].copy_(parts[peer])
        self._handle.barrier(channel=0)
        return arrived


class TriedOut(Machine):
    """On CPUs."""

    def __init__(self, size: int) -> None:
        self.inputs, self.outputs, self._arrivals = (Slots(torch.zeros(size, dtype=torch.uint8)) for _ in range(3))

    @contextmanager
    def beside(self, waits: list[Callable[[], None]], ordinary: bool = False) -> Iterator[None]:
        yield

    def collective(self, operation: str, source: torch.Tensor, target: torch.Tensor) -> None:
        calls = {"all_to_all": dist.all_to_all_single, "all_gather": dist.all_gather_into_tensor, "reduce_scatter": dist.reduce_scatter_tensor}
        calls[operation](target, source)

    def pushed(self, operation: str, source: torch.Tensor, shape: tuple[int, ...]) -> torch.Tensor:
        arrived = self._arrivals.take(shape, source.dtype)
        self.collective(operation, source, arrived)
        return arrived


class Exchange:
    """One under way. The input is kept until the stream that uses the output waits."""

    def __init__(self, source: torch.Tensor) -> None:
        self.output = source
        self._source = source
        self.waits: list[Callable[[], None]] = []

    def wait(self) -> None:
        for wait in self.waits:
            wait()


class Way:
    """late, prompt, ordinary, windows, pushes or staged."""

    def __init__(self, machine: Machine, name: str) -> None:
        self._machine = machine
        self._name = name
        self.waits_at_once = name == "prompt"  # in backward passes

    def room(self, shape: tuple[int, ...], like: torch.Tensor) -> torch.Tensor:
        """Where an input is best produced."""
        return self._machine.inputs.take(shape, like.dtype) if self._name == "windows" else like.new_empty(shape)

    def start(self, operation: str, source: torch.Tensor) -> Exchange:
        source, ranks, machine = source.contiguous(), dist.get_world_size(), self._machine
        rows = {"all_to_all": len(source), "all_gather": len(source) * ranks, "reduce_scatter": len(source) // ranks}[operation]
        shape = (rows, *source.shape[1:])
        exchange = Exchange(source)
        if self._name in ("late", "prompt", "ordinary", "staged"):
            exchange.output = source.new_empty(shape)
        elif self._name == "windows":
            exchange.output = machine.outputs.take(shape, source.dtype)
        with machine.beside(exchange.waits, ordinary=self._name == "ordinary"):
            if self._name == "windows" and not machine.inputs.holds(source):
                source = machine.inputs.take(source.shape, source.dtype).copy_(source)
            if self._name == "pushes":
                exchange.output = machine.pushed(operation, source, shape)
            elif self._name == "staged":
                exchange.output.copy_(machine.pushed(operation, source, shape))
            else:
                machine.collective(operation, source, exchange.output)
        return exchange
