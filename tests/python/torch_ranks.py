"""One rank of torch_seams_test.py: a model of DDP or FSDP2 on a CPU, with PyTorch's own reducer and parameter groups. CUDA, the segment
and NCCL's registrations are stand-ins. Rank 0 prints a digest of the parameters and what happened, as JSON, and how
many parameters are alive behind the run, without a garbage collector.

usage: torch_ranks.py ddp|fsdp2 RUN...      a RUN is words with + between them; plain ones come first, since seams stay

words: plain, mixed, accumulate, unused, views, allowed (by --gradient-views), fails (on rank 1), unequal (on rank 1); hooks of DDP: bf16, fp16, wrapper, own;
of DDP's gradients: keeps (rank 1, those of every step), held (rank 1, those of one step), sliced (a part of one), between (dropped between forward and backward),
zeroed (not dropped), stays (not dropped from step 4 on), later (accumulated from step 4 on), unsent (those of the first pass of a step), grabbed (by hooks, in the backward pass), marked (attributes, by hooks), exported (by DLPack in hooks), retyped (model, to and fro), hooked (late, where rank 1 keeps gradients),
finished (by the program, behind its backward pass), broken (a last pass ends with an error), sparse (one of them), static (graph), joined (rank 1 has fewer inputs), reentrant (checkpoints);
compared: steps are timed, and take longer once buffers are registered; retries: rank 1's allocator has to retry;
nccl2: the backend is PyTorch 2.15's; other_nccl: one that was measured on no GPU; untested: no test knows this PyTorch, from the first such run on; wrong: on rank 1, as if something came out otherwise there;
rewrapped: wrapped again in the middle; pair: two models in turns; compiled: by torch.compile, without code generation
of FSDP2: divided: in the copies; uneven: sizes that ranks do not divide; default_memory: asked for; replaced: the program's own scatters in the middle;
strays: rank 1's allocator places parameters elsewhere; crooked: it is known to; hostbound: the host is the limit; and what fsdp2_kinds.py says
"""

from __future__ import annotations

import contextlib
import functools
import gc
import hashlib
import json
import os
import sys
import weakref
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import fsdp2_kinds
from ddp_gradients import Gradients, Lookup
import stand_ins  # puts the package on the path
import torch
import torch.distributed as dist
from torch.distributed.algorithms.ddp_comm_hooks import default_hooks
from torch.utils.checkpoint import checkpoint

from elbowroom import buckets, compression, division, host_lead, in_place, lifetime, parts, placement, proof, record, scaled_copy, seams, shares, staging, unsharded

KIND, RUNS = sys.argv[1], sys.argv[2:]
WORDS: set[str] = set()  # of the run
EVENTS: list[str] = []
KEPT: list[torch.Tensor] = []  # gradients that the program keeps
TIMED_STEPS, STEPS = 60, 6
BACKENDS = {"nccl2": stand_ins.ProcessGroupNCCL2, "other_nccl": stand_ins.OtherNCCL}


class FakeSegment:
    address = 4096

    def __init__(self, torch_: Any, allocator: Any, size: int) -> None:
        self.size, self.registered = size, False
        self.owner: Any = None
        self.lent: list[Any] = []
        self._bytes = torch.zeros(size, dtype=torch.uint8)

    @contextlib.contextmanager
    def allocating(self) -> Iterator[None]:
        EVENTS.append("in")
        yield
        EVENTS.append("out")

    def tensor(self) -> torch.Tensor:
        return self._bytes

    def open(self) -> None:
        pass

    def first(self, size: int) -> torch.Tensor:
        return self._bytes[: min(size, self.size)]

    def placed(self) -> list[list[int]]:
        return [[0, 512]] if "unequal" in WORDS and dist.get_rank() == 1 else [[0, 1024]]

    def dropped(self) -> bool:
        return self.owner is not None and self.owner() is None and all(storage.expired() for storage in self.lent)

    def release(self) -> None:
        EVENTS.append("released")


class FakeRegistrations:
    def __init__(self, torch_: Any, backend: Any) -> None:
        pass

    def mapped_bytes(self, address: int) -> int:
        return 1 << 21

    def register(self, address: int, size: int) -> None:
        if "fails" in WORDS and dist.get_rank() == 1:
            raise buckets.Unusable("ncclCommWindowRegister: 801")
        EVENTS.append("registered")

    def deregister(self) -> None:
        EVENTS.append("deregistered")


