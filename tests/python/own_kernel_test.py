"""How a kernel is compiled, over a stand-in for NVRTC."""

from __future__ import annotations

import ctypes
import unittest
from types import SimpleNamespace
from typing import Any

import stand_ins  # noqa: F401  puts the package on the path

from elbowroom import own_kernel

PTX, LOG = b".version 9.0", b"k.cu(1): error: expected a declaration\n1 error detected\n"


class Nvrtc:
    def __init__(self, compiles: int = 0, fails: str = "") -> None:
        self.compiles, self.fails, self.calls = compiles, fails, []

    def __getattr__(self, call: str) -> Any:
        def made(*arguments: Any) -> int:
            self.calls.append(call)
            if call == self.fails:
                return 5
            if call == "nvrtcCompileProgram":
                self.options = [bytes(option) for option in arguments[2]]
                return self.compiles
            text = {"PTX": PTX, "ProgramLog": LOG}.get(call.removeprefix("nvrtcGet").removesuffix("Size"))
            if text is not None and call.endswith("Size"):
                arguments[1]._obj.value = len(text) + 1
            elif text is not None:
                ctypes.memmove(arguments[1], text, len(text))
            return 0

        return made


def torch_with(library: Nvrtc, getter: str = "_get_gpu_rtc_library") -> Any:
    utils = SimpleNamespace(_cuda_load_module=lambda ptx, names: {names[0]: SimpleNamespace(func=ptx)})
    setattr(utils, getter, lambda: library)
    return SimpleNamespace(cuda=SimpleNamespace(_utils=utils, get_device_capability=lambda: (9, 0)))


class OwnKernelTest(unittest.TestCase):
    def test_a_kernel_is_loaded_for_the_current_device(self) -> None:
        # The name of the function that finds NVRTC differs between versions of PyTorch.
        for getter in ("_get_gpu_rtc_library", "_get_nvrtc_library"):
            library = Nvrtc()
            self.assertEqual(own_kernel.compiled(torch_with(library, getter), "source", "k").func, PTX.decode())
            self.assertEqual(library.options, [b"--gpu-architecture=sm_90"])
            self.assertEqual(library.calls[-1], "nvrtcDestroyProgram")

    def test_the_first_line_of_the_log_says_why_there_is_none(self) -> None:
        library = Nvrtc(compiles=6)
        with self.assertRaisesRegex(RuntimeError, r"^k does not compile: k\.cu\(1\): error: expected a declaration$"):
            own_kernel.compiled(torch_with(library), "source", "k")
        self.assertEqual(library.calls[-1], "nvrtcDestroyProgram")

    def test_a_call_that_fails_is_named(self) -> None:
        with self.assertRaisesRegex(RuntimeError, "^nvrtcCreateProgram: 5$"):
            own_kernel.compiled(torch_with(Nvrtc(fails="nvrtcCreateProgram")), "source", "k")
        with self.assertRaisesRegex(RuntimeError, "^nvrtcGetPTXSize: 5$"):
            own_kernel.compiled(torch_with(Nvrtc(fails="nvrtcGetPTXSize")), "source", "k")


if __name__ == "__main__":
    unittest.main()
