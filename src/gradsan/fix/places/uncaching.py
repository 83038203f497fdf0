"""A computation without the cache that keeps the values of the first step."""

import ast
from collections.abc import Iterator

from gradsan.fix.reading.flow import only
from gradsan.fix.reading.program import Place, Program
from gradsan.fix.writing.drafting import Draft
from gradsan.knowledge.effects import does
from gradsan.source.names import last_name, loaded
from gradsan.source.placing import code_of
from gradsan.source.tree import Function


def without_the_cache(program: Program) -> Iterator[Draft]:
    """Without every cache between the parameters and the pass: one that is left keeps the values of the first step."""
    others = [found for each in program.graph_places() if (found := list(_of_one_cache(program, each)))]
    for place in program.inward(program.diagnosis.made):
        for draft in _of_one_cache(program, place):
            yield draft.with_one_of_each(others) or draft


def _of_one_cache(program: Program, place: Place) -> Iterator[Draft]:
    yield from _unguarded(program, place)
    yield from _undecorated(place)


def _unguarded(program: Program, place: Place) -> Iterator[Draft]:
    """`if self.cached is None: self.cached = …`: without the question, in the function that then hands it out."""
    guard = next(iter(only(ast.If, place.tree.above(place.statement))), None)
    if guard is None or not _only_computes(guard, place) or not _is_handed_out(program, place, guard):
        return
    first, *others = guard.body
    codes = [code_of(place.tree, each, blanks=True) for each in others]
    yield Draft().rewrite(place.tree, guard, code_of(place.tree, first, comments=False), *codes)


def _only_computes(guard: ast.If, place: Place) -> bool:
    """Whether the branch computes it and does nothing else."""
    is_alone = place.statement in guard.body and not guard.orelse
    return is_alone and all(isinstance(each, ast.Assign | ast.Expr) for each in guard.body)


def _is_handed_out(program: Program, place: Place, guard: ast.If) -> bool:
    """Whether a statement below the question reads what is kept."""
    targets = place.statement.targets if isinstance(place.statement, ast.Assign) else []
    kept = [*map(place.text, targets), *filter(None, [program.name])]
    below = place.tree.below(guard)
    return any(loaded(below, name.partition("[")[0]) for name in kept)


def _undecorated(place: Place) -> Iterator[Draft]:
    """`@lru_cache` on the function that computed it; what is read like an attribute still is."""
    function = place.scope
    if not isinstance(function, Function):
        return
    draft = Draft()
    caching = [each for each in function.decorator_list if _caches(each)]
    for each in caching:
        if _decorator_name(each) == "cached_property":
            draft.replace(place.tree, each, "property")
        else:
            draft.undecorate(place.tree, function, each)
    if caching:
        yield draft


def _caches(decorator: ast.expr) -> bool:
    return _decorator_name(decorator) == "cached_property" or does(_decorator_name(decorator), "caches")


def _decorator_name(decorator: ast.expr) -> str:
    return last_name(decorator.func if isinstance(decorator, ast.Call) else decorator)
