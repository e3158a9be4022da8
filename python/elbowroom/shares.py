"""Each parameter's share of a bucket of DDP's reducer."""

from __future__ import annotations

import functools
import sys
import weakref
from typing import Any

from elbowroom.places import check_tensors
from elbowroom.registrations import Unusable

ALIGNMENT = 256  # bytes: of what CUDA allocates, on which kernels of others may rely


class Share:
    """A parameter's part of its bucket, which can be its gradient."""

    def __init__(self, torch: Any, parameter: Any, bucket: int, flat: Any, offset: int) -> None:
        """`offset` in bytes."""
        self._torch, self.parameter, self.bucket, self.offset = torch, parameter, bucket, offset
        size = parameter.numel() * parameter.element_size()
        # A storage of its own, as an ordinary gradient has; its references are the gradients that were given.
        storage = torch._C._construct_storage_from_data_pointer(flat.data_ptr() + offset, flat.device, size)
        self._tensor = torch.empty(0, dtype=parameter.dtype, device=flat.device).set_(storage, 0, parameter.size(), parameter.stride())
        self.storage = storage._cdata
        del storage
        self._kind = (torch.Tensor, parameter.dtype, parameter.stride())
        self._own = torch._C._storage_Use_Count(self.storage)

    def gradient_storage(self) -> Any:
        return self._tensor.untyped_storage()

    def _references(self) -> int:
        return self._torch._C._storage_Use_Count(self.storage) - self._own

    def in_use(self) -> bool:
        return self._references() > 0

    def kept(self) -> bool:
        """Whether anybody but the parameter has the gradient that was given. What the parameter has is accumulated into, as ever."""
        references = self._references()
        return references > 0 and not (references == 1 and self._given())

    def _given(self) -> bool:
        gradient = self.parameter.grad
        return gradient is not None and gradient.layout is self._torch.strided and gradient.untyped_storage()._cdata == self.storage

    def withdraw(self) -> None:
        """The parameter's gradient leaves the bucket, with what it holds. It is the same tensor for whoever has it."""
        if self._given():
            self.parameter.grad.data = self.parameter.grad.clone()

    def give(self, alone: tuple[int, ...]) -> bool:
        """Makes this the parameter's gradient, unless the program could notice: somebody has the old one, or it is of another kind."""
        gradient = self.parameter.grad
        if gradient is None or gradient.layout is not self._torch.strided or gradient.requires_grad:
            return False
        if (type(gradient), gradient.dtype, gradient.stride()) != self._kind:
            return False
        if sys.getrefcount(gradient) > alone[0] or self._torch._C._storage_Use_Count(gradient.untyped_storage()._cdata) > alone[1]:
            return False
        if gradient._use_count() > alone[2] or gradient.__dict__ or weakref.getweakrefcount(gradient):
            return False  # only C++ has it, or the program knows this very tensor
        del gradient
        self.parameter.grad = self._tensor.data  # a tensor of its own for each pass
        return True


def references_alone(torch: Any) -> tuple[int, ...]:
    """References to a gradient in Python, to its storage, and to it in C++, counted as `Share.give` does, where only its parameter has it."""
    parameter = torch.nn.Parameter(torch.zeros(1))
    parameter.grad = torch.zeros(1)
    gradient = parameter.grad
    return sys.getrefcount(gradient), torch._C._storage_Use_Count(gradient.untyped_storage()._cdata), gradient._use_count()


def written(flats: list[Any]) -> list[int]:
    """How often each bucket was written so far. Its views count for it."""
    return [flat._version for flat in flats]


def flat_buckets(torch: Any, reducer: Any) -> tuple[list[Any], list[int], list[Share]]:
    """The tensors that the reducer has its buckets in, how many parameters each has, and the shares that can be gradients. Copies nothing."""
    check_tensors(torch)
    with _catching(torch)() as caught:
        buckets = reducer._get_zeros_like_grad_buckets()
    flats = caught.flats
    if any(flat.layout is not torch.strided for flat in flats) or len(flats) != len(buckets):
        raise Unusable("some gradients are sparse")
    if [flat.data_ptr() for flat in flats] != [bucket.buffer().data_ptr() for bucket in buckets]:
        raise Unusable("this PyTorch hands out its buckets in another way")
    shares = []
    for number, (flat, bucket) in enumerate(zip(flats, buckets, strict=True)):
        offset = 0
        for parameter in bucket.parameters():
            if (flat.data_ptr() + offset) % ALIGNMENT == 0 and parameter.is_contiguous() and parameter.numel() > 0:
                shares.append(Share(torch, parameter, number, flat, offset))
            offset += parameter.numel() * parameter.element_size()
        if offset != flat.nbytes:
            raise Unusable("this PyTorch fills its buckets in another way")
    if not shares:
        raise Unusable("no gradient's place in the buckets is aligned")
    return flats, [len(bucket.parameters()) for bucket in buckets], shares


@functools.cache
def _catching(torch: Any) -> type:
    """The reducer offers zeros like its buckets. Whoever stands where tensors are made sees the buckets themselves, and gives those."""
    modes = sys.modules.get("torch.utils._python_dispatch")
    if modes is None or not hasattr(modes, "TorchDispatchMode"):
        raise Unusable("this PyTorch has no dispatch modes")

    class Caught(modes.TorchDispatchMode):
        def __init__(self) -> None:
            super().__init__()
            self.flats: list[Any] = []

        def __torch_dispatch__(self, operation: Any, types: Any, arguments: Any = (), named: Any = None) -> Any:
            if operation is torch.ops.aten.zeros_like.default:
                self.flats.append(arguments[0])
                return arguments[0]
            return operation(*arguments, **(named or {}))

    return Caught
