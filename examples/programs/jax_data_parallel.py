"""A data-parallel MLP in JAX, trained: one process, all its GPUs, gradients averaged by XLA's collectives.

Prints the time of each step and one JSON line, as the PyTorch programs beside it do, but needs no launcher:

    python3 jax_data_parallel.py --steps 40

Exit code 77: JAX or a second device is missing.
"""

from __future__ import annotations

from typing import Any

import jax_loop  # first: it says what is missing

import jax
import jax.numpy as jnp
from jax.sharding import Mesh
from jax.sharding import PartitionSpec as P


def loss_of(weights: list[Any], x: jax.Array) -> jax.Array:
    for up, down in weights:
        x = x + jax.nn.gelu(x @ up) @ down
    return jnp.mean(jnp.square(x.astype(jnp.float32)))


def training_step(mesh: Mesh, local: bool) -> Any:
    def on_one_device(weights: list[Any], x: jax.Array) -> tuple[list[Any], jax.Array]:
        loss, gradients = jax.value_and_grad(loss_of)(weights, x)
        if not local:
            gradients = jax.lax.pmean(gradients, "data")
        updated = jax.tree.map(lambda weight, gradient: weight - (1e-4 * gradient).astype(weight.dtype), weights, gradients)
        return updated, loss[None]

    # Weights are held whole by each device; without the check XLA adds no sums of its own.
    sharded = jax.shard_map(on_one_device, mesh=mesh, in_specs=(P(), P("data")), out_specs=(P(), P("data")), check_vma=False)
    return jax.jit(sharded, donate_argnums=0)


if __name__ == "__main__":
    jax_loop.run("jax_data_parallel", "A data-parallel MLP in JAX", training_step, P())
