"""Where FSDP2's staging buffers lie in a segment, and who has which place."""

from __future__ import annotations

import math
import weakref
from collections.abc import Container
from dataclasses import dataclass, field
from typing import Any

from elbowroom.registrations import Unusable

ALIGNMENT = 1 << 16
MOST_GATHERS = 4


def aligned(size: int) -> int:
    return -(-size // ALIGNMENT) * ALIGNMENT


@dataclass
class Seen:
    """What one process group's staging buffers were like on ordinary memory."""

    gathers: int = 0
    scatters: int = 0
    gathered: dict[int, int] = field(default_factory=dict)  # bytes of the largest, by parameter group
    scatter_bytes: int = 0
    passing_bytes: int = 0  # of the largest result of a scatter
    together: int = 0  # gathered buffers alive at once
    fewest: int = 2  # places of gathers, so that one is copied out while the next one is under way
    staying: dict[int, int] = field(default_factory=dict)  # bytes of results that live on as gradients, by parameter group

    @property
    def gather_bytes(self) -> int:
        return max(self.gathered.values(), default=0)

    def gather(self, owner: int, size: int, alive: int) -> None:
        self.gathers += 1
        self.gathered[owner] = max(size, self.gathered.get(owner, 0))
        self.together = max(self.together, alive)

    def without(self, owners: Container[int]) -> None:
        """These parameter groups are gathered without a flat buffer from here on."""
        self.gathered = {owner: size for owner, size in self.gathered.items() if owner not in owners}
        self.together = self.fewest = min(max(len(self.gathered), 1), self.fewest)

    def scatter(self, size: int) -> None:
        self.scatters += 1
        self.scatter_bytes = max(self.scatter_bytes, size)

    def result(self, owner: int, size: int, stays: bool) -> None:
        self.passing_bytes = max(self.passing_bytes, size)
        if stays:
            self.staying[owner] = max(size, self.staying.get(owner, 0))

    def sizes(self) -> list[int]:
        """Of all places, in their order: gathers, the input of a scatter, the result that passes, the results that stay."""
        gathers = min(max(self.together, self.fewest), MOST_GATHERS)
        return [self.gather_bytes] * gathers + [self.scatter_bytes, self.passing_bytes, *self.staying.values()]

    def replaced(self) -> int:
        """Bytes that the program had for the same purpose on ordinary memory, at least."""
        return self.gather_bytes * max(self.together, 1) + self.scatter_bytes


def check_tensors(torch: Any) -> None:
    if not hasattr(torch._C, "_construct_storage_from_data_pointer"):
        raise Unusable("this PyTorch makes no tensor of given memory")


class Place:
    """Bytes that one buffer at a time uses."""

    def __init__(self, torch: Any, whole: Any, offset: int, size: int) -> None:
        self._torch = torch
        # A storage of its own that does not own the memory: its references are the buffers that were handed out.
        self._storage = torch._C._construct_storage_from_data_pointer(whole.data_ptr() + offset, whole.device, size)
        self._typed: dict[Any, Any] = {}
        self._stream: Any = None
        self._handed: Any = None
        self.size = size

    def fits(self, size: int) -> bool:
        return size <= self.size

    def busy(self) -> bool:
        return self._torch._C._storage_Use_Count(self._storage._cdata) > 1 + len(self._typed)

    def hand_out(self, count: int, dtype: Any) -> Any:
        """A flat buffer. The current stream waits for the stream that had the place before."""
        typed = self._typed.get(dtype)
        if typed is None:
            typed = self._torch.empty(0, dtype=dtype, device=self._storage.device)
            typed.set_(self._storage, 0, (self.size // dtype.itemsize,))
            self._typed[dtype] = typed
        stream = self._torch.cuda.current_stream()
        if self._stream is not None and stream != self._stream:
            stream.wait_stream(self._stream)
        self._stream = stream
        tensor = typed.narrow(0, 0, count)
        self._handed = weakref.ref(tensor)
        return tensor

    def evict(self) -> None:
        """Moves the buffer that is still here to ordinary memory. Waits for the device."""
        self._torch.cuda.synchronize()
        tensor = self._handed()
        if tensor is not None:
            tensor.data = tensor.clone()
            self._torch.cuda.synchronize()


class Places:
    def __init__(self, torch: Any, whole: Any, seen: Seen) -> None:
        places, offset = [], 0
        for size in seen.sizes():
            places.append(Place(torch, whole, offset, aligned(size)))
            offset += aligned(size)
        owners = list(seen.staying)
        first = len(places) - len(owners) - 2
        self._all, self._gathers = places, places[:first]
        self._turn = 0
        self.scatter_input, self.passing = places[first : first + 2]
        self._staying = dict(zip(owners, places[first + 2 :], strict=True))

    def next_gather(self) -> Place:
        place = self._gathers[self._turn]
        self._turn = (self._turn + 1) % len(self._gathers)
        return place

    def busy(self) -> bool:
        """Whether the program still holds a buffer that was handed out."""
        return any(place.busy() for place in self._all)

    def staying(self, owner: int) -> Place | None:
        return self._staying.get(owner)


def total_bytes(seen: Seen) -> int:
    return sum(aligned(size) for size in seen.sizes())


def numel(size: Any) -> int:
    return math.prod(int(extent) for extent in size)
