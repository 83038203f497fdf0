"""A diagnosis with its edits: for every fix, the first that can be made with reason."""

import importlib
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from gradsan.fix.editing import edited, unified_diff
from gradsan.fix.program import Program
from gradsan.fix.ranking import ranked
from gradsan.report import Diagnosis, Edit, Fix, FixKind

Edits = tuple[Edit, ...]


def with_edits(diagnosis: Diagnosis, root: Path, not_after: float | None = None) -> Diagnosis:
    """The diagnosis, each of its fixes with the edit that makes it, where there is one."""
    program = Program(diagnosis, root, not_after)
    return replace(diagnosis, fixes=tuple(_filled(fix, program) for fix in ranked(diagnosis.fixes, program)))


def candidates(kind: FixKind, program: Program) -> Iterator[Edits]:
    """Every way of making a kind of fix, best first: each parses, and changes something."""
    if kind == "advice":
        return
    seen: set[Edits] = set()
    drafts = importlib.import_module(f"gradsan.fix.kinds.{kind.replace('-', '_')}").drafts
    for draft in drafts(program):
        edits = draft.edits()
        if edits and edits not in seen and _parses(edits, program):
            seen.add(edits)
            yield edits


def diff(edits: Edits, program: Program) -> str:
    """What the edits change, as `git diff` shows it."""
    return "".join(
        unified_diff(file, old, edited(old, [each for each in edits if each.file == file]))
        for file, old in _files(edits, program).items()
    )


def _filled(fix: Fix, program: Program) -> Fix:
    """With the edit that is made here; one that a report brings along may say anything, and is dropped."""
    edits = next(candidates(fix.kind, program), ())
    return replace(fix, edits=edits, diff=diff(edits, program))


def _parses(edits: Edits, program: Program) -> bool:
    for file, old in _files(edits, program).items():
        new = "".join(edited(old, [each for each in edits if each.file == file]))
        try:
            compile(new, file, "exec", dont_inherit=True)
        except (SyntaxError, ValueError):
            return False
    return True


def _files(edits: Edits, program: Program) -> dict[str, tuple[str, ...]]:
    """The lines of the files that the edits change."""
    found = {}
    for file in dict.fromkeys(each.file for each in edits):
        with suppress(KeyError):
            source = program.source(file)
            found[file] = () if source is None else source.lines
    return found
