"""NCCL's registrations, and the driver's answers about an allocation: both libraries are stand-ins."""

from __future__ import annotations

import os
import unittest
from types import SimpleNamespace
from typing import Any
from unittest import mock

from stand_ins import ProcessGroupNCCL, ProcessGroupNCCL2, fake_torch

from elbowroom import record, registrations

ADDRESS, SIZE = 1 << 30, 2 << 20


class Call:
    """A function of a library; argtypes and restype may be set on it."""

    def __init__(self, answer: Any) -> None:
        self._answer = answer

    def __call__(self, *arguments: Any) -> Any:
        return self._answer(*arguments)


def libraries(version: int = 22809, register: int = 0, begin: int = ADDRESS, retain: int = 0) -> dict[str, SimpleNamespace]:
    def give(value: int, code: int = 0) -> Any:
        def answer(place: Any, *rest: Any) -> int:
            place._obj.value = value
            return code

        return Call(answer)

    def address_range(start: Any, size: Any, address: int) -> int:
        start._obj.value, size._obj.value = begin, SIZE
        return 0

    nccl = SimpleNamespace(
        ncclGetVersion=give(version),
        ncclCommWindowRegister=Call(lambda *arguments: register),
        ncclCommWindowDeregister=Call(lambda *arguments: 0),
        ncclGetErrorString=Call(lambda result: b"unhandled cuda error"),
        ncclGetLastError=Call(lambda communicator: b"Cuda failure 801"),
    )
    driver = SimpleNamespace(
        cuMemGetAddressRange_v2=Call(address_range), cuMemRetainAllocationHandle=give(7, retain), cuMemRelease=Call(lambda handle: 0)
    )
    return {"libnccl.so.2": nccl, "libcuda.so.1": driver}


class RegistrationsTest(unittest.TestCase):
    def opened(self, kind: type = ProcessGroupNCCL, **facts: Any) -> registrations.Registrations:
        with mock.patch.object(registrations, "loaded", libraries(**facts).__getitem__):
            return registrations.Registrations(fake_torch(), kind())

    def test_a_segment_of_its_own_is_registered(self) -> None:
        for kind in (ProcessGroupNCCL, ProcessGroupNCCL2):
            opened = self.opened(kind)
            self.assertEqual(opened.mapped_bytes(ADDRESS), SIZE)
            opened.register(ADDRESS, SIZE)
            opened.deregister()

    def test_an_older_library_is_refused(self) -> None:
        with self.assertRaisesRegex(registrations.Unusable, "NCCL is 22706, expected 22800 or later"):
            self.opened(version=22706)

    def test_another_library_than_pytorchs_is_refused(self) -> None:
        with self.assertRaisesRegex(registrations.Unusable, "libnccl.so.2 is 23007, PyTorch uses"):
            self.opened(version=23007)

    def test_what_nccl_says_is_the_reason(self) -> None:
        with self.assertRaisesRegex(registrations.Unusable, "^ncclCommWindowRegister: unhandled cuda error Cuda failure 801$"):
            self.opened(register=1).register(ADDRESS, SIZE)

    def test_a_part_of_a_segment_is_refused(self) -> None:
        with self.assertRaisesRegex(registrations.Unusable, "not an allocation of its own"):
            self.opened(begin=ADDRESS - 512).mapped_bytes(ADDRESS)

    def test_memory_that_ranks_cannot_share_is_refused(self) -> None:
        with self.assertRaisesRegex(registrations.Unusable, "NCCL_CUMEM_ENABLE"):
            self.opened(retain=1).mapped_bytes(ADDRESS)

    def test_a_library_that_is_not_loaded_is_not_loaded_here(self) -> None:
        with self.assertRaisesRegex(registrations.Unusable, "libnccl-of-nobody.so.2 is not loaded"):
            registrations.loaded("libnccl-of-nobody.so.2")


class BlocksTest(unittest.TestCase):
    def chosen(self, **environment: str) -> tuple[str, str | None]:
        with mock.patch.dict(os.environ, {"NCCL_NVLS_ENABLE": "0"} | environment, clear=True), mock.patch.object(registrations, "loaded", lambda name: None):
            return registrations.choose_blocks(ProcessGroupNCCL()), os.environ.get("NCCL_SYM_CTAS")

    def test_sixteen_unless_somebody_chose(self) -> None:
        self.assertEqual(self.chosen(), ("16,,", "16"))
        self.assertEqual(self.chosen(NCCL_SYM_CTAS="24"), ("24,,", "24"))
        self.assertEqual(self.chosen(NCCL_MIN_CTAS="8"), (",8,", None))

    def test_nccl_reads_the_number_at_each_use_unless_somebody_chose(self) -> None:
        for environment, after in (
            ({}, "NCCL_SYM_CTAS"),
            ({"NCCL_NO_CACHE": "NCCL_ALGO"}, "NCCL_ALGO,NCCL_SYM_CTAS"),
            ({"NCCL_NO_CACHE": "ALL"}, "ALL"),
            ({"NCCL_SYM_CTAS": "24"}, None),
            ({"NCCL_MAX_CTAS": "8"}, None),
        ):
            with mock.patch.dict(os.environ, environment, clear=True):
                registrations.leave_blocks_open()
                registrations.leave_blocks_open()
                self.assertEqual(os.environ.get("NCCL_NO_CACHE"), after)

    def test_nccl_bounds_the_blocks_of_multicast_itself(self) -> None:
        with mock.patch.object(record, "_record", record._Record(0, [], [])), mock.patch.object(registrations.multicast, "_device_can", lambda driver: True):
            self.assertEqual(self.chosen(NCCL_NVLS_ENABLE="2"), (",,", None))
            self.assertIn("multicast", record.as_document()["blocks_reason"])

    def test_means_in_scatters_are_known_by_the_version(self) -> None:
        for version, averages in (((2, 28, 9), False), ((2, 29, 7), False), ((2, 30, 3), True), ((2, 32, 3), True)):
            with mock.patch.object(ProcessGroupNCCL, "version", version):
                for kind in (ProcessGroupNCCL, ProcessGroupNCCL2):
                    self.assertEqual(registrations.averages(fake_torch(), kind()), averages)

    def test_a_configuration_of_the_programs_stands(self) -> None:
        backend = ProcessGroupNCCL()
        backend.options = SimpleNamespace(config=SimpleNamespace(min_ctas=4, max_ctas=8))
        with mock.patch.dict(os.environ, {}, clear=True):
            self.assertEqual(registrations.choose_blocks(backend), "4,8")
            self.assertNotIn("NCCL_SYM_CTAS", os.environ)


if __name__ == "__main__":
    unittest.main()
