"""Where a training step begins: at the first forward after gradients were sent and, where optimizers of PyTorch's step, one of them has.

A step may have several passes, of which some or all send their gradients. All ranks run the same program, so its steps begin at the same forwards.
"""

from __future__ import annotations

import sys
from typing import Any

MOST_SENT = 64  # passes without an optimizer's step; what stepped before is not the program's optimizer then

_optimizer_steps = 0
_watching = False


def _note_optimizer(*unused: Any) -> None:
    global _optimizer_steps
    _optimizer_steps += 1


def watch_optimizers() -> None:
    """As soon as PyTorch has optimizers; before their first step."""
    global _watching
    register = getattr(sys.modules.get("torch.optim.optimizer"), "register_optimizer_step_post_hook", None)
    if register is not None and not _watching:
        _watching = True
        register(_note_optimizer)


def optimizers_have_stepped() -> bool:
    return _optimizer_steps > 0


class Steps:
    """Of one set of buffers. `sent` and `begins` are called at the same points by all ranks."""

    def __init__(self) -> None:
        self._sends = False
        self._sent = 0  # passes whose gradients were sent, since the step began
        self._passes = 0
        self._passes_before: int | None = None
        self._optimizer_steps = _optimizer_steps
        self.alike = True  # the step that has ended had as many passes as the one before it

    def sent(self) -> None:
        """Gradients of this pass are sent, as a whole or a part of them."""
        self._sends = True

    def begins(self) -> bool:
        """At each forward that is followed by a backward: whether a step begins with it."""
        self._sent, self._sends = self._sent + self._sends, False
        stepped = _optimizer_steps != self._optimizer_steps or not _optimizer_steps
        begun = self._sent >= MOST_SENT or (self._sent > 0 and stepped)
        if begun:
            self.alike = self._passes_before in (None, self._passes)
            self._passes_before = self._passes
            self._sent, self._passes, self._optimizer_steps = 0, 0, _optimizer_steps
        self._passes += 1
        return begun
