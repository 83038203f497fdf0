"""gradsan around the training of a trainer: one core for all of them.

A trainer's adapter says when training begins and ends, and where the trainer is when somebody asks. It is asked when
there is something to explain, and never in a step.
"""

from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import replace
from types import FrameType
from typing import Any

from gradsan.entry.installing import Watch, current_session, watch
from gradsan.observe.guarding import attempt, say, shown
from gradsan.report import Diagnosis


class Training:
    """Watched from `begin` to `end`: errors are explained, and silent problems are printed at the end.

    `where`: a sentence of the trainer's epoch, step and optimizers. Where gradsan watches the whole program already,
    that sentence is all that is added.
    """

    def __init__(self, where: Callable[[], str]) -> None:
        self._where = where
        self._open: AbstractContextManager[Watch] | None = None
        self._watched: Watch | None = None
        self._release: Callable[[], None] = lambda: None

    def begin(self, frame: FrameType | None = None) -> None:
        """Training begins; an earlier one that ended without a word, by an error, is over.

        `frame`: whose callers wait until training is over, each at its line.
        """
        attempt(lambda: self._begin(frame), _unwatched)

    def end(self, error: BaseException | None = None) -> None:
        """Training is over, or an error has ended it."""
        attempt(lambda: self._end(error), _unwatched)

    @contextmanager
    def block(self) -> Iterator[None]:
        """Training is what happens in the block."""
        self.begin()
        try:
            yield
        except BaseException as error:
            self.end(error)
            raise
        self.end()

    def _begin(self, frame: FrameType | None) -> None:
        self._end(None)
        self._open = watch(quiet=True)
        self._watched = self._open.__enter__()
        session = current_session()
        if session is not None:
            self._release = session.training_begins(frame)
            session.explainer.surroundings.append(self._where)

    def _end(self, error: BaseException | None) -> None:
        opened, self._open = self._open, None
        watched, self._watched = self._watched, None
        session = current_session()
        if opened is None or watched is None:
            return
        self._release()
        if session is not None and error is not None:
            session.ended_by(error, ends_process=True)
        if error is None:
            opened.__exit__(None, None, None)
        else:
            opened.__exit__(type(error), error, error.__traceback__)
        if session is not None:
            session.explainer.surroundings.remove(self._where)
        if session is not None and error is None:
            silent = [self._with_where(each) for each in watched.diagnoses if each.error is None]
            session.ranks.leave(silent, watched.summary)
            session.show(silent)

    def _with_where(self, silent: Diagnosis) -> Diagnosis:
        return replace(silent, notes=(*silent.notes, self._where()))


def optimizer_names(optimizers: Iterable[Any]) -> str:
    """The classes of a trainer's optimizers, those that wrappers hold; the second of a class is `SGD-1`."""
    names: list[str] = []
    for each in optimizers:
        name = type(getattr(each, "optimizer", each)).__name__
        names.append(f"`{name}-{names.count(f'`{name}`')}`" if f"`{name}`" in names else f"`{name}`")
    return ("optimizer " if len(names) == 1 else "optimizers ") + ", ".join(names) if names else "no optimizer"


def _unwatched(error: BaseException) -> None:
    say(f"this training is not watched: {shown(error)}")
