"""The program waits for each collective at once, though other products of the step do not need it."""

import common


def step_of(options, device):
    work, buffer = common.Work(options, device), common.Work(options, device).buffer(options.mib)

    def step() -> None:
        work.begin()
        work.products(1)
        common.reduce(buffer).wait()
        work.products(2)

    return step


if __name__ == "__main__":
    common.run("program_order", step_of, __doc__)
