"""Where gradients are cleared: no hook shows that, but the lines that ran do."""

from collections.abc import Iterator

from gradsan.facts.location import Frame
from gradsan.knowledge.effects import does
from gradsan.observe.log.lines import Lines
from gradsan.observe.log.sites import Kind
from gradsan.observe.user_statements import calls_at
from gradsan.source.names import called_name
from gradsan.source.stores import text

_BLOCKS = 112  # of the log: all that it keeps


def lines_of(log: Lines) -> Iterator[tuple[Frame, int]]:
    """Each line that ran, and the op counter then, as far as the log has it."""
    frames: dict[tuple[int, int], Frame] = {}
    for stretch in log.replay(0, None, blocks=_BLOCKS):
        for (kind, code, line), number, _ in stretch.events:
            if kind == Kind.LINE:
                key = (code.index, line)
                if key not in frames:
                    frames[key] = Frame(code.file, line, code.function)
                yield frames[key], number


def cleared_at(place: Frame) -> str | None:
    """What a line clears, as it is written; None: it clears nothing."""
    for call in calls_at(place):
        if does(called_name(call), "clears"):
            return text(getattr(call.func, "value", call.func)) or ""
    return None
