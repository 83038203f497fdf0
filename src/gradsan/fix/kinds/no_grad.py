"""Compute a whole statement without recording it."""

from collections.abc import Iterator, Sequence

import libcst as cst

from gradsan.fix.calls import called_name
from gradsan.fix.carried import no_grad
from gradsan.fix.drafting import Draft
from gradsan.fix.expressions import nodes
from gradsan.fix.program import Program
from gradsan.fix.tree import Tree
from gradsan.knowledge.effects import does, may_ask_for_pass


def drafts(program: Program) -> Iterator[Draft]:
    """The statement that makes it; for a history that is only kept, the function that measures."""
    diagnosis = program.diagnosis
    if diagnosis.code == "GS301":
        yield from _around_what_measures(program)
        return
    made, used = diagnosis.made, diagnosis.used
    apart = program.apart(made, used)
    place = None if apart is None else program.places(made)[apart]
    call = None if place is None else _call(place.tree)
    if place is not None and call is not None and isinstance(place.statement, cst.SimpleStatementLine):
        draft = Draft()
        bare = place.statement.with_changes(leading_lines=())
        block = cst.With([cst.WithItem(call)], cst.IndentedBlock([bare]), leading_lines=place.statement.leading_lines)
        draft.replace(place.tree, place.statement, block)
        yield draft


def _around_what_measures(program: Program) -> Iterator[Draft]:
    """The function that feeds the holder, or the loop, where it only measures."""
    diagnosis = program.diagnosis
    for place in (*reversed(program.places(diagnosis.held)), *reversed(program.places(diagnosis.made))):
        call = None if place is None else _call(place.tree)
        if place is None or call is None:
            continue
        function = place.tree.scope(place.statement)
        draft = Draft()
        if isinstance(function, cst.FunctionDef) and _only_measures(function, [function]):
            draft.replace(
                place.tree, function, function.with_changes(decorators=[*function.decorators, cst.Decorator(call)])
            )
            yield draft
            return
        for loop in place.tree.loops(place.statement):
            block = list(place.tree.block(loop))
            if loop in block and _only_measures(loop, block[: block.index(loop)]):
                bare = loop.with_changes(leading_lines=())
                inside = cst.With([cst.WithItem(call)], cst.IndentedBlock([bare]), leading_lines=loop.leading_lines)
                draft.replace(place.tree, loop, inside)
                yield draft
                return


def _only_measures(node: cst.CSTNode, where: Sequence[cst.CSTNode]) -> bool:
    """Whether nothing in it asks for a pass, and the model was last told that it is being evaluated."""
    called = [called_name(each) for each in nodes(node) if isinstance(each, cst.Call)]
    if any(may_ask_for_pass(name) or does(name, "steps") for name in called):
        return False
    modes = [called_name(each) for one in where for each in nodes(one) if isinstance(each, cst.Call)]
    if isinstance(node, cst.FunctionDef):
        return "eval" in modes
    return next((name for name in reversed(modes) if name in {"eval", "train"}), None) == "eval"


def _call(tree: Tree) -> cst.Call | None:
    """`torch.no_grad()`, as the file would write it; None where it has no word for that."""
    word = no_grad(tree.source)
    return None if word is None else cst.Call(cst.parse_expression(word))