class ScaledCopy:
    """On CPUs, by PyTorch's own operations."""

    def __init__(self, torch_: Any) -> None:
        if "divided" not in WORDS:
            raise RuntimeError("no kernel here")

    def __call__(self, sources: Any, target: Any, rows: int, scale: float) -> None:
        target.view(rows, -1).copy_(torch.cat([source.view(rows, -1) for source in sources], dim=1)).mul_(scale)


def check_order(slot: unsharded.Slot, sizes: list[int]) -> None:
    if "crooked" in WORDS and dist.get_rank() == 1:
        raise unsharded.Unusable("another order")


def take(slot: unsharded.Slot, plain: Any, owner: Any, views: unsharded.Views, stream: Any) -> None:
    """A CPU's allocator places nothing in a slot. So the slot is where the parameters lie, but for strays."""
    plain(slot, owner, views, stream)
    if "strays" not in WORDS or dist.get_rank() == 0:
        for tensor in views.outputs:
            tensor.untyped_storage().resize_(tensor.nbytes)
        views.lie_at([tensor.data for tensor in views.large])
        slot._moved = False


def move(plain: Any, torch_: Any, flat: torch.Tensor) -> None:
    """A pool keeps what a CPU's allocator frees."""
    for tensor in KEPT:
        tensor.data = tensor.clone()
    plain(torch_, flat)


class Stream(SimpleNamespace):
    """Of a device that is done at once."""

    cuda_stream = 1

    def __init__(self, priority: int = 0) -> None:
        super().__init__()

    __hash__ = object.__hash__

    def synchronize(self) -> None:
        pass

    def query(self) -> bool:
        return True

    def record_event(self) -> Any:
        return Event()

    def wait_event(self, event: Any) -> None:
        pass

    def wait_stream(self, other: Any) -> None:
        pass


class Event(stand_ins.Event):
    """A step takes 40 ms, and 41 once buffers are registered."""

    def record(self) -> None:
        Event.now += 41.0 if "registered" in EVENTS and "compared" in WORDS else 40.0
        self.time = Event.now

    def synchronize(self) -> None:
        pass


def allocator_counts() -> dict[str, int]:
    retried = "retries" in WORDS and dist.get_rank() == 1 and "step 40" in EVENTS
    return {"num_alloc_retries": int(retried), "num_ooms": 0}


def verdict(plain: Any, proof_: Any) -> str:
    return "as if a sum differed" if "wrong" in WORDS and dist.get_rank() == 1 else plain(proof_)


def sums_differ(plain: Any, *arguments: Any) -> str:
    return plain(*arguments) or ("as if a sum differed" if "wrong" in WORDS and dist.get_rank() == 1 else "")


def replace_device() -> None:
    torch.cuda.Event, torch.cuda.memory_stats_as_nested_dict = Event, allocator_counts
    torch.cuda.Stream, torch.cuda.stream, stream = Stream, contextlib.nullcontext, Stream()
    torch.accelerator.current_stream = lambda: stream
    for name, answer in {"current_stream": stream, "current_device": 0, "empty_cache": None, "mem_get_info": (1 << 36, 1 << 36),
                         "memory_reserved": 0, "max_memory_reserved": 0, "is_current_stream_capturing": False, "synchronize": None}.items():
        setattr(torch.cuda, name, lambda answer=answer: answer)
    buckets.Segment = staging.Segment = compression.Segment = FakeSegment
    buckets.not_worth_it = lambda parameters, group: ""
    buckets.BucketPlacer._opened = lambda self: FakeSegment(None, None, self._room)
    staging.LEAST_TOTAL = compression.LEAST_TOTAL = 0
    placement.Registrations = FakeRegistrations
    shares.ALIGNMENT = 4
    in_place.move = functools.partial(move, in_place.move)
    scaled_copy.ScaledCopy = ScaledCopy
    unsharded.Segment, unsharded.LARGE_BLOCK = FakeSegment, 1024
    unsharded.Slot.check_order, unsharded.Slot.take = check_order, functools.partialmethod(take, unsharded.Slot.take)
    proof.Proof.verdict = functools.partialmethod(lambda self, plain: verdict(plain, self), proof.Proof.verdict)
    proof.sums_differ = functools.partial(sums_differ, proof.sums_differ)
    torch.distributed.ProcessGroupNCCL = stand_ins.ProcessGroupNCCL
    placement.GroupPlacement._backend = lambda self: next((kind for word, kind in BACKENDS.items() if word in WORDS), stand_ins.ProcessGroupNCCL)()


