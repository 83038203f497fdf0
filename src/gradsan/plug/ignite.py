"""For ignite: `attach(engine)`, before `engine.run`."""

import sys
from typing import Any

from gradsan.plug.extras import needs
from gradsan.plug.training import Training, optimizer_names

with needs("gradsan.plug.ignite", "ignite"):
    from ignite.engine import Events


def attach(engine: Any, *optimizers: Any) -> None:  # noqa: ANN401 # ignite's class, and torch's
    """Explain errors of backward passes in `run`, with epoch and iteration; report silent problems after it.

    An engine with a handler of errors would raise none any more. So an error is watched until the next run begins, or
    the program ends.
    """

    def where() -> str:
        named = f", with {optimizer_names(optimizers)}" if optimizers else ""
        return f"ignite's engine was at epoch {engine.state.epoch}, iteration {engine.state.iteration}{named}"

    training = Training(where)
    engine.add_event_handler(Events.STARTED, lambda: training.begin(sys._getframe()))  # noqa: SLF001 # the only way
    engine.add_event_handler(Events.COMPLETED, lambda: training.end())  # noqa: PLW0108 # which would be given the engine
