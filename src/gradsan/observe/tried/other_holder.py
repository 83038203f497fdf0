"""One of two is detached: `h` of the pair `h, c`, or one of two variables that hold the same tensor."""

import ast
import re
from collections.abc import Iterator
from dataclasses import replace

from gradsan.facts.culprit import Culprit
from gradsan.facts.live_evidence import Tried
from gradsan.observe.naming.assigned_together import assigned_together
from gradsan.observe.naming.detaching import detached, detached_by
from gradsan.observe.tried.belief import Case, Ran
from gradsan.source.stores import spelled

_WITHOUT_PLACE = re.compile(r"\[[^\]]*\]$")


def found(case: Case) -> Iterator[Tried]:
    """What was tried."""
    if case.culprit is None:
        return
    for ran in case.since_created():
        yield from _half(case, ran)
        for target, inner in detached_by(ran.statement):
            if case.is_called_like_it(target):
                yield from _other_half(case, ran, spelled(target))
            elif spelled(target).split(".")[0].split("[")[0] != case.culprit and case.is_old(inner, ran.at):
                yield _one_of_two(case, ran, spelled(target), case.culprit)


def _one_of_two(case: Case, ran: Ran, done: str, left: str) -> Tried:
    sentence = f"`{done}` is detached at {ran.where}, but `{left}` is not, and leads to the old graph"
    return case.tried("half-detached", ran, left, sentence)


def _other_half(case: Case, ran: Ran, name: str) -> Iterator[Tried]:
    """The lines do not say which of two, assigned together, leads to the old graph: not the one that is detached."""
    incident = case.incident
    created = () if incident.made is None else incident.made.stack
    enters = () if incident.enters is None else incident.enters.stack
    for each in assigned_together(Culprit(name, "local"), created, enters):
        yield _one_of_two(case, ran, name, each.name)


def _half(case: Case, ran: Ran) -> Iterator[Tried]:
    """`state = (h.detach(), c)`: the pair itself is what carries."""
    match ran.statement:
        case ast.Assign(targets=[target], value=ast.Tuple(elts=parts) | ast.List(elts=parts)):
            done = [part for part in parts if detached(part) is not None]
            left = [part for part in parts if detached(part) is None]
            if len(left) > 1:  # if it is one alone, no other can lead there
                left = [part for part in left if case.is_old(part, ran.at)]
            whole = replace(case, culprit=_WITHOUT_PLACE.sub("", case.culprit or ""))
            if done and left and whole.is_called_like_it(target):
                one, other = ast.unparse(done[0]), ast.unparse(left[0])
                sentence = f"only `{one}` is detached at {ran.where}; `{other}` is not, and leads to the old graph"
                file, line = ran.at.call.code.file, ran.statement.lineno
                yield from (Tried(sentence, "part-detached", file, line, ast.unparse(part)) for part in left)
