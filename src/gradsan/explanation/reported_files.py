"""Live evidence as it is handed to whoever makes edits, beside the diagnosis: with files named as reports name them."""

from collections.abc import Iterable
from dataclasses import replace

from gradsan.facts.culprit import shown
from gradsan.facts.incident import OpFact
from gradsan.facts.live_evidence import Crossed, LiveEvidence, Tried


def as_reported(live: LiveEvidence, tried: Iterable[Tried]) -> LiveEvidence:
    """With what was tried, where a fix can be built on it."""
    return replace(
        live,
        graph_lines=tuple(replace(each, file=shown(each.file)) for each in live.graph_lines),
        crossings=None if live.crossings is None else tuple(map(_crossed, live.crossings)),
        tried=tuple(replace(each, file=shown(each.file)) for each in tried if each.what is not None),
    )


def _crossed(crossed: Crossed) -> Crossed:
    return replace(crossed, made=_op(crossed.made), enters=_op(crossed.enters))


def _op(op: OpFact) -> OpFact:
    return replace(op, stack=tuple(replace(each, file=shown(each.file)) for each in op.stack))
