"""Before buffers stay on symmetric memory in a PyTorch that no test knows: the same collectives on both memories, while the program uses those of ordinary
memory. Gathers must agree bit for bit, sums within what another order of addition can change.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

SAMPLE = 1 << 20  # bytes of a bucket that are summed up


def beyond_rounding(torch: Any, result: Any, expected: Any, magnitude: Any, ranks: int) -> Any:
    """Whether some sum differs by more than two orders of addition can: each rounds `ranks` times at most, by a half unit of the sum of magnitudes."""
    allowed = ranks * torch.finfo(result.dtype).eps * magnitude.double()
    near = (result.double() - expected.double()).abs() <= allowed
    return ~(near | (result == expected) | (result.isnan() & expected.isnan())).all()


class Proof:
    """Of one step of one process group's gathers and scatters."""

    def __init__(self, torch: Any, places: Any, ranks: int) -> None:
        self._torch, self.places, self._ranks = torch, places, ranks
        self._gathered: list[Any] = []  # on the device: whether it differs
        self._scattered: list[Any] = []

    def gather(self, output: Any, source: Any, group: Any, collective: Callable[..., Any]) -> None:
        """`collective` has gathered `source` to `output`, and is to do it again elsewhere."""
        place = self.places.next_gather()
        if place.fits(output.nbytes):
            again = place.hand_out(output.numel(), output.dtype)
            own = again.view(self._ranks, -1)[group.rank()].copy_(source)
            collective(again, own, group)
            self._gathered.append((again.view(self._torch.uint8) != output.view(self._torch.uint8)).any())

    def scatter(self, output: Any, source: Any, group: Any, op: Any, collective: Callable[..., Any]) -> None:
        place, passing = self.places.scatter_input, self.places.passing
        if place.fits(source.nbytes) and passing.fits(output.nbytes):
            again, magnitude = passing.hand_out(output.numel(), output.dtype), self._torch.empty_like(output)
            collective(again, place.hand_out(source.numel(), source.dtype).copy_(source), group, op)
            collective(magnitude, source.abs(), group, op)
            self._scattered.append(beyond_rounding(self._torch, again, output, magnitude, self._ranks))

    def verdict(self) -> str:
        """Empty, or why this rank does not trust it. Waits for the device."""
        if any(map(bool, self._gathered)):
            return "a gather differs from that on ordinary memory"
        if any(map(bool, self._scattered)):
            return "a sum differs from that on ordinary memory by more than its rounding"
        return "" if self._gathered and self._scattered else "no step could be compared"


def sums_differ(torch: Any, group: Any, memory: Any) -> str:
    """Empty, or that sums in these registered bytes, which stay as they are, come out otherwise. All ranks together."""
    kept = memory.clone()
    part = memory.view(torch.float32)
    part.copy_(torch.arange(1, part.numel() + 1, device=part.device) / 7 * (group.rank() + 1))
    expected = part.clone()
    for tensor in (part, expected):
        torch.distributed.all_reduce(tensor, group=group)
    differs = bool(beyond_rounding(torch, part, expected, expected, group.size()))
    memory.copy_(kept)
    return "a sum differs from that on ordinary memory by more than its rounding" if differs else ""
