"""A process of a trial: what every optimizer was given at its steps, with or without all graphs kept, and a report."""

import atexit
import json
import os
import pkgutil
import random
import sys
import time
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from platform import python_version
from typing import Any

import gradsan
from gradsan.fix.arrangement import Arrangement
from gradsan.observe.doors.session import Session, uninstall
from gradsan.observe.guarding import say
from gradsan.observe.ledger.budget import Budget
from gradsan.observe.private import private
from gradsan.report import Diagnosis, Report

_GRANT = 5.0  # seconds for dear looks: what a trial overlooks would be called mended
_STEPS = 60  # recorded; two programs that differ do so early
_PARAMETERS = 4000  # of one optimizer


class Trial:
    """Notes the gradients at every step; may keep all graphs, and end the program after so many passes."""

    def __init__(self, told: Arrangement) -> None:
        self._told = told
        self._left = told.passes
        self._steps: list[dict[str, Any]] = []
        self._optimizers: list[Any] = []  # in the order of their first steps
        self._depth = 0
        self._process, self._began = os.getpid(), time.time()
        Budget.grant = _GRANT
        self.session = Session(keeps_ledger=True, arriving=self._arriving)
        _import_from(told.scratch, told.root)
        atexit.register(self._end)  # the first to come is the last to go

    def _arriving(self) -> None:
        """Programs that do not seed their random numbers get the same ones in every trial."""
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
            if self._told.retain and len(given) > 1:
                given[1] = True
            self._depth += 1
            try:
                return engine(tensors, *given, **named)
            finally:
                self._depth -= 1

        setattr(found.engine_owner, found.engine_name, watched)
        register_optimizer_step_pre_hook(self._stepping)

    def _count(self) -> None:
        if self._depth or self._left is None:
            return
        if self._left == 0:
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

    def _end(self) -> None:
        uninstall()
        if os.getpid() != self._process:  # a fork of the program ends here too; the notes are its parent's
            return
        try:
            self._report()
        except Exception as error:  # noqa: BLE001 # the program's status stands, whatever becomes of the notes
            say(f"the trial leaves no report: {error}")

    def _report(self) -> None:
        from gradsan.causes.silence import folded

        errors, concluded = list(self.session.uncaught), self.session.conclude()
        self._write("report", folded(errors, concluded.silent) if errors else concluded.silent)
        self._write("caught", self.session.sanitizer.diagnoses)
        rank = os.environ.get("RANK", "")
        record = {"rank": int(rank) if rank.isdecimal() else None, "began": self._began, "steps": self._steps}
        self._file("steps").write_text(json.dumps(record), encoding="utf-8")

    def _write(self, name: str, found: Iterable[Diagnosis]) -> None:
        from gradsan.show.json import write

        report = Report(gradsan="trial", python=python_version(), torch=None, argv=(), diagnoses=tuple(found))
        self._file(name).write_text(write(report), encoding="utf-8")

    def _file(self, name: str) -> Path:
        return self._told.notes / f"{name}-{self._process}.json"


def _import_from(scratch: Path, root: Path) -> None:
    """Whatever leads to the user's working directory, be it a path or an editable install: the copy is imported.

    But for gradsan, which is at work already: with half of it from a copy, it would take that for the user's.
    """
    for folder, within, _ in os.walk(scratch):
        original = os.path.normpath(os.path.join(root, os.path.relpath(folder, scratch)))  # noqa: PTH118 # a string
        if original in gradsan.__path__:
            within.clear()
            continue
        sys.path_importer_cache[original] = pkgutil.get_importer(folder)


def _in_numbers(gradient: Any) -> list[float] | None:  # noqa: ANN401 # a tensor
    """Two numbers that two different gradients hardly share."""
    if gradient is None:
        return None
    values = gradient.detach().to_dense() if gradient.is_sparse else gradient.detach()
    values = values.double().flatten()
    places = values.new_tensor(range(1, len(values) + 1)) if len(values) < 100_000 else None  # noqa: PLR2004
    return [float(values.norm()), float((values * places).sum() if places is not None else values.sum())]
