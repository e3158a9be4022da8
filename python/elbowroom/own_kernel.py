"""A kernel of our own, compiled by the NVRTC that PyTorch brings along.

PyTorch's way to one, `torch.cuda._compile_kernel`, imports setuptools and what else extensions are built with. That takes a third of a second in
the middle of a program's steps.
"""

from __future__ import annotations

import ctypes
from typing import Any


def compiled(torch: Any, source: str, name: str) -> Any:
    """The `extern "C"` kernel of that name for the current device, with its CUfunction as `func`. RuntimeError says why there is none."""
    utils = torch.cuda._utils
    library = (getattr(utils, "_get_gpu_rtc_library", None) or utils._get_nvrtc_library)()
    program = ctypes.c_void_p()
    _check(library, "nvrtcCreateProgram", ctypes.byref(program), source.encode(), f"{name}.cu".encode(), 0, None, None)
    try:
        major, minor = torch.cuda.get_device_capability()
        options = (ctypes.c_char_p * 1)(f"--gpu-architecture=sm_{major}{minor}".encode())
        if library.nvrtcCompileProgram(program, len(options), options) != 0:
            raise RuntimeError(f"{name} does not compile: {_text(library, 'ProgramLog', program).strip().partition(chr(10))[0]}")
        return utils._cuda_load_module(_text(library, "PTX", program), [name])[name]
    finally:
        library.nvrtcDestroyProgram(ctypes.byref(program))


def _text(library: Any, what: str, program: ctypes.c_void_p) -> str:
    size = ctypes.c_size_t()
    _check(library, f"nvrtcGet{what}Size", program, ctypes.byref(size))
    text = ctypes.create_string_buffer(size.value)
    _check(library, f"nvrtcGet{what}", program, text)
    return text.value.decode()


def _check(library: Any, call: str, *arguments: Any) -> None:
    code = getattr(library, call)(*arguments)
    if code != 0:
        raise RuntimeError(f"{call}: {code}")
