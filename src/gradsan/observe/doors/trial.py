"""A run to be compared with another: what every optimizer was given at its steps, with or without all graphs kept."""

import atexit
import json
import random
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

from gradsan.observe.private import private

_STEPS = 60  # recorded; two programs that differ do so early
_PARAMETERS = 4000  # of one optimizer


class Trial:
    """Notes the gradients at every step; may keep all graphs, and end the program after so many passes."""

    def __init__(self, record: Path, *, passes: int | None, retain: bool) -> None:
        self._record = record
        self._left = passes
        self._retain = retain
        self._steps: list[dict[str, Any]] = []
        self._optimizers: list[Any] = []  # in the order of their first steps
        self._depth = 0
        self._was_stopped = False

    def begin(self) -> None:
        """From here on. Programs that do not seed their random numbers get the same ones in every trial."""
        import torch
        from torch.optim.optimizer import register_optimizer_step_pre_hook

        torch.manual_seed(0)
        random.seed(0)
        with suppress(ImportError):
            import numpy as np

            np.random.seed(0)  # noqa: NPY002 # the generator that programs share without saying so
        found = private()
        engine = getattr(found.engine_owner, found.engine_name)

        def watched(tensors: Any, *args: Any, **named: Any) -> Any:  # noqa: ANN401 # as the engine's entry has it
            self._count()
            given = [*args]
            if self._retain and len(given) > 1:
                given[1] = True
            self._depth += 1
            try:
                return engine(tensors, *given, **named)
            finally:
                self._depth -= 1

        setattr(found.engine_owner, found.engine_name, watched)
        register_optimizer_step_pre_hook(self._stepping)
        atexit.register(self._write)

    def _count(self) -> None:
        if self._depth or self._left is None:
            return
        if self._left == 0:
            self._was_stopped = True
            sys.exit(0)
        self._left -= 1

    def _stepping(self, optimizer: Any, _args: Any, _named: Any) -> None:  # noqa: ANN401 # as torch calls it
        if len(self._steps) >= _STEPS:
            return
        if not any(each is optimizer for each in self._optimizers):
            self._optimizers.append(optimizer)
        number = next(n for n, each in enumerate(self._optimizers) if each is optimizer)
        parameters = [each for group in optimizer.param_groups for each in group["params"]][:_PARAMETERS]
        self._steps.append({"optimizer": number, "gradients": [_in_numbers(each.grad) for each in parameters]})

    def _write(self) -> None:
        self._record.write_text(json.dumps({"steps": self._steps, "stopped": self._was_stopped}), encoding="utf-8")


def _in_numbers(gradient: Any) -> list[float] | None:  # noqa: ANN401 # a tensor
    """Two numbers that two different gradients hardly share."""
    if gradient is None:
        return None
    values = gradient.detach().to_dense() if gradient.is_sparse else gradient.detach()
    values = values.double().flatten()
    places = values.new_tensor(range(1, len(values) + 1)) if len(values) < 100_000 else None  # noqa: PLR2004
    return [float(values.norm()), float((values * places).sum() if places is not None else values.sum())]
