"""How a loss and its pass stand to the loops of the source: whether the pass is outside, or has to wait."""

import ast

from gradsan.facts.incident import Stack
from gradsan.facts.location import Frame
from gradsan.observe.log.source_loops import Loop
from gradsan.observe.user_statements import loops_at
from gradsan.source.file_statements import statements_in
from gradsan.source.loss_terms import counts
from gradsan.source.names import called_name


def loop_left_behind(created: Stack, asked: Stack) -> tuple[int, Loop] | None:
    """The innermost loop around the making line, or a caller of it, that the pass stands outside of.

    Where watching began within the program, only the stack of the pass has the calls that were running already.
    """
    began = [n for n, each in enumerate(asked) if (each.file, each.function) == (created[0].file, created[0].function)]
    asked = asked[began[0] if began else 0 :]
    shared = 0
    while shared < min(len(created), len(asked)) and created[shared].function == asked[shared].function:
        shared += 1
        if created[shared - 1].line != asked[shared - 1].line:
            break
    for place in reversed(range(len(created))):
        frame = created[place]
        for loop in reversed(loops_at(frame)):
            if place >= shared or not loop.holds(asked[place].line):
                return place, loop
    return None


def waits_for_a_counter(asking: Frame, created: int) -> bool:
    """Whether a line stands under a condition on the rest of a division, and another line does not."""
    conditions = (each for each in statements_in(asking.file) if isinstance(each, ast.If) and counts(each.test))
    around = (each for each in conditions if each.body[0].lineno <= asking.line <= (each.body[-1].end_lineno or 0))
    return any(not each.lineno <= created <= (each.end_lineno or 0) for each in around)


def reads_an_item(statement: ast.stmt, file: str, loop: Loop) -> bool:
    """Whether each iteration has a loss of its own, as for the tokens of a sentence: `criterion(out, target[t])`.

    Where all have the same target, each iteration refines what the one before has created, and the last loss counts.
    """
    here = (each for each in statements_in(file) if each.lineno == loop.header)
    headers = [each for each in here if isinstance(each, ast.For)]
    names = {node.id for each in headers for node in ast.walk(each.target) if isinstance(node, ast.Name)}
    counts = any(isinstance(each.iter, ast.Call) and called_name(each.iter) == "range" for each in headers)
    for node in ast.walk(statement):
        match node:
            case ast.Subscript(slice=ast.Name(id=name)) if name in names:
                return True
            case ast.Call(args=given) if not counts:
                if any(isinstance(each, ast.Name) and each.id in names for each in given):
                    return True
    return False
