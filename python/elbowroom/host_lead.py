"""Whether the host keeps the device waiting: then a way that costs the host more gains nothing.

Where the device is the limit, the host launches a layer's gather long before the device has begun the layer before. Where the host is the
limit, the device has reached it. A program that waits for its device in every step loses its lead for a few layers alone.
"""

from __future__ import annotations

from typing import Any

MOST_SHORT = 0.5  # of the gathers


class HostLead:
    def __init__(self) -> None:
        self._before: Any = None
        self._gathers = self._short = 0

    def gather(self, stream: Any) -> None:
        """A gather is launched; `stream` is the one that computes."""
        if self._before is not None:
            self._gathers += 1
            self._short += self._before.query()
        self._before = stream.record_event()

    def short(self) -> bool:
        return self._short > MOST_SHORT * self._gathers
