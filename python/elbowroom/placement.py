"""Puts one segment of a process group on symmetric memory, on all ranks or on none."""

from __future__ import annotations

import os
import socket
from typing import Any

from elbowroom import record
from elbowroom.agreement import Agreement
from elbowroom.windows import Unusable, Windows, choose_blocks

MOST_CHANGES = 2  # of what is registered, in one process group


class GroupPlacement:
    """What is registered with one process group. Called at points that are the same on all ranks, in program order."""

    def __init__(self, torch: Any, group: Any) -> None:
        c10d = torch.distributed.distributed_c10d
        self._torch, self._group = torch, group
        self.name = str(group.group_name)
        self.ranks = group.size()
        # A group that was destroyed and made again may have the same store, with the old answers in it.
        life = _lives[self.name] = _lives.get(self.name, 0) + 1
        self._agreement = Agreement(c10d._get_process_group_store(group), group.rank(), self.ranks, f"symmetric/{self.name}/{life}")
        self._changes = 0
        self._held: list[tuple[Windows, Any]] = []

    def allocator(self) -> Any:
        return self._backend().mem_allocator

    def _backend(self) -> Any:
        backend = self._group._get_backend(self._torch.device("cuda"))
        if not isinstance(backend, self._torch.distributed.ProcessGroupNCCL):
            raise Unusable(f"the process group's backend is {type(backend).__name__}")
        if self.ranks < 2:
            raise Unusable("the process group has one rank")
        return backend

    def place(self, entry: record.Entry, segment: Any, layout: Any, problem: str) -> bool:
        """Registers `segment`, unless some rank has a problem or another layout; then nobody does, and `entry` says why."""
        windows, facts = self._facts(segment, layout, problem)
        refusal = self._agreement.refusal(facts)
        if not refusal:
            refusal = self._agreement.refusal({"reason": self._registered(windows, segment)})
        if refusal:
            if windows is not None:
                windows.deregister()
            entry.state, entry.reason = "refused", refusal
        else:
            self._changes += 1
            self._held.append((windows, segment))
            entry.state = "registered"
        record.write()
        return not refusal

    def _facts(self, segment: Any, layout: Any, problem: str) -> tuple[Windows | None, dict[str, Any]]:
        facts = {
            "host": f"{socket.gethostname()} {os.environ.get('NCCL_HOSTID', '')}".strip(),
            "torch": str(self._torch.__version__),
            "changes": self._changes,
            "layout": layout,
            "reason": problem,
        }
        windows = None
        try:
            if not problem and self._changes >= MOST_CHANGES:
                raise Unusable(f"the process group has had {MOST_CHANGES} registrations")
            if not problem:
                backend = self._backend()
                windows = Windows(self._torch, backend)
                facts["blocks"] = choose_blocks(backend)
                facts["mapped"] = windows.mapped_bytes(segment.address)
        except Exception as error:
            facts["reason"] = str(error)
        return windows, facts

    def _registered(self, windows: Windows, segment: Any) -> str:
        """Empty, or why this rank could not."""
        try:
            self._torch.cuda.current_stream().synchronize()
            windows.register(segment.address, segment.size)
        except Exception as error:
            return str(error)
        return ""

    def close(self) -> None:
        """Before the communicator is destroyed, which all ranks do at the same point of the program.

        Where the device is busy a rank may be ending with an error, and must not wait for ranks that do not come: NCCL cleans up then.
        """
        if self._torch.cuda.current_stream().query():
            for windows, _ in self._held:
                windows.deregister()
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
