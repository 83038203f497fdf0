"""`last = h.detach()`, and the later forward is given `h` all the same: nobody uses the detached one."""

import ast
from collections.abc import Iterator

from gradsan.facts.live_evidence import Tried
from gradsan.observe.naming.detaching import detached
from gradsan.observe.tried.belief import Case, is_read_after
from gradsan.source.stores import spelled, text


def found(case: Case) -> Iterator[Tried]:
    """What was tried."""
    for ran in case.since_created():
        match ran.statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                target = detached(value)
                if target is None or text(target) == name or not case.is_culprit(target, ran.at):
                    continue
                if not is_read_after(name, ran.at):
                    given = text(target)
                    sentence = f"`{name}`, detached at {ran.where}, is not used: backward() goes through `{given}`"
                    yield case.tried("detached-copy", ran, spelled(target), sentence)
