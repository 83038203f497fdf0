"""The run that a ledger is kept of: what is noted of it, and how much time costly searches may take."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from types import FrameType
from typing import Any, Self

from gradsan.observe.ledger.budget import Budget
from gradsan.observe.ledger.holder_scan import HeldGraphs
from gradsan.observe.ledger.passlines import Asked, PassLines
from gradsan.observe.ledger.wording import user_files, user_modules
from gradsan.observe.log.frames import frames_out
from gradsan.observe.notes import Begun
from gradsan.observe.process import Process


@dataclass(frozen=True, slots=True)
class Run:
    """One in a process; all accounts are kept of it."""

    process: Process
    lines: PassLines  # that ask for passes
    budget: Budget = field(default_factory=Budget)

    @classmethod
    def of(cls, process: Process) -> Self:
        """What is to be noted of a process."""
        return cls(process, PassLines(process.steps, process.passes.tape.take_in))

    def asked(self, note: Begun, tensors: Sequence[Any], frame: FrameType) -> Asked | None:
        """A pass that is about to run; None: its line is none of those that are followed."""
        line = self.lines.begins(note, tensors, frame)
        return None if line is None else Asked(note, tensors, frame, line)

    @property
    def owns(self) -> Callable[[str], bool]:
        """Says of a file whether it is the user's."""
        return self.process.owns

    @property
    def files(self) -> set[str]:
        """The user's, as far as they are known."""
        return user_files(self.owns) | self.lines.files

    def held(self, frame: FrameType | None) -> HeldGraphs:
        """All tensors with a graph within reach of a frame; of the user's modules, where the program is over."""
        modules = user_modules(self.owns) if frame is None else ()
        return HeldGraphs(self.owns).search(frames_out(frame), modules)
