"""What an author lives with, as comments in the source say, and which of these no longer apply."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from gradsan.report import Diagnosis
from gradsan.source.comments import Comment


@dataclass(frozen=True, slots=True)
class Silenced:
    """What is left to tell, and the comments that silenced nothing."""

    told: tuple[Diagnosis, ...]
    unused: tuple[Comment, ...]


def silenced(diagnoses: Iterable[Diagnosis], comments: Mapping[str, list[Comment]]) -> Silenced:
    """Leave out what comments on its lines ask not to be told."""
    used: set[Comment] = set()
    told = []
    for each in diagnoses:
        covering = [
            comment
            for place in (each.used, each.held, each.made, each.cut, each.changed, each.enters)
            if place is not None and place.cell is None
            for comment in comments.get(place.file, [])
            if comment.covers(place.line, each.code.lower(), each.name)
        ]
        used.update(covering)
        if not covering:
            told.append(each)
    everything = [comment for listed in comments.values() for comment in listed]
    return Silenced(tuple(told), tuple(each for each in everything if each not in used))
