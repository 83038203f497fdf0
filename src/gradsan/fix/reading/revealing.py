"""What an expression may be at a place of the program: as the source shows it, and as the run has seen it."""

import ast
from pathlib import Path

from gradsan.check.rereading import REVEALING, revealed
from gradsan.facts.held import NOTHING, SOMETHING, Held
from gradsan.fix.reading.program import Program
from gradsan.fix.writing.drafting import Draft
from gradsan.fix.writing.editing import edited_source
from gradsan.source.file import expression as parsed_expression
from gradsan.source.notebooks import stored
from gradsan.source.tree import Statement, Tree, same_as


def held_at(program: Program, tree: Tree, node: ast.expr, *, otherwise: Held = NOTHING) -> Held:
    """What an expression may be where it stands; `otherwise`, besides what was seen, where no path leads there."""
    draft = Draft()
    draft.replace(tree, node, f"{REVEALING}({tree.text(node)})")
    shown = _asked(program, draft)
    return _joined(program, tree.text(node), shown if shown and shown.is_known else shown | otherwise)


def held_above(program: Program, tree: Tree, statement: Statement, expression: str) -> Held:
    """What an expression would be in a line above a statement."""
    draft = Draft()
    draft.insert_before(tree, statement, f"{REVEALING}({expression})")
    return _joined(program, expression, _asked(program, draft))


def held_below(
    program: Program, tree: Tree, statement: Statement, expression: str, *, known_as: str | None = None
) -> Held:
    """What an expression would be in a line below a statement; the run may know its value by another name."""
    draft = Draft()
    draft.insert_after(tree, statement, f"{REVEALING}({expression})")
    return _joined(program, known_as or expression, _asked(program, draft))


def was_seen(program: Program, expression: str) -> bool:
    """Whether the run looked at the value of an expression."""
    alive, culprit = program.live.alive, program.diagnosis.culprit
    names = [culprit.name] if culprit is not None else []
    names += [] if alive.access is None else alive.access.every
    written = parsed_expression(expression)
    return alive.held is not None and written is not None and any(same_as(written, name) for name in names)


def _joined(program: Program, expression: str, shown: Held) -> Held:
    """What the run has seen, and what the source shows besides: None in the first step, another branch."""
    seen = program.live.alive.held
    if seen is None or not was_seen(program, expression):
        return shown or SOMETHING
    if seen.is_known:
        return seen | shown.known_forms()
    return shown if shown and shown.is_known else seen


def _asked(program: Program, draft: Draft) -> Held:
    """What the expressions may be that a draft puts into `__revealed__(…)`; nothing, where no path leads there."""
    changed = program.changed
    edits = draft.edits()
    for file in {edit.file for edit in edits}:
        source = program.source(file)
        if source is None:
            return NOTHING
        lines = edited_source(source, [each for each in edits if each.file == file])
        changed[Path(source.path)] = stored(source, lines)
    entries, said = program.entries(), {str(path): content for path, content in changed.items()}
    question = (*entries, *said.items())
    if question not in program.answers:  # kinds of fixes ask the same
        program.answers[question] = revealed(entries, said)
    answer: Held = program.answers[question]
    return answer
