"""Streams that a program says still read a gradient which lies in a bucket.

`Tensor.record_stream` keeps the allocator from giving memory away too early. It knows nothing of memory that a bucket shares, so these
calls are noted here, and who overwrites the bucket waits for the streams.
"""

from __future__ import annotations

from typing import Any

_streams: dict[int, set[Any]] = {}  # by the storage of a share
_watching: set[int] = set()  # classes of tensors


def watch(torch: Any, shares: list[Any]) -> None:
    _streams.update({share.storage: set() for share in shares})
    if id(torch.Tensor) in _watching:
        return
    _watching.add(id(torch.Tensor))
    plain = torch.Tensor.record_stream

    def record_stream(self: Any, s: Any) -> None:  # PyTorch's name, which callers may use
        plain(self, s)
        try:
            noted = _streams.get(self.untyped_storage()._cdata)
        except Exception:  # a tensor without a storage
            noted = None
        if noted is not None:
            noted.add(s)

    record_stream.__doc__ = plain.__doc__
    torch.Tensor.record_stream = record_stream


def wait(torch: Any, shares: list[Any]) -> None:
    """The current stream waits for all that these streams have been given to do."""
    streams: set[Any] = set()
    for share in shares:
        noted = _streams.get(share.storage)
        if noted:
            streams |= noted
            noted.clear()
    for stream in streams:
        torch.cuda.current_stream().wait_stream(stream)


def forget(shares: list[Any]) -> None:
    for share in shares:
        _streams.pop(share.storage, None)
