"""The host works for some milliseconds before it launches what could hide the collective."""

import time

import common

HOST_SECONDS = 0.012


def step_of(options, device):
    work = common.Work(options, device)
    buffer = work.buffer(4 * options.mib)

    def step() -> None:
        work.meet()
        work.begin()
        work.products(1)
        reducing = common.reduce(buffer)
        work.wait_for_kernels()  # as a program does that prints its loss
        time.sleep(HOST_SECONDS)
        work.products(3)
        reducing.wait()

    return step


if __name__ == "__main__":
    common.run("late_host", step_of, __doc__)
