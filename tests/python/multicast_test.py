"""Whether NVLink multicast may be used: NCCL's variable where NCCL looks for it, then the device. In doubt it may."""

from __future__ import annotations

import os
import tempfile
import unittest
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest import mock

import stand_ins

from elbowroom import multicast

assert stand_ins.PYTHON


def driver(can: int = 1, code: int = 0) -> Any:
    def attribute(answer: Any, number: int, device: Any) -> int:
        answer._obj.value = can if number == multicast.SUPPORTED else 0
        return code

    return SimpleNamespace(cuCtxGetDevice=lambda device: 0, cuDeviceGetAttribute=attribute)


class MulticastTest(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.users, self.systems = Path(folder.name) / "users.conf", Path(folder.name) / "system.conf"
        patch = mock.patch.object(multicast, "SYSTEM_FILE", str(self.systems))
        patch.start()
        self.addCleanup(patch.stop)

    def may(self, can: int = 1, code: int = 0, **environment: str) -> bool:
        with mock.patch.dict(os.environ, environment | {"NCCL_CONF_FILE": str(self.users)}, clear=True):
            return multicast.may_be_used(driver(can, code))

    def test_the_variable_turns_it_off_and_nothing_else_does(self) -> None:
        self.assertTrue(self.may())
        for value in ("0", " 0 ", "0x0"):
            self.assertFalse(self.may(NCCL_NVLS_ENABLE=value))
        for value in ("1", "2", "", "no"):  # what is no number leaves NCCL's default
            self.assertTrue(self.may(NCCL_NVLS_ENABLE=value))

    def test_files_count_in_nccls_order(self) -> None:
        self.systems.write_text("# NCCL_NVLS_ENABLE=1\nNCCL_NVLS_ENABLE=0\n")
        self.assertFalse(self.may())
        self.assertTrue(self.may(NCCL_NVLS_ENABLE="1"))
        self.users.write_text("NCCL_DEBUG=INFO\nNCCL_NVLS_ENABLE = 2\n")
        self.assertTrue(self.may())

    def test_a_device_that_cannot_has_none_and_one_that_does_not_say_may(self) -> None:
        self.assertFalse(self.may(can=0))
        self.assertTrue(self.may(can=0, code=1))
        with mock.patch.dict(os.environ, {}, clear=True):
            self.assertTrue(multicast.may_be_used(None))


if __name__ == "__main__":
    unittest.main()
