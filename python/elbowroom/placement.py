"""Puts one segment of a process group on symmetric memory, on all ranks or on none."""

from __future__ import annotations

import os
import socket
from dataclasses import dataclass
from typing import Any

from elbowroom import board, parts, record
from elbowroom.agreement import Agreement
from elbowroom.registrations import Unusable, Registrations, averages, choose_blocks

MEASURED_BACKENDS = ("ProcessGroupNCCL", "ProcessGroupNCCL2")  # "nccl" means the second from PyTorch 2.15 on
MOST_CHANGES = 2  # registrations in one process group; none after a set was given back


def own_connection(store: Any) -> Any:
    """Who waits by a store keeps it from the other threads, whose groups have the same one. Of two threads each could wait for the other's."""
    try:
        return store.clone()
    except Exception:  # a store of the program's own, or an older PyTorch
        return store


@dataclass(eq=False)
class Held:
    """Registered segments, and the page by which their ranks give them back together."""

    entry: record.Entry
    registrations: Registrations
    segments: list[Any]
    board: board.Board | None

    def registered(self) -> None:
        for segment in self.segments:
            segment.registered = True

    def deregister(self) -> None:
        self.registrations.deregister()
        for segment in self.segments:
            segment.registered = False


class GroupPlacement:
    """What is registered with one process group. Called at points that are the same on all ranks, in program order."""

    def __init__(self, torch: Any, group: Any) -> None:
        c10d = torch.distributed.distributed_c10d
        self._torch, self._group = torch, group
        self.name = record.name_of(group)
        if not self.name:
            raise Unusable("the process group has no name")
        self.rank, self.ranks = group.rank(), group.size()
        # A group that was destroyed and made again may have the same store, with the old answers in it.
        life = _lives[self.name] = _lives.get(self.name, 0) + 1
        store = own_connection(c10d._get_process_group_store(group))
        self._agreement = Agreement(store, self.rank, self.ranks, f"symmetric/{self.name}/{life}")
        self._changes = 0
        self._held: list[Held] = []

    def allocator(self) -> Any:
        """NCCL's allocator. PyTorch refuses it on GPUs without NVLink multicast, in words that blame NCCL's version."""
        backend = self._backend()
        device = self._torch.device("cuda", self._torch.cuda.current_device())
        supports = getattr(backend, "supports_tensor_alloc", None)
        if supports is not None and not supports(device):
            raise Unusable("PyTorch gives NCCL's allocator only to GPUs that can do NVLink multicast, and this GPU cannot")
        return backend.mem_allocator

    def _backend(self) -> Any:
        backend = self._group._get_backend(self._torch.device("cuda"))
        if not hasattr(type(backend), "_comm_ptr"):
            raise Unusable(f"the process group's backend is {type(backend).__name__}")
        if self.ranks < 2:
            raise Unusable("the process group has one rank")
        return backend

    def averages(self) -> bool:
        """Whether this NCCL has means on symmetric memory. False where nobody can tell."""
        try:
            return averages(self._torch, self._backend())
        except Exception:  # the facts say why there is no such backend
            return False

    def unknown(self) -> str:
        """Empty, or which PyTorch or backend of it was measured on no GPU: then a step must prove the buffers, and what none proves is left out."""
        backend = type(self._backend()).__name__
        return parts.unknown(self._torch) or ("" if backend in MEASURED_BACKENDS else f"{backend} was measured on no GPU")

    def timeout(self) -> float:
        """Seconds that this group's collectives wait for a rank; as it is now, since a program may change it."""
        try:
            return float(self._backend().options._timeout.total_seconds())
        except Exception:  # no backend, or a PyTorch that has this in another way
            return 0.0

    def refusal(self, layout: Any, problem: str) -> str:
        """Empty where all ranks have this layout and none a problem; else why not, on all of them."""
        return self._agreement.refusal({"layout": layout, "reason": problem})

    def place(self, entry: record.Entry, segments: list[Any], layout: Any, problem: str, boundary: int = 0) -> Held | None:
        """Registers `segments`, unless some rank has a problem or another layout; then nobody does, and `entry` says why."""
        page = self._page()
        registrations, facts = self._facts(segments, layout, problem)
        refusal = self._agreement.refusal(facts | self._position(boundary))
        held = None
        if not refusal:
            held = Held(entry, registrations, segments, self._board(page))
            refusal = self._agreement.refusal({"reason": self._registered(registrations, segments)})
        board.remove_page(page)
        if refusal:
            if registrations is not None:
                registrations.deregister()
            entry.state, entry.reason = "refused", refusal
            held = None
        else:
            self._changes += 1
            self._held.append(held)
            held.registered()
            entry.state, entry.sums_may_differ = "registered", True
        record.write()
        return held

    def _position(self, boundary: int) -> dict[str, int]:
        """Where this rank is in the program. A rank that is elsewhere could wait for a collective that another has yet to launch."""
        try:
            collectives = self._backend()._get_sequence_number_for_group()
        except Exception:  # the facts say why there is no such backend
            collectives = 0
        return {"boundary": boundary, "collectives": collectives}

    def _page(self) -> str:
        """Rank 0's page for a board. Empty: it has none, and a set stays registered to the end."""
        if self.rank != 0:
            return ""
        try:
            page = board.make_page(self.ranks)
        except OSError:
            page = ""
        self._agreement.tell("page", page)
        return page

    def _board(self, page: str) -> board.Board | None:
        try:
            return board.Board(page or self._agreement.told("page"), self.rank, self.ranks)
        except OSError:  # this rank never arrives, so no meeting is arranged
            return None

    def give_back(self, entry: record.Entry, held: Held, boundary: int, reason: str) -> bool:
        """Deregisters on all ranks, once every rank's device is idle, or on none. At the same boundary on all of them."""
        refusal = self._deregistered(held, self._position(boundary))
        if refusal:
            entry.reason = f"not given back ({reason}): {refusal}"
            return False
        self._changes = MOST_CHANGES
        entry.state, entry.reason = "given back", reason
        return True

    def give_back_dropped(self) -> None:
        """The same for sets whose owner has gone on every rank. At the same point of the program on all ranks.

        Ranks may drop a model at points of their own, so each set is asked about.
        """
        for held in list(self._held):
            gone = all(segment.dropped() for segment in held.segments)
            if not self._deregistered(held, {"reason": "" if gone else "in use"} | self._position(0)):
                held.entry.state, held.entry.reason = "given back", "the model was dropped"

    def _deregistered(self, held: Held, facts: dict[str, Any]) -> str:
        """Empty, or why no rank did it."""
        refusal = self._agreement.refusal(facts)
        if not refusal:
            self._torch.cuda.synchronize()
            refusal = self._agreement.refusal({"idle": True})
        if not refusal:
            held.deregister()
            self._held.remove(held)
        return refusal

    def _facts(self, segments: list[Any], layout: Any, problem: str) -> tuple[Registrations | None, dict[str, Any]]:
        facts = {
            "host": f"{socket.gethostname()} {os.environ.get('NCCL_HOSTID', '')}".strip(),
            "torch": str(self._torch.__version__),
            "changes": self._changes,
            "layout": layout,
            "reason": problem,
        }
        registrations = None
        try:
            if not problem and self._changes >= MOST_CHANGES:
                raise Unusable(f"the process group has had {MOST_CHANGES} registrations, or gave one back")
            if not problem:
                backend = self._backend()
                registrations = Registrations(self._torch, backend)
                facts["blocks"] = choose_blocks(backend)
                facts["mapped"] = [registrations.mapped_bytes(segment.address) for segment in segments]
        except Exception as error:
            facts["reason"] = str(error)
        return registrations, facts

    def _registered(self, registrations: Registrations, segments: list[Any]) -> str:
        """Empty, or why this rank could not."""
        try:
            self._torch.cuda.current_stream().synchronize()
            for segment in segments:
                registrations.register(segment.address, segment.size)
        except Exception as error:
            return str(error)
        return ""

    def close(self) -> None:
        """Before the communicator is destroyed, which all ranks do at the same point of the program.

        Where the device is busy a rank may be ending with an error, and must not wait for ranks that do not come: NCCL cleans up then.
        """
        if self._torch.cuda.current_stream().query():
            for held in self._held:
                held.deregister()
        self._held.clear()


_placements: dict[Any, GroupPlacement] = {}
_lives: dict[str, int] = {}  # of process groups, by name


def of_group(torch: Any, group: Any) -> GroupPlacement:
    if group not in _placements:
        _placements[group] = GroupPlacement(torch, group)
    return _placements[group]


def close(group: Any) -> None:
    """Of `group`, or of all groups where it is None."""
    for known in list(_placements) if group is None else [group]:
        placement = _placements.pop(known, None)
        if placement is not None:
            placement.close()
