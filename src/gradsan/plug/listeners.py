"""Where silent problems of a job may be reported: each of these makes a listener for `gradsan.install(to=…)`.

A listener is called with each diagnosis, once. Nothing of TensorBoard or Weights & Biases is imported: what is given
has the one method that is called.
"""

from collections.abc import Callable
from typing import Any, Protocol

from gradsan.entry.production import Listener, to_logger
from gradsan.report import Diagnosis

__all__ = ["Listener", "to_logger", "to_tensorboard", "to_wandb"]


class Writer(Protocol):
    """`torch.utils.tensorboard.SummaryWriter`."""

    def add_text(self, tag: str, text_string: str, global_step: int | None = None) -> Any:  # noqa: ANN401 # unused
        """Show a text, in Markdown."""


class Alerting(Protocol):
    """A run of Weights & Biases, as `wandb.init()` returns it."""

    def alert(self, title: str, text: str) -> Any:  # noqa: ANN401 # unused
        """Send a message to whoever follows the run."""


def to_tensorboard(writer: Writer, step: Callable[[], int] | None = None) -> Listener:
    """Texts under `gradsan/`, by code; `step` says at which step the job is."""

    def listener(found: Diagnosis) -> None:
        writer.add_text(f"gradsan/{_title(found)}", f"```\n{found}```", None if step is None else step())

    return listener


def to_wandb(run: Alerting) -> Listener:
    """An alert for each."""
    return lambda found: run.alert(f"gradsan: {_title(found)}", str(found))


def _title(found: Diagnosis) -> str:
    return f"{found.code} {found.name}"
