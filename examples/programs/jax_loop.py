"""What the JAX programs share, as scripts of one user would: options, weights, the timed loop, the line at the end.

Prints the time of each step and one JSON line, as the PyTorch programs beside it do, but needs no launcher. Exit code 77: JAX or a second
device is missing.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Callable
from typing import Any, NoReturn

SKIPPED = 77


def skip(reason: str) -> NoReturn:
    print(f"skipped: {reason}", file=sys.stderr)
    sys.exit(SKIPPED)


try:
    import jax
    import jax.numpy as jnp
    import numpy as np
    from jax.sharding import Mesh, NamedSharding
    from jax.sharding import PartitionSpec as P
except ImportError as error:
    skip(f"JAX cannot be imported ({error})")


def parse(description: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=description)
    for name, size in {"steps": 40, "warm-up": 10, "layers": 6, "hidden": 4096, "ffn": 16384, "tokens": 4096, "gpus": 0}.items():
        parser.add_argument(f"--{name}", type=int, default=size)
    parser.add_argument("--local", action="store_true", help="the same computation, communication left out")
    return parser.parse_args()


def run(program: str, description: str, training_step: Callable[[Mesh, bool], Any], weights_over: P) -> None:
    """Trains an MLP by `training_step(mesh, local)`, whose weights are spread over the devices as `weights_over` says."""
    options = parse(description)
    devices = jax.devices()[: options.gpus or None]
    if len(devices) < max(2, options.gpus):
        skip(f"{len(devices)} devices are here, {max(2, options.gpus)} are needed")
    mesh = Mesh(np.array(devices), ("data",))
    placed, divided = NamedSharding(mesh, weights_over), NamedSharding(mesh, P("data"))
    keys = jax.random.split(jax.random.key(1), 2 * options.layers + 1)

    def weight(key: jax.Array, inputs: int, outputs: int) -> jax.Array:
        return jax.device_put((jax.random.normal(key, (inputs, outputs)) / inputs**0.5).astype(jnp.bfloat16), placed)

    weights = [
        (weight(keys[2 * i], options.hidden, options.ffn), weight(keys[2 * i + 1], options.ffn, options.hidden))
        for i in range(options.layers)
    ]
    tokens = jax.random.normal(keys[-1], (options.tokens * len(devices), options.hidden)).astype(jnp.bfloat16)
    x = jax.device_put(tokens, divided)
    step = training_step(mesh, options.local)

    for _ in range(options.warm_up):
        weights, loss = step(weights, x)
    jax.block_until_ready(loss)
    span, ends, cpu, losses = [time.time()], [time.perf_counter()], [time.process_time()], [loss]
    for _ in range(options.steps):
        weights, loss = step(weights, x)
        jax.block_until_ready(losses[-1])  # one step ahead of the devices
        losses.append(loss)
        ends.append(time.perf_counter())
        cpu.append(time.process_time())
    jax.block_until_ready(loss)
    span.append(time.time())
    # The first returns at once: the time of a step is known from the second one on.
    times = [1e3 * (end - begin) for begin, end in zip(ends[1:], ends[2:], strict=False)]
    for number, milliseconds in enumerate(times):
        print(f"step {number}: {milliseconds:.3f} ms")
    line = {
        "program": program,
        "steps_ms": [round(time, 4) for time in times],
        "cpu_ms": [round(1e3 * (end - begin), 4) for begin, end in zip(cpu[1:], cpu[2:], strict=False)],
        "span": span,
        "loss": float(loss.mean()),
        "digest": None,
        "local": options.local,
        "gpus": len(devices),
        "device": devices[0].device_kind,
        "versions": {"jax": jax.__version__},
    }
    print(json.dumps(line), flush=True)
