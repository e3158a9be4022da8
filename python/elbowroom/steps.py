"""Where a training step begins: at the first forward after gradients were sent and, where optimizers of PyTorch's step, one of them has.

A step may have several passes, of which some or all send their gradients. All ranks run the same program, so its steps begin at the same forwards.
"""

from __future__ import annotations

import sys
from typing import Any

MOST_SENT = 64  # passes that wait for an optimizer's step; then what stepped before is not the program's optimizer, or it steps where nobody sees it

_optimizer_steps = 0
_watching = False


def _note_optimizer(*unused: Any) -> None:
    """A step that torch.compile traces must not count: the count would be a constant of the compiled code, which is compiled again at each step."""
    global _optimizer_steps
    compiler = sys.modules.get("torch.compiler")
    if compiler is None or not compiler.is_compiling():
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
        self._patience = MOST_SENT
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
        stepped = _optimizer_steps != self._optimizer_steps
        begun = self._sent >= (1 if stepped or not _optimizer_steps else self._patience)
        if begun:
            self._patience = MOST_SENT if stepped else 1
            self.alike = self._passes_before in (None, self._passes)
            self._passes_before = self._passes
            self._sent, self._passes, self._optimizer_steps = 0, 0, _optimizer_steps
        self._passes += 1
        return begun
