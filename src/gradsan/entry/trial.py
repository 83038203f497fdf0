"""A process of a trial: what every optimizer was given at its steps, with or without all graphs kept, and a report."""

import atexit
import json
import os
import pkgutil
import random
import sys
import time
import zlib
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path
from platform import python_version
from typing import Any

import gradsan
from gradsan.entry.ending import Ending
from gradsan.entry.outside import note_writes
from gradsan.entry.session import Session
from gradsan.fix.trials.arrangement import UNCHECKED, Arrangement
from gradsan.observe.given_gradients import GivenGradients
from gradsan.observe.guarding import say
from gradsan.observe.private import private
from gradsan.observe.reference_runs.references import be_precise, reference, without_version_checks
from gradsan.observe.thoroughness import be_thorough
from gradsan.report import Diagnosis, Report


class Trial:
    """Notes the gradients at every step; may be a reference run, and end the program after so many steps."""

    def __init__(self, arrangement: Arrangement) -> None:
        self._arrangement = arrangement
        self._ending = Ending(arrangement.limit, self._end)
        self._given = GivenGradients()
        self._reference = reference("same")
        self._sites: dict[int, int | None] = {}  # by the numbers of ops
        self._depth = 0
        self._process, self._began = os.getpid(), time.time()
        be_thorough(weighed=arrangement.weighed)
        self.session = Session(
            keeps_ledger=arrangement.reference is None, details=arrangement.weighed > 0, arriving=self._arriving
        )
        if arrangement.scratch != arrangement.root:
            _import_from(arrangement.scratch, arrangement.root)
            note_writes(arrangement.scratch, arrangement.notes)
        atexit.register(self._end)  # the first to come is the last to go

    def _arriving(self) -> None:
        """Programs that do not seed their random numbers get the same ones in every trial."""
        import torch
        from torch.optim.optimizer import register_optimizer_step_post_hook, register_optimizer_step_pre_hook

        torch.manual_seed(0)
        random.seed(0)
        with suppress(ImportError):
            import numpy as np

            np.random.seed(0)  # noqa: NPY002 # the generator that programs share without saying so
        asked = self._arrangement
        if asked.precise:
            be_precise()
        if asked.reference is not None:
            self._reference = reference(asked.reference.removesuffix(UNCHECKED), asked.noted, asked.line)
            self._reference.site_of = self._site_of
            if asked.reference.endswith(UNCHECKED):
                without_version_checks()
        found = private()
        engine = getattr(found.engine_owner, found.engine_name)

        def watched(tensors: Any, *args: Any, **named: Any) -> Any:  # noqa: ANN401 # as the engine's entry has it
            if not self._depth:
                self._ending.passing()
                self._given.passing(tensors)
            self._depth += 1
            try:
                return self._reference.run(engine, tensors, [*args], named)
            finally:
                self._depth -= 1

        setattr(found.engine_owner, found.engine_name, watched)
        register_optimizer_step_pre_hook(self._stepping)
        register_optimizer_step_post_hook(self._stepped)

    def _stepping(self, optimizer: Any, _args: Any, _named: Any) -> None:  # noqa: ANN401 # as torch calls it
        self._ending.stepping()
        if self._arrangement.reference is not None and self._given.is_full and not self._reference.runs_on:
            sys.exit(0)  # nobody asks for more of it
        self._reference.before_step(optimizer)
        if self._reference.skips_steps:
            self._given.left_out += 1
        else:
            self._given.stepping(optimizer, is_stale=self._reference.is_stale)

    def _stepped(self, optimizer: Any, _args: Any, _named: Any) -> None:  # noqa: ANN401 # as above
        self._reference.after_step(optimizer)

    def _site_of(self, number: int) -> int | None:
        """The calls and the line that created an op, as a number that is the same in every run."""
        if number not in self._sites:
            lines = self.session.sanitizer.recorder.lines()
            stack = None if lines is None else lines.stack_of(number)
            calls = [(Path(each.file).name, each.line) for each in stack or ()]
            self._sites[number] = zlib.crc32(repr(calls).encode()) if calls else None
        return self._sites[number]

    def _end(self) -> None:
        gradsan.uninstall()
        if os.getpid() != self._process:  # a fork of the program ends here too; the notes are its parent's
            return
        try:
            self._report()
        except Exception as error:  # noqa: BLE001 # the program's status stands, whatever becomes of the notes
            say(f"the trial leaves no report: {error}")

    def _report(self) -> None:
        import msgspec

        from gradsan.causes.silence import folded

        errors, concluded = list(self.session.uncaught), self.session.conclude()
        self._write("report", folded(errors, concluded.silent) if errors else concluded.silent)
        self._write("caught", self.session.explainer.diagnoses)
        self._file("live").write_bytes(msgspec.json.encode(self.session.explainer.live))
        self._given.ending()
        timeline = concluded.timeline
        rank = os.environ.get("RANK", "")
        record = {
            "rank": int(rank) if rank.isdecimal() else None,
            "began": self._began,
            "steps": self._given.steps,
            "late": self._given.late,
            "names": self._given.names,
            "stale": self._reference.is_stale,
            "shared": self._reference.is_shared,
            "joint": self._reference.is_joint,
            "idle": self._reference.has_idle_terms,
            "momentum": self._reference.keeps_momentum,
            "piled": self._reference.is_piled,
            "noted": sorted(self._reference.noted),
            "sites": sorted(self._reference.sites),
            "shaped": self._given.shaped(),
            "made": self._ending.steps,
            "passes": self._ending.passes,
            "ended_early": self._ending.came or (self._given.is_full and self._given.left_out > 0),
            "files": self.session.sanitizer.recorder.ownership.seen,
            "weighed": None if timeline is None else msgspec.to_builtins((timeline.holders, timeline.samples)),
        }
        self._file("steps").write_text(json.dumps(record), encoding="utf-8")

    def _write(self, name: str, found: Iterable[Diagnosis]) -> None:
        from gradsan.show.json import write

        report = Report(gradsan="trial", python=python_version(), torch=None, argv=(), diagnoses=tuple(found))
        self._file(name).write_text(write(report), encoding="utf-8")

    def _file(self, name: str) -> Path:
        return self._arrangement.notes / f"{name}-{self._process}.json"


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
