"""For accelerate, which has no callbacks: `with watched(accelerator):` around the loop."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from gradsan.plug.training import Training, optimizer_names


@contextmanager
def watched(accelerator: Any) -> Iterator[None]:  # noqa: ANN401 # accelerate's class, which need not be imported
    """Explain errors of `accelerator.backward`, with its optimizers; report silent problems after the block."""
    steps = accelerator.gradient_accumulation_steps

    def where() -> str:
        accumulated = f", accumulating gradients over {steps} batches" if steps > 1 else ""
        return f"accelerate had prepared {optimizer_names(accelerator._optimizers)}{accumulated}"  # noqa: SLF001 # there is no public name

    with Training(where).block():
        yield
