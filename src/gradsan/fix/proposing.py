"""A diagnosis with its edits: for every fix, the first that can be made with reason."""

from collections.abc import Container, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path

from gradsan.causes.choosing import last
from gradsan.facts.live_evidence import NOTHING_READ, LiveEvidence
from gradsan.fix.kinds import drafts
from gradsan.fix.places.tried import built_on
from gradsan.fix.ranking import ranked
from gradsan.fix.reading.cut_already import carries_nothing
from gradsan.fix.reading.program import Program
from gradsan.fix.refusals.paths import keeps_every_path
from gradsan.fix.writing.drafting import Draft
from gradsan.fix.writing.editing import edited_source, shown_diff
from gradsan.report import Diagnosis, Edit, Effects, Fix, FixKind
from gradsan.source.file import compiles, parses

Edits = tuple[Edit, ...]
_Change = tuple[str, Sequence[str], Sequence[str]]  # a file, and its lines before and after
# Kinds that take hold of one edge over which the pass reaches what is old; the others do away with the pass that freed.
_OF_AN_EDGE: frozenset[FixKind] = frozenset({"detach", "item", "reset-state", "no-grad", "recompute", "move-into-loop"})


@dataclass(frozen=True, slots=True)
class Proposal:
    """One change that makes a kind of fix."""

    edits: Edits
    is_whole: bool  # it treats every holder that the run has: every layer's cache, both halves of a state


def with_edits(
    diagnosis: Diagnosis,
    root: Path,
    not_after: float | None = None,
    live: LiveEvidence = NOTHING_READ,
    *,
    changed: Mapping[str, bytes] | None = None,
    anywhere: bool = False,
) -> Diagnosis:
    """The diagnosis, each of its fixes with the edit that makes it, where there is one.

    What treats some holders only comes behind what treats all. `live`: what was read of it when it failed. `changed`:
    files that read otherwise than on disk, or cells that are in no file. `anywhere`: also in files outside `root`, for
    a reader.
    """
    program = Program(diagnosis, root, not_after, changed, live, anywhere=anywhere)
    filled = [_filled(fix, program) for fix in ranked(diagnosis.fixes, program)]
    partly = {fix.kind for fix, is_whole in filled if fix.edits and not is_whole}
    some_are_whole = any(fix.edits and is_whole for fix, is_whole in filled)
    return replace(diagnosis, fixes=last(tuple(fix for fix, _ in filled), partly if some_are_whole else ()))


def candidates(kind: FixKind, program: Program) -> Iterator[Edits]:
    """Every change that makes a fix of a kind, best first: each parses, and keeps every path working."""
    yield from (each.edits for each in proposals(kind, program))


def proposals(kind: FixKind, program: Program) -> Iterator[Proposal]:
    """The same, those that treat every holder first."""
    seen: set[Edits] = set()
    partly: list[Proposal] = []
    for draft, treats_all in _drafts(kind, program):
        edits = draft.edits()
        if not edits or edits in seen or not is_sound(edits, program):
            continue
        seen.add(edits)
        is_whole = treats_all and not draft.is_partial and not _reaches_some(edits, program.live)
        found = Proposal(edits, is_whole)
        if is_whole:
            yield found
        else:
            partly.append(found)
    yield from partly


def _drafts(kind: FixKind, program: Program) -> Iterator[tuple[Draft, bool]]:
    """The changes, and whether each treats every edge over which the pass reaches what is old."""
    is_of_an_edge = kind in _OF_AN_EDGE
    others = _carrying(program) if is_of_an_edge else []
    known = program.knows_every_edge or not is_of_an_edge
    built = ((each.draft, _but(others, each.names)) for each in built_on(kind, program))
    written = ((draft, others) for draft in drafts(kind, program))
    for draft, left in chain(built, written):
        whole = draft if draft.treats_all else draft.with_one_of_each(drafts(kind, each) for each in left)
        yield whole or draft, known and whole is not None


def _carrying(program: Program) -> list[Program]:
    """The other edges, but for names that the program itself lets carry nothing over."""
    return [each for each in program.others() if each.name is None or not carries_nothing(each, each.name)]


def _but(others: list[Program], treated: Container[str]) -> list[Program]:
    """The edges of which something is left to be treated."""
    return [each for each in others if each.name and each.name not in treated]


def _reaches_some(edits: Edits, live: LiveEvidence) -> bool:
    """Whether they treat the objects that a function can name, and the run has more of them."""
    access = live.alive.access
    return access is not None and access.is_partial and any(access.written in each.new for each in edits)


def _edited(edits: Edits, program: Program) -> Iterator[_Change]:
    """The files that the edits change, each with its lines before and after."""
    for file in dict.fromkeys(each.file for each in edits):
        source = program.source(file)
        its_edits = [each for each in edits if each.file == file]
        yield (file, (), ()) if source is None else (file, source.lines, edited_source(source, its_edits))


def diff(edits: Edits, program: Program) -> str:
    """What the edits change, as `git diff` shows it; of a notebook, cell by cell."""
    changed = ((program.source(file), file, new) for file, _, new in _edited(edits, program))
    return "".join(shown_diff(file, source, new) for source, file, new in changed if source is not None)


def _filled(fix: Fix, program: Program) -> tuple[Fix, bool]:
    """The fix with the edit that is made here, and what was predicted of it where the edit is that very change.

    An edit that a report brings along may say anything, and is dropped.
    """
    found = next(proposals(fix.kind, program), None)
    if found is None:
        return replace(fix, edits=(), diff="", effects=Effects()), False
    is_it = found.is_whole and _is_what_was_predicted(fix.kind, program.live)
    effects = fix.effects if is_it else Effects()
    return replace(fix, edits=found.edits, diff=diff(found.edits, program), effects=effects), found.is_whole


def _is_what_was_predicted(kind: FixKind, live: LiveEvidence) -> bool:
    """Whether an edit that treats all that is known makes the change that was simulated, in every place.

    All edges into what is old are cut or led elsewhere by a fix of an edge; of several passes that freed some of it, a
    fix that changes one line changes one.
    """
    return live.crossings is not None if kind in _OF_AN_EDGE else live.freeing_places == 1


def is_sound(edits: Edits, program: Program) -> bool:
    """Whether the edited files parse, and every path through them that worked still works."""
    texts = [("".join(old), "".join(new)) for _, old, new in _edited(edits, program)]
    return all(_is_program(new, old) and keeps_every_path(old, new) for old, new in texts)


def _is_program(new: str, old: str) -> bool:
    """Whether it can run, as far as the text before could: cells may hold what no one file may, as `await`."""
    return compiles(new) if compiles(old) else parses(new)
