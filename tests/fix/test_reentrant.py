"""Checkpoints that are not to be re-entrant: the option is changed where the program says it."""

from pathlib import Path

import pytest

from fix.programs import Case
from gradsan.fix.proposing import candidates
from gradsan.report import FixKind

PROGRAM = """\
from torch.utils.checkpoint import checkpoint
{options}
def main():
    for x in batches:
        z = {call}
        loss = head(z).sum()
        loss.backward()
"""
# How a program says it: its options, its call, and what of it is to read otherwise.
WRITTEN = {
    "at the call": ("", "checkpoint(block, x, use_reentrant=True)", "use_reentrant=True", "use_reentrant=False"),
    "nowhere, in old programs": ("", "checkpoint(block, x)", "block, x", "block, x, use_reentrant=False"),
    "in a dict": ('OPTIONS = {"use_reentrant": True}', "checkpoint(block, x, **OPTIONS)", "True}", "False}"),
    "in settings": ("options = dict(use_reentrant=True)", "checkpoint(block, x, **options)", "=True)", "=False)"),
}


@pytest.mark.parametrize("kind", ["re-attach", "setting"])
@pytest.mark.parametrize("name", WRITTEN)
def test_option_is_changed_where_it_is_written(tmp_path: Path, name: str, kind: FixKind) -> None:
    """Whether the checkpoint has cut off what it ran, or freed what others need."""
    options, call, old, new = WRITTEN[name]
    source = PROGRAM.format(options=options, call=call)
    case = Case(tmp_path, source)
    cut, used = case.at("z = "), case.at("loss.backward")
    diagnosis = case.diagnosis("GS203", "z", cut=cut, used=used)
    if kind == "setting":
        diagnosis = case.diagnosis("GS112", "z", made=cut, freed=used, used=used)

    texts = [case.applied(edits) for edits in candidates(kind, case.program(diagnosis))]

    assert texts == [source.replace(old, new)]


def test_option_that_is_off_already_is_left_alone(tmp_path: Path) -> None:
    """There is nothing to change then."""
    source = PROGRAM.format(options='OPTIONS = {"use_reentrant": False}', call="checkpoint(block, x, **OPTIONS)")
    case = Case(tmp_path, source)
    diagnosis = case.diagnosis("GS203", "z", cut=case.at("z = "), used=case.at("loss.backward"))

    assert not [*candidates("re-attach", case.program(diagnosis))]
