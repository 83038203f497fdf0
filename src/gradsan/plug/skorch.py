"""For skorch: `NeuralNet(…, callbacks=[GradsanCallback()])`."""

import sys
from typing import Any

from gradsan.plug.extras import needs
from gradsan.plug.training import Training, optimizer_names

with needs("GradsanCallback", "skorch"):
    from skorch.callbacks import Callback


class GradsanCallback(Callback):  # type: ignore[misc] # the library is not there when types are checked
    """Explains errors of backward passes in `fit`, with the net's epoch and batch; reports silent problems after it."""

    def initialize(self) -> "GradsanCallback":
        """As skorch asks of its callbacks, which it copies: what has a state is made here."""
        self.net_: Any = None
        self.training_ = Training(self._where)
        return self

    def on_train_begin(self, net: Any, X: Any = None, y: Any = None, **kwargs: Any) -> None:  # noqa: ANN401, ARG002, N803 # skorch's signature
        """Begin to watch."""
        self.net_ = net
        self.training_.begin(sys._getframe())  # noqa: SLF001 # the only way to a frame

    def on_train_end(self, net: Any, X: Any = None, y: Any = None, **kwargs: Any) -> None:  # noqa: ANN401, ARG002, N803 # as above
        """Report, and watch no more."""
        self.training_.end()

    def _where(self) -> str:
        history = self.net_.history
        batches = len(history[-1].get("batches", ())) if len(history) else 0
        return f"skorch was at epoch {len(history)}, batch {batches}, with {optimizer_names([self.net_.optimizer_])}"
