"""What an author lives with, as comments in the source say, and which of these no longer apply."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from gradsan.report import Diagnosis
from gradsan.source.comments import Comment


@dataclass(frozen=True, slots=True)
class Silenced:
    """What is left to report, and the comments that silenced nothing."""

    reported: tuple[Diagnosis, ...]
    unused: tuple[Comment, ...]


def silenced(diagnoses: Iterable[Diagnosis], comments: Mapping[str, list[Comment]]) -> Silenced:
    """Leave out what comments on its lines ask not to be reported."""
    listed = list(diagnoses)
    covering = {id(each): _covering(each, comments) for each in listed}
    used = {comment for found in covering.values() for comment in found}
    everything = [comment for found in comments.values() for comment in found]
    return Silenced(
        tuple(each for each in listed if not covering[id(each)]),
        tuple(each for each in everything if each not in used),
    )


def _covering(diagnosis: Diagnosis, comments: Mapping[str, list[Comment]]) -> list[Comment]:
    """The comments on the lines of a diagnosis that speak of it."""
    each = diagnosis
    places = [place for place in (each.used, each.held, each.made, each.cut, each.changed, each.enters) if place]
    beside = ((place, one) for place in places for one in comments.get(place.file, ()))
    return [one for place, one in beside if one.covers(place.cell, place.line, each.code.lower(), each.name)]
