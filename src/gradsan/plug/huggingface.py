"""For Hugging Face: `Trainer(…, callbacks=[GradsanCallback()])`."""

import sys
from typing import Any

from gradsan.plug.extras import needs
from gradsan.plug.training import Training, optimizer_names

with needs("GradsanCallback", "transformers"):
    from transformers import TrainerCallback


class GradsanCallback(TrainerCallback):  # type: ignore[misc] # the library is not there when types are checked
    """Explains errors of backward passes in `train`, with epoch and step; reports silent problems after it.

    An error ends `train` without a word to callbacks: it is watched until the next one begins, or the program ends.
    """

    def __init__(self) -> None:
        self._state: Any = None
        self._optimizer: Any = None
        self._training = Training(self._where)

    def on_train_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:  # noqa: ANN401, ARG002 # the trainer's signature
        """Begin to watch."""
        self._state, self._optimizer = state, kwargs.get("optimizer")
        self._training.begin(sys._getframe())  # noqa: SLF001 # the only way to a frame

    def on_train_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:  # noqa: ANN401, ARG002 # as above
        """Report, and watch no more."""
        self._training.end()

    def _where(self) -> str:
        step = f"epoch {self._state.epoch:.2f}, global step {self._state.global_step}"
        optimizers = [] if self._optimizer is None else [self._optimizer]
        return f"the trainer was at {step}, with {optimizer_names(optimizers)}"
