"""The one way that every pass takes into PyTorch's engine, watched.

Most programs come through here once a step. So all that is done for a pass of a known line is written out in one
function, where a further call would be felt.
"""

import sys
from collections.abc import Callable, Sequence
from threading import get_ident
from types import FrameType
from typing import Any, Protocol

from gradsan.observe.guarding import is_ours
from gradsan.observe.hidden_frames import hidden
from gradsan.observe.log.pen import Pen
from gradsan.observe.log.sites import SITE_MASK
from gradsan.observe.notes import TAPED, Begun
from gradsan.observe.passes import Passes
from gradsan.observe.tape import CREATES, GIVES, PASS, READ, RETAINS

Engine = Callable[..., Any]
Asked = tuple[Sequence[Any], tuple[Any, ...], dict[str, Any], FrameType]  # as `begins` is given it

_getframe = sys._getframe  # noqa: SLF001 # the only way to a frame


class Watch(Protocol):
    """Whoever wants to know of passes."""

    def begins(
        self, tensors: Sequence[Any], args: tuple[Any, ...], named: dict[str, Any], frame: FrameType
    ) -> Begun | None:
        """A pass is about to run that is not like others, or is attended to."""

    def ended(self, begun: Begun) -> None:
        """Such a pass has run."""

    def failed(self, error: BaseException, begun: Begun | None, asked: Asked) -> None:
        """A pass has raised; `begun` is None where it was not noted."""

    def missed(self, error: BaseException) -> None:
        """An error of our own: a pass is not noted."""


def watched_engine(engine: Engine, watch: Watch, passes: Passes, pen: Pen) -> Engine:  # noqa: C901 # flat for speed
    """The engine's entry, which also notes its passes."""
    # In one tuple: each variable of a closure is an object of its own, and so one more that is not in the cache.
    at_hand = (passes.tape, pen, passes.sure, passes.recent, passes.counter, passes.running_pass, get_ident, TAPED)

    @hidden
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
                    kind, page, events = PASS, words.ordinal, len(words)
                else:
                    site, kind, page, events = recent(), PASS | READ, 0, 0
                # Asked last: whose the tape is was settled before any line was sure for that thread.
                if site and thread == tape.thread:
                    if named.get("accumulate_grad"):
                        kind |= GIVES
                    if args[1]:
                        kind |= RETAINS
                    if args[2]:
                        kind |= CREATES
                    tape.append((kind, counter(), site, page, events, thread, 0))
                    begun = taped
            if begun is None:
                begun = watch.begins(tensors, args, named, _getframe(1))
        except BaseException as error:
            if not is_ours(error):
                raise
            watch.missed(error)
        try:
            result = engine(tensors, *args, **named)
        except BaseException as error:
            try:
                watch.failed(error, begun, (tensors, args, named, _getframe(1)))
            except BaseException as own:
                if not is_ours(own):
                    raise
                watch.missed(own)
            raise
        if begun is not None and begun is not taped:
            try:
                watch.ended(begun)
            except BaseException as error:
                if not is_ours(error):
                    raise
                watch.missed(error)
        return result

    return watched
