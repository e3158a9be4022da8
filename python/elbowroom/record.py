"""What this process did, as `elbowroom.report()` returns it and `elbowroom run` reads it."""

from __future__ import annotations

import atexit
import json
import os
import sys
from dataclasses import asdict, dataclass, field
from typing import Any

SCHEMA = "elbowroom.symmetric/1"


@dataclass
class Entry:
    """One set of buffers of one process group."""

    what: str
    group: str
    ranks: int
    state: str = "waiting"  # registered, refused, given back
    buffers: int = 0
    bytes: int = 0
    extra_bytes: int = 0  # at most so many more than the program had for the same buffers
    reason: str = ""
    sums_may_differ: bool = False  # in their last bits, from those on ordinary memory
    compared: str = ""  # slower, not slower, not compared and why; empty: not known yet
    ordinary_ms: float | None = None  # a step on ordinary memory, on this rank's device
    symmetric_ms: float | None = None
    copies: int = 0  # results that were copied out because their place was still in use
    waits: int = 0  # times that the device was waited for because a place was still in use
    direct: int = 0  # gathers straight into parameters
    not_direct: str = ""  # why none is, or none is any more
    in_place: int = 0  # gradients that stayed in their bucket
    not_in_place: str = ""  # why none does, or none does any more


@dataclass
class _Record:
    pid: int
    entries: list[Entry]
    notes: list[str]
    left_out: dict[str, dict[str, str]] = field(default_factory=dict)  # by part
    blocks: str = ""  # why NCCL chooses the number of blocks


_record = _Record(os.getpid(), [], [])


def name_of(group: Any) -> str:
    """Of a process group. Those that are written in Python may have none, and say so by an exception."""
    try:
        return str(group.group_name)
    except Exception:
        return ""


def add(entry: Entry) -> Entry:
    """Once, however often it is called with this entry."""
    if not any(known is entry for known in _record.entries):
        _record.entries.append(entry)
    return entry


def words_of(error: Exception) -> str:
    return str(error) or type(error).__name__


def refuse_all(reason: str) -> None:
    """Nothing of this kind can be done in this process."""
    if reason not in _record.notes:
        _record.notes.append(reason)
    write()


def say_of_blocks(reason: str) -> None:
    """Why NCCL itself chooses the number of blocks of kernels for symmetric memory."""
    _record.blocks = reason


def leave_out(part: str, reason: str, without: str) -> None:
    """One part that this PyTorch does not allow; what does not need it goes on. `without`: how the program goes on in its place."""
    _record.left_out[part] = {"reason": reason, "without": without}
    write()


def left_out(part: str) -> str:
    """Why, or nothing."""
    return _record.left_out.get(part, {}).get("reason", "")


def as_document() -> dict[str, Any]:
    torch = sys.modules.get("torch")
    return {
        "schema": SCHEMA,
        "pid": _record.pid,
        "torch": str(getattr(torch, "__version__", "")),
        "blocks": os.environ.get("NCCL_SYM_CTAS", ""),
        "blocks_reason": _record.blocks,
        "buffers": [asdict(entry) for entry in _record.entries],
        "refused": list(_record.notes),
        "left_out": [{"part": part} | said for part, said in _record.left_out.items()],
    }


def _without_links(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NOFOLLOW, 0o600)


def write() -> None:
    """Leaves the document where `elbowroom run` collects it; called at every change, so that a killed process has said it too."""
    folder = os.environ.get("ELBOWROOM_RUN_REPORT_DIR")
    if not folder:
        return
    path = os.path.join(folder, f"{_record.pid}.symmetric")
    try:
        if os.lstat(folder).st_uid != os.geteuid():  # the run is over, and another user has made its folder anew
            return
        with open(path + ".part", "w", encoding="utf-8", opener=_without_links) as file:
            json.dump(as_document(), file)
        os.replace(path + ".part", path)
    except OSError:
        pass


def _write_at_end() -> None:
    if _record.entries or _record.notes or _record.left_out:
        write()


def _forget() -> None:
    """A forked process, say a data loader's, has none of its parent's registrations."""
    _record.pid, _record.entries, _record.notes, _record.left_out = os.getpid(), [], [], {}


os.register_at_fork(after_in_child=_forget)
atexit.register(_write_at_end)  # counts have gone on since
