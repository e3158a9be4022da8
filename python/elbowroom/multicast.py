"""Whether NCCL may use NVLink multicast (NVLS), as far as that is known before it says so. In doubt it may.

NCCL bounds the blocks of its multicast kernels itself; a number of ours would stand in the place of that.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

SUPPORTED = 132  # CU_DEVICE_ATTRIBUTE_MULTICAST_SUPPORTED
SYSTEM_FILE = "/etc/nccl.conf"


def may_be_used(driver: Any) -> bool:
    """`driver` is CUDA's, or None. NCCL's own default is to use it where the device can."""
    return not _is_zero(setting("NCCL_NVLS_ENABLE")) and _device_can(driver)


def setting(name: str) -> str:
    """As NCCL will see it: the environment, then the user's file, then the system's. Empty: nobody set it."""
    if name in os.environ:
        return os.environ[name]
    for path in (os.environ.get("NCCL_CONF_FILE") or "~/.nccl.conf", SYSTEM_FILE):
        for known, value in _settings(path):
            if known == name:
                return value
    return ""


def _settings(path: str) -> Iterator[tuple[str, str]]:
    try:
        lines = Path(path).expanduser().read_text(encoding="utf-8").splitlines()
    except (OSError, ValueError, RuntimeError):
        return
    for line in lines:
        name, is_set, value = line.partition("=")
        if is_set and not line.startswith("#"):
            yield name.strip(), value.strip()


def _is_zero(value: str) -> bool:
    try:
        return int(value, 0) == 0
    except ValueError:
        return False


def _device_can(driver: Any) -> bool:
    device, can = ctypes.c_int(), ctypes.c_int()
    try:
        asked = driver.cuCtxGetDevice(ctypes.byref(device)) == 0 and driver.cuDeviceGetAttribute(ctypes.byref(can), SUPPORTED, device) == 0
    except AttributeError:
        return True
    return not asked or can.value != 0
