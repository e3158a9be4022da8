"""A fully sharded MLP in JAX, trained: one process, all its GPUs, each of which holds a part of every weight.

A layer's weights are gathered before it runs and again in the backward pass, and their gradients are scattered.

Prints the time of each step and one JSON line, as the PyTorch programs beside it do, but needs no launcher:

    python3 jax_fully_sharded.py --steps 40

Exit code 77: JAX or a second device is missing.
"""

from __future__ import annotations

from typing import Any

import jax_loop  # first: it says what is missing

import jax
import jax.numpy as jnp
from jax.sharding import Mesh
from jax.sharding import PartitionSpec as P


def layer(gather: Any, x: jax.Array, up: jax.Array, down: jax.Array) -> jax.Array:
    return x + jax.nn.gelu(x @ gather(up)) @ gather(down)


def loss_of(weights: list[Any], x: jax.Array, gather: Any) -> jax.Array:
    # Nothing of a layer is kept for the backward pass but its input, so that its weights are gathered twice.
    run = jax.checkpoint(lambda x, up, down: layer(gather, x, up, down))
    for up, down in weights:
        x = run(x, up, down)
    return jnp.mean(jnp.square(x.astype(jnp.float32)))


def training_step(mesh: Mesh, local: bool) -> Any:
    parts = mesh.size

    def gather(part: jax.Array) -> jax.Array:
        if local:
            return jnp.concatenate([part] * parts)
        return jax.lax.all_gather(part, "data", axis=0, tiled=True)

    def on_one_device(weights: list[Any], x: jax.Array) -> tuple[list[Any], jax.Array]:
        # The transpose of a gather is a scatter that adds: its sums become means here.
        loss, gradients = jax.value_and_grad(loss_of)(weights, x, gather)
        updated = jax.tree.map(lambda weight, gradient: weight - (1e-4 / parts * gradient).astype(weight.dtype), weights, gradients)
        return updated, loss[None]

    sharded = jax.shard_map(on_one_device, mesh=mesh, in_specs=(P("data"), P("data")), out_specs=(P("data"), P("data")), check_vma=False)
    return jax.jit(sharded, donate_argnums=0)


if __name__ == "__main__":
    jax_loop.run("jax_fully_sharded", "A fully sharded MLP in JAX", training_step, P("data"))
