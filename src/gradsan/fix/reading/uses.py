"""Where the later forward reads what carries the old graph."""

import ast
from dataclasses import replace
from itertools import chain

from gradsan.fix.reading.program import Place, Program, common_frames
from gradsan.knowledge.tensors import operation
from gradsan.source.names import called_name, loaded, nodes, targets
from gradsan.source.tree import Statement, Tree, is_simple


def use_of(program: Program, name: str) -> Place | None:
    """The outermost call of the later forward that reads it: the innermost ones may call it by another name."""
    enters, used = program.diagnosis.enters, program.diagnosis.used
    if enters is None or used is None:
        return None
    later = list(filter(None, program.places(enters)[common_frames(enters, used) :]))
    reading = (place for place in later if loads(place.statement, name))
    above = filter(None, (_read_above(place, name) for place in later))
    return next(chain(reading, above), None)


def _read_above(place: Place, name: str) -> Place | None:
    """The statement above one in its block that reads it into what the one uses: `h = self.state or zeros`."""
    for statement in reversed(place.above):
        given = {place.text(each) for each in targets(statement)}
        if loads(statement, name) and any(loaded(place.statement, each) for each in given):
            return replace(place, statement=statement)
        if name in given:
            return None
    return None


def loads(statement: Statement, name: str) -> list[ast.expr]:
    """Where a statement reads it, other than to ask about it."""
    asked = set(chain.from_iterable(_asked(each, name) for each in nodes(statement)))
    return [each for each in loaded(statement, name) if is_simple(statement) and each not in asked]


def _asked(node: ast.AST, name: str) -> list[ast.expr]:
    """What a node only asks about: `name is None`, `… if name else …`."""
    match node:
        case ast.Compare(left=left):
            return [left]
        case ast.IfExp(test=test):
            return loaded(test, name)
    return []


def gives_no_graph(tree: Tree, load: ast.expr) -> bool:
    """Whether nothing comes of a reading that has its graph: `h.detach()`, `h.shape`, `torch.zeros_like(h)`."""
    match tree.parent(load):
        case ast.Attribute(attr=attr) as asked:
            call = tree.parent(asked)
            is_called = isinstance(call, ast.Call) and call.func is asked
            return operation(attr).graph in ("creates", "describes") or (is_called and operation(attr).cuts)
        case ast.Call() as call:
            return operation(called_name(call)).graph == "creates"
    return False
