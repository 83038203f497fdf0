"""Work on files within a budget: what takes too much time or memory is ended, and whoever asked is told why.

The work is done in processes that the system itself ends, be they in the midst of a regular expression or without
stack; also when the process is gone that asked for the work. Where a system has no such processes, the work is done
here, without a budget.
"""

import contextlib
import faulthandler
import gc
import os
import pickle
import select
import signal
import sys
import threading
import warnings
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import BinaryIO, Generic, NoReturn, TypeVar

from gradsan.errors import own_fault

SECONDS = 30.0  # of the processor, for one piece of work
MEMORY = 1 << 30  # bytes, beside those in use when the work begins
_NEW_OBJECTS = 100_000  # before circles are looked for: trees have none, and the search takes a third of the time
_OUT_OF_MEMORY = f"it takes more than {MEMORY >> 30} GB of memory"
_OUT_OF_TIME = f"it takes longer than {SECONDS:g} seconds"
_HAS_PROCESSES = hasattr(os, "fork") and hasattr(signal, "setitimer")
_REASONS = {getattr(signal, "SIGPROF", None): _OUT_OF_TIME, getattr(signal, "SIGKILL", None): _OUT_OF_MEMORY}

Item = TypeVar("Item")
Answer = TypeVar("Answer")

_is_worker = False  # then the budget is that of the whole work, of which this is a part


@dataclass(frozen=True, slots=True)
class Exceeded:
    """The answer to work that was not done."""

    why: str


def answers(
    work: Callable[[Item], Answer], items: Iterable[Item], *, jobs: int
) -> Iterator[tuple[Item, Answer | Exceeded]]:
    """Each item with what the work came to, as they are done; an error of the work's costs that item alone."""
    if _is_worker or not _HAS_PROCESSES:
        yield from ((item, _done(work, item)) for item in items)
        return
    waiting = iter(items)
    workers = [_Worker(work, item) for item in islice(waiting, jobs)]
    busy = list(workers)
    try:
        while busy:
            for worker in select.select(busy, (), ())[0]:
                busy.remove(worker)
                yield worker.item, worker.answer()
                busy += [worker.begun(item) for item in islice(waiting, 1)]
    finally:
        for worker in workers:
            worker.end()


def within_budget(work: Callable[[], Answer]) -> Answer | Exceeded:
    """What a single piece of work came to."""
    ((_, answer),) = answers(lambda _: work(), (None,), jobs=1)
    return answer


class Standby(Generic[Item, Answer]):
    """One process that is asked again and again, each time with the whole budget: what it has read, it knows.

    Whoever asks waits; another thread may `interrupt`. Where a system has no such processes, the work is done here.
    """

    def __init__(self, work: Callable[[Item], Answer]) -> None:
        self._work = work
        self._worker: _Worker[Item, Answer] | None = None
        self._changing = threading.Lock()
        self._is_busy = False

    def ask(self, item: Item) -> Answer | Exceeded:
        """What the work came to."""
        if not _HAS_PROCESSES:
            return _done(self._work, item)
        with self._changing:
            self._worker = _Worker(self._work, item) if self._worker is None else self._worker.begun(item)
            self._is_busy = True
        select.select((self._worker,), (), ())
        with self._changing:
            self._is_busy = False
        return self._worker.answer()

    def interrupt(self) -> None:
        """Give up what is being done, if anything is: the answer will be that it was not."""
        with self._changing:
            if self._worker is not None and self._is_busy:
                self._worker.kill()

    def end(self) -> None:
        """Nobody asks any more."""
        if self._worker is not None:
            self._worker.end()


