"""The one way that every pass takes into PyTorch's engine, watched.

Most programs come through here once a step. So all that is done for a pass of a known line is written out in one
function, where a further call would be felt.
"""

import sys
from collections.abc import Callable, Sequence
from threading import get_ident
from types import FrameType
from typing import Any, Protocol

from gradsan.observe.log.pen import Pen
from gradsan.observe.log.sites import SITE_MASK, SITES
from gradsan.observe.notes import TAPED, Begun
from gradsan.observe.passes import Passes
from gradsan.observe.tape import CREATES, GIVES, KINDS, PASS, READ, RETAINS

Engine = Callable[..., Any]

_getframe = sys._getframe  # noqa: SLF001 # the only way to a frame


class Watch(Protocol):
    """Whoever wants to know of passes."""

    def begins(
        self, tensors: Sequence[Any], args: tuple[Any, ...], named: dict[str, Any], frame: FrameType
    ) -> Begun | None:
        """A pass is about to run that is not like others, or is attended to."""

    def ended(self, begun: Begun) -> None:
        """Such a pass has run."""

    def failed(self, error: BaseException, tensors: Sequence[Any], begun: Begun, frame: FrameType) -> None:
        """A pass has raised."""

    def give_up(self, error: Exception) -> None:
        """An error of our own."""


def watched_engine(engine: Engine, watch: Watch, passes: Passes, pen: Pen) -> Engine:  # noqa: C901 # flat for speed
    """The engine's entry, which also notes its passes."""
    # In one tuple: each variable of a closure is an object of its own, and so one more that is not in the cache.
    at_hand = (passes.tape, pen, passes.sure, passes.recent, passes.counter, passes.running_pass, get_ident, TAPED)

    def watched(tensors: Any, *args: Any, **named: Any) -> Any:  # noqa: ANN401, C901, PLR0912 # as torch has it; as above
        tape, pen, sure, recent, counter, running_pass, this_thread, taped = at_hand
        begun = None
        try:
            if len(tape) >= tape.limit:
                tape.run_on()
            if len(tape) < tape.limit and running_pass() < 0 and len(args) > 2:  # noqa: PLR2004 # as torch calls it
                thread, words, _, _ = pen.open
                if thread != (here := this_thread()):
                    thread, words = here, pen.switch()
                if words and (site := words[-1] & SITE_MASK) in sure:
                    kind, page, event = PASS, words.ordinal, len(words)
                else:
                    site, kind, page, event = 0, PASS | READ, 0, recent()
                if event:
                    begun = taped
                    if named.get("accumulate_grad"):
                        kind |= GIVES
                    if args[1]:
                        kind |= RETAINS
                    if args[2]:
                        kind |= CREATES
                    tape.extend((counter() * SITES + site, page, event * KINDS + kind, thread, 0))
            if begun is None:
                begun = watch.begins(tensors, args, named, _getframe(1))
        except Exception as error:  # noqa: BLE001 # whatever it is
            watch.give_up(error)
        try:
            result = engine(tensors, *args, **named)
        except BaseException as error:
            if begun is not None:
                watch.failed(error, tensors, begun, _getframe(1))
            raise
        if begun is not None and begun is not taped:
            watch.ended(begun)
        return result

    return watched
