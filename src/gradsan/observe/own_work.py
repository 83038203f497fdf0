"""gradsan's own work inside the program's process: its errors cost the program nothing, and it is not compiled."""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from functools import partial
from typing import TypeVar

from gradsan.observe.compilation import stay_out
from gradsan.observe.gc_pause import collector_at_rest, observers_at_rest
from gradsan.observe.guarding import attempt, shown
from gradsan.observe.private import compiler_switch, override_switch

T = TypeVar("T")

_COMPLAINTS = 64  # that are remembered


class OwnWork:
    """One in a process. `hear` receives what there is to say about gradsan itself: one line each time."""

    def __init__(self, hear: Callable[[str], None]) -> None:
        self._hear = hear
        self._complaints: set[str] = set()
        self._switch_compiler: Callable[[object], object] = lambda _: None
        self._without_overrides: Callable[[], AbstractContextManager[object]] = nullcontext

    def begin(self) -> Callable[[], None]:
        """Keep the compiler and whatever overrides functions of torch away; what is returned ends that."""
        self._switch_compiler, self._without_overrides = compiler_switch(), override_switch()
        return stay_out()

    def report(self, line: str) -> None:
        """Say it, if anybody can be reached: stderr may be closed."""
        attempt(lambda: self._hear(" ".join(line.split())), lambda _: None)

    def complain(self, what: str, error: BaseException) -> None:
        """An explanation with less in it is better than none."""
        line = shown(error)
        # Each is said once: a program may meet it in every step. One that is near its own limit knows.
        if line not in self._complaints and not isinstance(error, RecursionError):
            if len(self._complaints) < _COMPLAINTS:
                self._complaints.add(line)
            self.report(f"{what}: {line}")

    def attempted(self, otherwise: str, act: Callable[[], T]) -> T | None:
        """What `act` returns. An error of our own costs that alone: `otherwise` is said of it in one line."""
        return attempt(act, partial(self.complain, otherwise))

    def guarded(self, otherwise: str, act: Callable[[], T]) -> T | None:
        """The same, undisturbed."""
        return self.attempted(otherwise, partial(self.undisturbed, act))

    def uncollected(self, otherwise: str, act: Callable[[], T]) -> T | None:
        """The same, for what creates many objects, none of which is garbage."""

        def work() -> T:
            with collector_at_rest():
                return act()

        return self.guarded(otherwise, work)

    def apart(self, act: Callable[[], T]) -> T:
        """Not even what gradsan calls in the standard library is to be compiled with the program.

        Nor is its reading of tensors shown to `__torch_function__` of a class or a mode of the program's.
        """
        compiler = self._switch_compiler(None)
        try:
            with self._without_overrides():
                return act()
        finally:
            self._switch_compiler(compiler)

    def undisturbed(self, act: Callable[[], T]) -> T:
        """The same, for what takes its time: the program's own tracer is not to run in every line of it."""
        with observers_at_rest():
            return self.apart(act)
