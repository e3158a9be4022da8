"""A small collective that the program needs soon queues behind a large one that nobody needs yet: both have one communicator."""

import common


def step_of(options, device):
    work = common.Work(options, device)
    large, small = work.buffer(4 * options.mib), work.buffer(options.mib / 8)

    def step() -> None:
        work.begin()
        work.products(1)
        later = common.reduce(large)
        work.products(1)
        common.reduce(small).wait()
        work.products(6)
        later.wait()

    return step


if __name__ == "__main__":
    common.run("shared_stream", step_of, __doc__)
