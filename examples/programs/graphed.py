"""A training step as one CUDA graph: each gradient's all-reduce begins as soon as the gradient is there."""

from __future__ import annotations

from collections.abc import Callable

import llama
import loop
import torch
import torch.distributed as dist

STEPS_BEFORE_CAPTURE = 3


def data_parallel_step(training: loop.Training, local: bool) -> Callable[[], None]:
    reductions: list[dist.Work] = []

    def reduce(parameter: torch.Tensor) -> None:
        reductions.append(dist.all_reduce(parameter.grad, async_op=True))

    if not local:
        for parameter in training.model.parameters():
            parameter.register_post_accumulate_grad_hook(reduce)

    def step() -> None:
        training.optimizer.zero_grad(set_to_none=True)
        training.forward_backward()
        for reduction in reductions:
            reduction.wait()
        reductions.clear()
        training.optimizer.step()

    return step


def captured(step: Callable[[], None]) -> torch.cuda.CUDAGraph:
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        for _ in range(STEPS_BEFORE_CAPTURE):
            step()
    torch.cuda.current_stream().wait_stream(side)
    torch.cuda.synchronize()
    graph = torch.cuda.CUDAGraph()
    # Other threads, such as the one that watches NCCL, go on calling the driver meanwhile.
    with torch.cuda.graph(graph, stream=side, capture_error_mode="thread_local"):
        step()
    return graph


def main() -> None:
    options = loop.parser(__doc__, **llama.SIZES).parse_args()
    with loop.ranks(options) as device:
        training = llama.training(llama.transformer(options, device), options, device)
        step = data_parallel_step(training, options.local)
        if device.type != "cuda":
            loop.run("graphed", options, device, step, training.results)
            return
        graph = captured(step)
        loop.run("graphed", options, device, graph.replay, training.results)
        graph.reset()  # NCCL keeps a communicator that a graph may still use: to destroy it would wait for ever


if __name__ == "__main__":
    main()
