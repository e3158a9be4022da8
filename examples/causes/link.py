"""All computation of the step runs beside the collective, which takes several times as long."""

import common


def step_of(options, device):
    work = common.Work(options, device)
    buffer = work.buffer(4 * options.mib)

    def step() -> None:
        work.begin()
        reducing = common.reduce(buffer)
        work.products(1)
        reducing.wait()

    return step


if __name__ == "__main__":
    common.run("link", step_of, __doc__)
