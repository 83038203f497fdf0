"""The one way that every pass takes into PyTorch's engine, watched.

Most programs come through here once a step. So all that is done for a pass of a known line is written out in one
function, where a further call would be felt.
"""

import sys
import threading
from collections.abc import Callable, Sequence
from types import FrameType
from typing import Any, Protocol

from gradsan.observe.attention import Attention
from gradsan.observe.callers import UNREAD
from gradsan.observe.log.journal import Page
from gradsan.observe.log.pen import Pen
from gradsan.observe.log.sites import SITE_MASK
from gradsan.observe.passes import Begun, Passes, new_begun

Engine = Callable[..., Any]

_getframe = sys._getframe  # noqa: SLF001 # the only way to a frame


class Watch(Protocol):
    """Whoever wants to know of passes."""

    attention: Attention

    def begins(
        self, tensors: Sequence[Any], args: tuple[Any, ...], named: dict[str, Any], frame: FrameType, words: Page
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
    at_hand = (
        watch.attention,
        pen,
        passes,
        passes.sure,
        passes.running,
        passes.counter,
        passes.orders.__next__,
        threading.get_ident,
        new_begun,
    )

    def watched(tensors: Any, *args: Any, **named: Any) -> Any:  # noqa: ANN401 # as the engine's entry has it
        attention, pen, passes, sure, running, counter, draw, this_thread, new = at_hand
        begun, is_known, thread = None, False, this_thread()
        if attention.is_watching:
            try:
                writer, words = pen.open
                if writer != thread:
                    words = pen.switch()
                site = sure.get(words[-1] & SITE_MASK) if words else None
                if site is None or site.passes >= site.due or attention.is_on or len(args) < 3:  # noqa: PLR2004 # as torch calls it
                    begun = watch.begins(tensors, args, named, _getframe(1), words)
                else:
                    is_known = True
                    begin, order, outer = counter(), draw(), running.get(thread)
                    site.passes = step = site.passes + 1
                    made, site.begin = begin - site.begin, begin
                    page, events = words.ordinal, len(words)
                    retains, creates = not not args[1], not not args[2]  # noqa: SIM208 # a name less to look up
                    gives = "accumulate_grad" in named and not not named["accumulate_grad"]  # noqa: SIM208 # as above
                    note = (order, thread, begin, made, site, UNREAD, page, events, gives, retains, creates)
                    begun = new(Begun, (*note, step, outer, site.look))
                    site.last.append(begun)
                    if outer is None:
                        site.begins.append(begin)
                    running[thread] = order
                    passes.count = order + 1
            except Exception as error:  # noqa: BLE001 # whatever it is
                watch.give_up(error)
        try:
            result = engine(tensors, *args, **named)
        except BaseException as error:
            if begun is not None:
                running[thread] = begun[-2]
                watch.failed(error, tensors, begun, _getframe(1))
            raise
        if begun is not None:
            running[thread] = begun[-2]
            if not is_known:
                watch.ended(begun)
        return result

    return watched