def timed() -> bool:
    return bool(WORDS & {"compared", "retries"})


def begin(run: str) -> None:
    """As in a new process, but for the seams."""
    WORDS.clear()
    WORDS.update(run.split("+"))
    EVENTS.clear()
    KEPT.clear()
    record._forget()
    placement._placements.clear()
    buckets._segments.clear()
    staging._stagings.clear()
    host_lead.MOST_SHORT = 0.5 if "hostbound" in WORDS else 1.0  # this device is always done
    lifetime.STEPS, lifetime.UNTIMED_BEFORE = (8, 1) if timed() else (0, 0)


def install(module_name: str, function: str) -> Any:
    """The seam, as the hook installs it."""
    __import__(module_name)
    parts.lacking_everywhere = lambda torch_: ""
    if "untested" in WORDS:
        parts.VERSIONS = ()
    getattr(seams, function)(sys.modules[module_name])
    return sys.modules[module_name]


class Block(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        width = 65 if "uneven" in WORDS else 64
        self.first, self.second = torch.nn.Linear(64, width), torch.nn.Linear(width, 64)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        if "reentrant" in WORDS:
            return x + checkpoint(lambda x: self.second(torch.relu(self.first(x))), x, use_reentrant=True)
        return x + self.second(torch.relu(self.first(x)))


def own_hook(state, bucket):  # type: ignore[no-untyped-def]  # DDP refuses annotations that are text
    future = dist.all_reduce(bucket.buffer().to(torch.bfloat16), async_op=True).get_future()
    return future.then(lambda sent: bucket.buffer().copy_(sent.value()[0]))


HOOKS = {
    "bf16": default_hooks.bf16_compress_hook,
    "fp16": default_hooks.fp16_compress_hook,
    "wrapper": default_hooks.bf16_compress_wrapper(default_hooks.allreduce_hook),
    "own": own_hook,
}


def ddp(model: torch.nn.Module) -> torch.nn.Module:
    if "plain" not in WORDS:
        install("torch.nn.parallel.distributed", "install_ddp")  # acts once
        os.environ[buckets.VIEWS_VARIABLE] = "1" if "allowed" in WORDS else "0"
        torch.distributed.Reducer.on_gpus = lambda self: True
    wrapped = torch.nn.parallel.DistributedDataParallel(
        model,
        bucket_cap_mb=2 if "compiled" in WORDS else 0.02,
        gradient_as_bucket_view="views" in WORDS,
        find_unused_parameters="unused" in WORDS,
        static_graph="static" in WORDS,
    )
    for word in WORDS & HOOKS.keys():
        wrapped.register_comm_hook(None, HOOKS[word])
    return wrapped


def fsdp2(model: torch.nn.Module) -> torch.nn.Module:
    if "plain" not in WORDS and "FSDP2" not in seams._installed:
        state = install("torch.distributed.fsdp._fully_shard._fsdp_state", "install_fsdp2")
        if record.left_out(parts.STAGING.name):
            return fsdp2_kinds.sharded(model, WORDS)
        # The seam leaves groups on CPUs alone, so the last step is done by hand.
        collectives = sys.modules["torch.distributed.fsdp._fully_shard._fsdp_collectives"]
        gather = staging.gather_class(torch, collectives.DefaultAllGather)
        scatter = staging.scatter_class(torch, collectives.DefaultReduceScatter)
        installed = state.FSDPParamGroup.__init__

        def __init__(self: Any, *arguments: Any, **named: Any) -> None:
            installed(self, *arguments, **named)
            self._all_gather_comm, self._reduce_scatter_comm = gather(self), scatter(self)

        seams._keep_buffers(state.FSDPParamGroup, gather, scatter)
        state.FSDPParamGroup.__init__ = __init__
    return fsdp2_kinds.sharded(model, WORDS)


def groups(model: torch.nn.Module) -> list[Any]:
    return [module._get_fsdp_state()._fsdp_param_group for module in model]


def scatter_by_themselves(model: torch.nn.Module) -> None:
    from torch.distributed.fsdp._fully_shard._fsdp_collectives import DefaultReduceScatter

    for block in (*model, model):
        block.set_custom_reduce_scatter(DefaultReduceScatter())


def run() -> tuple[dict[str, Any], list[Any]]:
    """What is to be said, and the parameters, weakly."""
    torch.manual_seed(0)
    model = torch.nn.Sequential(*[Lookup()] * ("sparse" in WORDS), *[Block() for _ in range(3)])
    wrapped = {"ddp": ddp, "fsdp2": fsdp2}[KIND](model)
    if "compiled" in WORDS and KIND == "ddp":
        wrapped = torch.compile(wrapped, backend="eager")
    optimizer = (torch.optim.SGD if "sparse" in WORDS else torch.optim.AdamW)(model.parameters(), lr=1e-2)
    other = ddp(torch.nn.Sequential(Block())) if "pair" in WORDS else None
    if "finished" in WORDS:
        wrapped.require_manual_backward_finalization = True
    gradients = Gradients(model, WORDS, KEPT)
    if "joined" in WORDS:
        with wrapped.join():
            for step in range(STEPS - dist.get_rank()):
                optimizer.zero_grad()
                (wrapped(torch.full((3, 64), step + 1.0)) ** 2).sum().backward()
                optimizer.step()
    for step in range(TIMED_STEPS if timed() else STEPS):
        if not WORDS & {"between", "zeroed"}:
            optimizer.zero_grad(set_to_none="stays" not in WORDS or step < 4)
        if "rewrapped" in WORDS and step == STEPS // 2:
            wrapped = ddp(model)
        if "replaced" in WORDS and step == STEPS - 1:
            scatter_by_themselves(model)
        if other is not None:
            other(torch.ones(1, 64)).sum().backward()
        if KIND == "fsdp2":
            fsdp2_kinds.before_step(model, WORDS, step)
        turns = 2 if WORDS & {"accumulate", "unsent"} or ("later" in WORDS and step >= 4) else fsdp2_kinds.turns(WORDS)
        for turn in range(turns):
            if KIND == "fsdp2":
                fsdp2_kinds.before_turn(model, WORDS, turn == turns - 1)
            torch.manual_seed(100 * step + 10 * turn + dist.get_rank())
            inputs = torch.randn(3, 64, requires_grad="reentrant" in WORDS)
            with wrapped.no_sync() if turn == 0 and "unsent" in WORDS else contextlib.nullcontext():
                loss = (wrapped(inputs) ** 2).sum()
                if turn == 0 and WORDS & {"between", "zeroed"}:
                    optimizer.zero_grad(set_to_none="between" in WORDS)
                loss.backward()
        if "finished" in WORDS:
            gradients.overwrite()
            wrapped.finalize_backward()
        gradients.keep(step)
        optimizer.step()
        if step == 3 and "retyped" in WORDS:
            model.double().float()
        if step == 3 and "hooked" in WORDS:
            KEPT.extend([model[0].first.weight.grad] * dist.get_rank())
            optimizer.zero_grad()
            wrapped.register_comm_hook(None, own_hook)
        divided = {group.gradient_divide_factor for group in groups(model)} if KIND == "fsdp2" else set()
        EVENTS.extend([f"step {step}"] + ["divided"] * (divided == {1.0}))
        if KIND == "fsdp2" and all(isinstance(group.force_sum_reduction_for_comms, division.Sums) for group in groups(model)):
            EVENTS.append("sums")
    if "broken" in WORDS:
        gradients.break_off(wrapped)
    whole = [parameter.full_tensor() if hasattr(parameter, "full_tensor") else parameter for parameter in model.parameters()]
    whole += gradients.held()
    digest = hashlib.sha256(b"".join(parameter.detach().numpy().tobytes() for parameter in whole)).hexdigest()
    storages = {parameter.grad.untyped_storage().data_ptr() for parameter in model.parameters()} if KIND == "ddp" and "sparse" not in WORDS else set()
    said = {"digest": digest, "events": EVENTS, "storages": len(storages)} | record.as_document()
    return said, list(map(weakref.ref, model.parameters()))


def main() -> None:
    dist.init_process_group("gloo")
    replaced = False
    for words in RUNS:
        begin(words)
        if "plain" not in WORDS and not replaced:
            replace_device()
            replaced = True
        gc.collect()
        gc.disable()
        said, parameters = run()
        said["alive"] = sum(parameter() is not None for parameter in parameters)
        gc.enable()
        if dist.get_rank() == 0:
            print(json.dumps(said), flush=True)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