class _Worker(Generic[Item, Answer]):
    """A process, or one after the other, with one piece of work at a time."""

    def __init__(self, work: Callable[[Item], Answer], item: Item) -> None:
        self._work = work
        self._process: int | None = None
        self.begun(item)

    def begun(self, item: Item) -> "_Worker[Item, Answer]":
        """The same with this to do; in a new process where the last one has ended."""
        if self._process is None:
            self._start()
        self.item = item
        with contextlib.suppress(BrokenPipeError):  # it has been killed: its answer will say so
            pickle.dump(item, self._questions)
            self._questions.flush()
        return self

    def fileno(self) -> int:
        """Where it answers."""
        return self._answers.fileno()

    def answer(self) -> Answer | Exceeded:
        """What the work came to."""
        try:
            answer, is_spent = pickle.load(self._answers)  # noqa: S301 # from a copy of this process
        except (EOFError, pickle.UnpicklingError):
            return Exceeded(_REASONS.get(self.end(), "reading it ends the process that does so"))
        if is_spent:
            self.end()
        return answer  # type: ignore[no-any-return]

    def kill(self) -> None:
        """Let it die in the midst of its work; whoever waits for the answer hears of it."""
        if self._process is not None:
            os.kill(self._process, signal.SIGKILL)

    def end(self) -> int:
        """End the process; the answer is the signal of which it died."""
        if self._process is None:
            return 0
        process, self._process = self._process, None
        os.kill(process, signal.SIGKILL)
        with contextlib.suppress(BrokenPipeError):
            self._questions.close()
        self._answers.close()
        os.close(self._lifeline)
        return os.WTERMSIG(os.waitpid(process, 0)[1])

    def _start(self) -> None:
        asked, asking = os.pipe()
        answered, answering = os.pipe()
        held, self._lifeline = os.pipe()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of threads: the copy uses nothing that one of them could have locked
            self._process = os.fork()
        if self._process == 0:
            os.close(asking)
            os.close(answered)
            os.close(self._lifeline)
            _serve(self._work, os.fdopen(asked, "rb"), os.fdopen(answering, "wb"), held)
        os.close(asked)
        os.close(answering)
        os.close(held)
        self._questions: BinaryIO = os.fdopen(asking, "wb")
        self._answers: BinaryIO = os.fdopen(answered, "rb")


def _serve(work: Callable[[Item], Answer], questions: BinaryIO, answers: BinaryIO, lifeline: int) -> NoReturn:
    """Do the work as long as somebody asks for it."""
    global _is_worker  # noqa: PLW0603 # of this process, to its end
    _is_worker = True
    try:
        faulthandler.disable()  # whoever asked hears of a crash, in one sentence
        for each in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGPROF):
            signal.signal(each, signal.SIG_DFL)
        _die_with(lifeline)
        gc.freeze()
        gc.set_threshold(_NEW_OBJECTS)
        before = _limit_memory()
        while True:
            item = pickle.load(questions)  # noqa: S301 # from the process that this is a copy of
            signal.setitimer(signal.ITIMER_PROF, SECONDS)
            pickle.dump((_done(work, item), _in_use() - before > MEMORY // 4), answers)
            answers.flush()
            signal.setitimer(signal.ITIMER_PROF, 0)
    finally:
        os._exit(0)


def _die_with(lifeline: int) -> None:
    """Be ended as soon as nobody holds the other end of a pipe: a killed process cannot end what it has begun."""
    import fcntl

    if sys.platform == "linux":  # else a signal that nobody handles is ignored, and Python handles it between two lines
        signal.signal(signal.SIGIO, signal.SIG_DFL)
    else:
        signal.signal(signal.SIGIO, lambda _number, _frame: os._exit(1))
    fcntl.fcntl(lifeline, fcntl.F_SETOWN, os.getpid())
    fcntl.fcntl(lifeline, fcntl.F_SETFL, os.O_ASYNC)
    if select.select((lifeline,), (), (), 0)[0]:  # it was gone before
        os._exit(1)


def _done(work: Callable[[Item], Answer], item: Item) -> Answer | Exceeded:
    try:
        return work(item)
    except MemoryError:
        return Exceeded(_OUT_OF_MEMORY)
    except Exception as error:  # noqa: BLE001 # whatever the item holds
        return Exceeded(own_fault(error))


def _limit_memory() -> int:
    """Set the budget; the answer is what is in use before anything is done."""
    import resource

    before = _in_use()
    allowed = [before + MEMORY, *resource.getrlimit(resource.RLIMIT_AS)]
    most = min(each for each in allowed if each != resource.RLIM_INFINITY)
    with contextlib.suppress(OSError, ValueError):  # a system that has no such limits
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        if before:
            resource.setrlimit(resource.RLIMIT_AS, (most, resource.getrlimit(resource.RLIMIT_AS)[1]))
    return before


def _in_use() -> int:
    """Bytes of memory that this process can address; 0 where the system does not say."""
    try:
        return int(Path("/proc/self/statm").read_bytes().split()[0]) * os.sysconf("SC_PAGESIZE")
    except OSError:
        return 0
