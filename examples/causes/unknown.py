"""Products wait for a word in host memory that another thread could write: no trace has such a wait."""

import ctypes
import time

import common
import loop
import torch

HOST_SECONDS = 0.012
AT_LEAST = 0  # CU_STREAM_WAIT_VALUE_GEQ


class Word:
    """A number in pinned memory that streams can wait for."""

    def __init__(self) -> None:
        self._driver = ctypes.CDLL("libcuda.so.1")
        self._number = torch.zeros(1, dtype=torch.int32).pin_memory()

    def hold(self, until: int) -> None:
        """What is launched on the current stream from now on waits for `until`."""
        stream = ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)
        address = ctypes.c_uint64(self._number.data_ptr())
        code = self._driver.cuStreamWaitValue32_v2(stream, address, ctypes.c_uint32(until), ctypes.c_uint(AT_LEAST))
        if code != 0:
            loop.skip(f"streams cannot wait for memory: cuStreamWaitValue32 failed with code {code}")

    def write(self, number: int) -> None:
        self._number[0] = number


def step_of(options, device):
    if device.type != "cuda":
        loop.skip("streams of GPUs wait for memory here")
    work, word = common.Work(options, device), Word()
    buffer = work.buffer(4 * options.mib)
    number = 0

    def step() -> None:
        nonlocal number
        number += 1
        work.meet()
        work.begin()
        work.products(1)
        reduced = torch.cuda.Event()
        reduced.record()
        reducing = common.reduce(buffer)
        word.hold(number)
        work.products(3)
        reduced.synchronize()
        time.sleep(HOST_SECONDS)
        word.write(number)
        reducing.wait()

    return step


if __name__ == "__main__":
    common.run("unknown", step_of, __doc__)
