"""What is computed only if it is not there yet, computed always."""

import ast
from collections.abc import Iterator
from itertools import pairwise

from gradsan.fix.reading.program import Place, Program
from gradsan.fix.writing.drafting import Draft
from gradsan.source.placing import code_of
from gradsan.source.tree import Statement


def without_the_question(program: Program) -> Iterator[Draft]:
    """Without each question that may leave the creating statement out, in every function that leads to it."""
    for place in program.apart_from_the_pass(program.diagnosis.made):
        yield from _without_the_branch(place)
        yield from _without_the_early_return(place)


def _without_the_branch(place: Place) -> Iterator[Draft]:
    """`if …:` around it, which does something else in other iterations."""
    for inner, outer in pairwise(place.around):
        if isinstance(outer, ast.If):
            block = outer.body if inner in outer.body else outer.orelse
            codes = [code_of(place.tree, each, blanks=number > 0) for number, each in enumerate(block)]
            yield Draft().rewrite(place.tree, outer, *codes)


def _without_the_early_return(place: Place) -> Iterator[Draft]:
    """`if key in cache: return cache[key]` above it."""
    for around in place.around:
        block = list(place.tree.block(around))
        above = reversed(block[: block.index(around)])
        yield from (Draft().remove(place.tree, each) for each in above if _only_leaves(each))


def _only_leaves(statement: Statement) -> bool:
    """Whether what stands below it is left out where its own block is run."""
    if not isinstance(statement, ast.If | ast.Try) or statement.orelse:
        return False
    return isinstance(statement.body[-1], ast.Return | ast.Continue)
