"""For Lightning 2: `Trainer(callbacks=[GradsanCallback()])`, with automatic or manual optimization."""

import sys
from typing import Any

from gradsan.plug.extras import needs
from gradsan.plug.training import Training, optimizer_names

with needs("GradsanCallback", "lightning"):
    from lightning.pytorch.callbacks import Callback


class GradsanCallback(Callback):  # type: ignore[misc] # the library is not there when types are checked
    """Explains errors of backward passes in `fit`, with epoch and step; reports silent problems after it."""

    def __init__(self) -> None:
        self._trainer: Any = None
        self._training = Training(self._where)

    def on_fit_start(self, trainer: Any, pl_module: Any) -> None:  # noqa: ANN401, ARG002 # Lightning's signature
        """Begin to watch."""
        self._trainer = trainer
        self._training.begin(sys._getframe())  # noqa: SLF001 # the only way to a frame

    def on_fit_end(self, trainer: Any, pl_module: Any) -> None:  # noqa: ANN401, ARG002 # as above
        """Report, and watch no more."""
        self._training.end()

    def on_exception(self, trainer: Any, pl_module: Any, exception: BaseException) -> None:  # noqa: ANN401, ARG002 # as above
        """Watch no more; the explanation is on the error."""
        self._training.end(exception)

    def _where(self) -> str:
        trainer = self._trainer
        step = f"epoch {trainer.current_epoch}, batch {trainer.fit_loop.batch_idx}, global step {trainer.global_step}"
        return f"Lightning's trainer was at {step}, with {optimizer_names(trainer.optimizers)}"
