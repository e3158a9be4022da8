"""What an exchange costs and what it does to a kernel beside it, by the way it is sent: a probe before anything is built on one of them.

    NCCL_NVLS_ENABLE=0 TORCH_SYMM_MEM_DISABLE_MULTICAST=1 torchrun --nproc-per-node 2 scripts/gpu/exchange_probe.py OUT.json

NCCL is called by itself, on communicators of its own, so that one process has all of them. Each case runs a burst of collectives
(about a millisecond) beside as much computation, behind a kernel that holds both back until everything is launched.
Variants take turns; medians over ranks' slowest. Sizes are bytes of the whole message of a rank. NCCL_SYM_CTAS in the environment
sets blocks of symmetric kernels, so 16 and 32 take two launches.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import os
import statistics
import sys
from collections.abc import Callable
from dataclasses import dataclass

import torch
import torch.distributed as dist
import torch.distributed._symmetric_memory as symmetric
import torch.nn.functional as F

MIB = 1 << 20
SIZES = [1, 4, 16, 64, 256]
UNDEFINED = -(1 << 31)
BF16 = 9
SUM = 0
SYMMETRIC_WINDOW = 1
POLICY_ZERO = 2
HOLD_CYCLES = 6_000_000


class Config(ctypes.Structure):
    """ncclConfig_t of NCCL 2.28."""

    _fields_ = [
        ("size", ctypes.c_size_t),
        ("magic", ctypes.c_uint),
        ("version", ctypes.c_uint),
        ("blocking", ctypes.c_int),
        ("cluster", ctypes.c_int),
        ("min_blocks", ctypes.c_int),
        ("max_blocks", ctypes.c_int),
        ("net_name", ctypes.c_char_p),
        ("split_share", ctypes.c_int),
        ("traffic_class", ctypes.c_int),
        ("name", ctypes.c_char_p),
        ("collnet", ctypes.c_int),
        ("policy", ctypes.c_int),
        ("shrink_share", ctypes.c_int),
        ("nvls_blocks", ctypes.c_int),
        ("channels_per_peer", ctypes.c_int),
        ("nvlink_centric", ctypes.c_int),
    ]

    def __init__(self, version: int, max_blocks: int = UNDEFINED, policy: int = UNDEFINED) -> None:
        unset = dict.fromkeys((name for name, kind in self._fields_ if kind is ctypes.c_int), UNDEFINED)
        super().__init__(**{**unset, "max_blocks": max_blocks, "policy": policy})
        self.size = ctypes.sizeof(Config)
        self.magic = 0xCAFEBEEF
        self.version = version


class UniqueId(ctypes.Structure):
    _fields_ = [("bytes", ctypes.c_byte * 128)]


class Nccl:
    def __init__(self) -> None:
        self._library = ctypes.CDLL("libnccl.so.2")
        version = ctypes.c_int()
        self.check(self._library.ncclGetVersion(ctypes.byref(version)))
        self.version = version.value

    def check(self, status: int) -> None:
        if status != 0:
            raise RuntimeError(f"NCCL: status {status}")

    def communicator(self, **settings: int) -> ctypes.c_void_p:
        unique = UniqueId()
        if dist.get_rank() == 0:
            self.check(self._library.ncclGetUniqueId(ctypes.byref(unique)))
        shared = [bytes(unique.bytes)]
        dist.broadcast_object_list(shared)
        ctypes.memmove(ctypes.byref(unique), shared[0], 128)
        made = ctypes.c_void_p()
        config = Config(self.version, **settings)
        self.check(self._library.ncclCommInitRankConfig(ctypes.byref(made), dist.get_world_size(), unique, dist.get_rank(), ctypes.byref(config)))
        return made

    def memory(self, size: int) -> torch.Tensor:
        pointer = ctypes.c_void_p()
        self.check(self._library.ncclMemAlloc(ctypes.byref(pointer), ctypes.c_size_t(size)))

        class Bytes:
            __cuda_array_interface__ = {"shape": (size,), "typestr": "|u1", "data": (pointer.value, False), "version": 3}

        return torch.as_tensor(Bytes(), device="cuda")

    def register(self, communicator: ctypes.c_void_p, memory: torch.Tensor) -> None:
        window = ctypes.c_void_p()
        size = ctypes.c_size_t(memory.numel())
        self.check(self._library.ncclCommWindowRegister(communicator, ctypes.c_void_p(memory.data_ptr()), size, ctypes.byref(window), SYMMETRIC_WINDOW))

    def run(self, operation: str, communicator: ctypes.c_void_p, source: torch.Tensor, target: torch.Tensor, stream: torch.cuda.Stream) -> None:
        """`source` and `target` as PyTorch's collective would have them; elements are bf16."""
        data = [ctypes.c_void_p(source.data_ptr()), ctypes.c_void_p(target.data_ptr())]
        last = [communicator, ctypes.c_void_p(stream.cuda_stream)]
        ranks = dist.get_world_size()
        if operation == "all_to_all":
            self.check(self._library.ncclAlltoAll(*data, ctypes.c_size_t(source.numel() // 2 // ranks), BF16, *last))
        elif operation == "all_gather":
            self.check(self._library.ncclAllGather(*data, ctypes.c_size_t(source.numel() // 2), BF16, *last))
        else:
            self.check(self._library.ncclReduceScatter(*data, ctypes.c_size_t(target.numel() // 2), BF16, SUM, *last))


@dataclass(frozen=True)
class Buffers:
    """One rank's inputs and outputs of up to the largest size."""

    source: torch.Tensor
    target: torch.Tensor

    def of(self, operation: str, size: int) -> tuple[torch.Tensor, torch.Tensor]:
        share = size // dist.get_world_size()
        return self.source[: share if operation == "all_gather" else size], self.target[: share if operation == "reduce_scatter" else size]


class Ways:
    """The ways to send one message, each a function that launches it on a stream."""

    def __init__(self, nccl: Nccl, largest: int) -> None:
        self._nccl = nccl
        self._plain = nccl.communicator()
        self._second = nccl.communicator()
        self._bounded = nccl.communicator(max_blocks=8)
        self._engines = nccl.communicator(policy=POLICY_ZERO)
        self.ordinary = Buffers(*(torch.empty(largest, dtype=torch.uint8, device="cuda") for _ in range(2)))
        self._windows = Buffers(*(nccl.memory(largest) for _ in range(2)))
        for communicator in (self._plain, self._engines):
            for memory in (self._windows.source, self._windows.target):
                nccl.register(communicator, memory)
        self._peers = symmetric.empty(largest, dtype=torch.uint8, device="cuda")
        self._handle = symmetric.rendezvous(self._peers, dist.group.WORLD)

    def of(self, operation: str, size: int) -> dict[str, Callable[[torch.cuda.Stream], None]]:
        source, target = self.ordinary.of(operation, size)
        inside, outside = self._windows.of(operation, size)

        def direct(communicator: ctypes.c_void_p, source: torch.Tensor, target: torch.Tensor) -> Callable[[torch.cuda.Stream], None]:
            return lambda stream: self._nccl.run(operation, communicator, source, target, stream)

        def staged(communicator: ctypes.c_void_p) -> Callable[[torch.cuda.Stream], None]:
            def run(stream: torch.cuda.Stream) -> None:
                inside.copy_(source)
                self._nccl.run(operation, communicator, inside, outside, stream)
                target.copy_(outside)

            return run

        ways = {
            "ring": direct(self._plain, source, target),
            "ring, 8 blocks": direct(self._bounded, source, target),
            "windows": direct(self._plain, inside, outside),
            "windows, staged": staged(self._plain),
            "two communicators": self._in_turns(operation, size),
        }
        if operation != "reduce_scatter":
            ways["engines"] = direct(self._engines, inside, outside)
            ways["engines, staged"] = staged(self._engines)
            ways["pushes"] = self._pushes(operation, source)
            ways["pushes, staged"] = self._pushes(operation, source, target)
        return ways

    def _in_turns(self, operation: str, size: int) -> Callable[[torch.cuda.Stream], None]:
        """Half of the message on each of two communicators, on two streams."""
        other = torch.cuda.Stream(priority=-1)
        source, target = self.ordinary.of(operation, size)
        halves = [(source[: len(source) // 2], target[: len(target) // 2]), (source[len(source) // 2 :], target[len(target) // 2 :])]

        def run(stream: torch.cuda.Stream) -> None:
            other.wait_stream(stream)
            self._nccl.run(operation, self._plain, *halves[0], stream)
            self._nccl.run(operation, self._second, *halves[1], other)
            stream.wait_stream(other)

        return run

    def _pushes(self, operation: str, source: torch.Tensor, target: torch.Tensor | None = None) -> Callable[[torch.cuda.Stream], None]:
        ranks, rank = dist.get_world_size(), dist.get_rank()
        share = source.numel() if operation == "all_gather" else source.numel() // ranks
        places = [self._handle.get_buffer(peer, (share,), torch.uint8, rank * share) for peer in range(ranks)]
        arrived = self._peers[: share * ranks]

        def run(stream: torch.cuda.Stream) -> None:
            self._handle.barrier(channel=0)  # the peers have read what came before
            for turn in range(ranks):
                peer = (rank + turn) % ranks
                places[peer].copy_(source if operation == "all_gather" else source[peer * share :][:share])
            self._handle.barrier(channel=1)
            if target is not None:
                target.copy_(arrived)

        return run

    def result(self, way: str, operation: str, size: int) -> torch.Tensor:
        if way == "pushes":
            return self._peers[:size]
        return (self._windows if way in ("windows", "engines") else self.ordinary).of(operation, size)[1]

    def fill(self, operation: str, size: int) -> None:
        """Each rank's share for each peer has its own number, small enough that sums are exact."""
        ranks, rank = dist.get_world_size(), dist.get_rank()
        for buffers in (self.ordinary, self._windows):
            source, target = buffers.of(operation, size)
            parts = 1 if operation == "all_gather" else ranks
            values = torch.arange(parts, device="cuda").add(1 + rank * ranks).to(torch.bfloat16)
            source.view(torch.bfloat16).view(parts, -1).copy_(values[:, None].expand(parts, source.numel() // 2 // parts))
            target.zero_()
        self._peers.zero_()


def expected(operation: str, size: int) -> torch.Tensor:
    ranks, rank = dist.get_world_size(), dist.get_rank()
    if operation == "all_gather":
        values = [1 + peer * ranks for peer in range(ranks)]
    elif operation == "all_to_all":
        values = [1 + peer * ranks + rank for peer in range(ranks)]
    else:
        values = [sum(1 + peer * ranks + rank for peer in range(ranks))]
    elements = size // 2 // ranks
    return torch.tensor(values, device="cuda").to(torch.bfloat16).repeat_interleave(elements)


class Beside:
    """Computation of about the asked length."""

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self._left = torch.randn(4096, 4096, dtype=torch.bfloat16, device="cuda")
        self._right = torch.randn(4096, 4096, dtype=torch.bfloat16, device="cuda")
        self._values = torch.randn(32 * MIB, dtype=torch.bfloat16, device="cuda")
        self._unit_ms = 1.0
        self._repeats = 0

    def _one(self) -> None:
        torch.mm(self._left, self._right) if self.kind == "product" else F.gelu(self._values)

    def measure(self) -> None:
        if self.kind != "nothing":
            self._repeats = 20
            self._unit_ms = statistics.median(one_run(None, 0, self)["compute"] for _ in range(5)) / 20

    def of_length(self, milliseconds: float) -> None:
        self._repeats = 0 if self.kind == "nothing" else max(1, round(milliseconds / self._unit_ms))

    def launch(self) -> None:
        for _ in range(self._repeats):
            self._one()


_streams: list[torch.cuda.Stream] = []


def one_run(way: Callable[[torch.cuda.Stream], None] | None, burst: int, beside: Beside) -> dict[str, float]:
    """Milliseconds from the common begin to each side's end."""
    compute, communication = _streams
    begin, done, sent = (torch.cuda.Event(enable_timing=True) for _ in range(3))
    with torch.cuda.stream(compute):
        dist.all_reduce(torch.ones(1, device="cuda"))
        torch.cuda._sleep(HOLD_CYCLES)
        begin.record()
    communication.wait_event(begin)
    with torch.cuda.stream(communication):
        for _ in range(burst):
            way(communication)
        sent.record()
    with torch.cuda.stream(compute):
        beside.launch()
        done.record()
    torch.cuda.synchronize()
    return {"compute": begin.elapsed_time(done), "exchange": begin.elapsed_time(sent)}


def slowest(times: list[dict[str, float]]) -> dict[str, float]:
    medians = {side: statistics.median(of[side] for of in times) for side in ("compute", "exchange")}
    medians["both"] = statistics.median(max(of.values()) for of in times)
    gathered: list[dict[str, float]] = [{} for _ in range(dist.get_world_size())]
    dist.all_gather_object(gathered, medians)
    return {side: round(max(of[side] for of in gathered), 4) for side in medians}


def verified(ways: Ways, operation: str, size: int) -> list[str]:
    wrong = []
    nothing = Beside("nothing")
    for name, way in ways.of(operation, size).items():
        if name == "two communicators":
            continue  # its halves end elsewhere; only its time is asked
        ways.fill(operation, size)
        torch.cuda.synchronize()
        dist.barrier()
        one_run(way, 1, nothing)
        if not torch.equal(ways.result(name, operation, size).view(torch.bfloat16), expected(operation, size)):
            wrong.append(f"{operation} of {size} bytes by {name}")
    return wrong


def measured(ways: Ways, repeats: int) -> list[dict]:
    rows = []
    kinds = [Beside(kind) for kind in ("nothing", "product", "gelu")]
    for beside in kinds:
        beside.measure()
    for operation in ("all_to_all", "all_gather", "reduce_scatter"):
        for size in (mib * MIB for mib in SIZES):
            here = ways.of(operation, size)
            kinds[0].of_length(0)
            once = slowest([one_run(here["ring"], 4, kinds[0]) for _ in range(5)])["exchange"] / 4
            burst = min(32, max(1, round(1.0 / once)))
            for beside in kinds:
                beside.of_length(once * burst)
                times: dict[str, list[dict[str, float]]] = {name: [] for name in here}
                alone = []
                for _ in range(repeats):
                    alone.append(one_run(None, 0, beside))
                    for name, way in here.items():
                        times[name].append(one_run(way, burst, beside))
                compute_alone = slowest(alone)["compute"]
                rows += [
                    {"operation": operation, "mib": size // MIB, "beside": beside.kind, "way": name, "burst": burst, "compute_alone": compute_alone, **slowest(of)}
                    for name, of in times.items()
                ]
    return rows


def main() -> None:
    options = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    options.add_argument("out")
    options.add_argument("--repeats", type=int, default=12)
    options = options.parse_args()
    if torch.cuda.device_count() < 2:
        print("skipped: 2 GPUs are needed", file=sys.stderr)
        sys.exit(77)
    device = torch.device("cuda", int(os.environ["LOCAL_RANK"]))
    torch.cuda.set_device(device)
    dist.init_process_group("nccl", device_id=device)
    _streams.extend([torch.cuda.Stream(), torch.cuda.Stream(priority=-1)])
    nccl = Nccl()
    if nccl.version // 100 != 228:
        print(f"skipped: NCCL {nccl.version}, whose ncclConfig_t is not 2.28's", file=sys.stderr)
        sys.exit(77)
    ways = Ways(nccl, max(SIZES) * MIB)
    wrong = [text for operation in ("all_to_all", "all_gather", "reduce_scatter") for text in verified(ways, operation, 4 * MIB)]
    rows = measured(ways, options.repeats)
    if dist.get_rank() == 0:
        document = {"nccl": nccl.version, "torch": torch.__version__, "device": torch.cuda.get_device_name(), "symmetric_blocks": os.environ.get("NCCL_SYM_CTAS"), "wrong": wrong, "rows": rows}
        with open(options.out, "w", encoding="utf-8") as file:
            json.dump(document, file, indent=1)
        for row in rows:
            print("{operation:14} {mib:4} MiB beside {beside:8} {way:18} x{burst:<2} exchange {exchange:8.3f} compute {compute:8.3f} (alone {compute_alone:7.3f}) both {both:8.3f}".format(**row))
        print("wrong:", wrong or "nothing", flush=True)
    os._exit(0)  # communicators and windows go with the process


if __name__ == "__main__":
    main()
