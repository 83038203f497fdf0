"""Whatever form a value takes, the edits that are offered for it run; what is written without a run trains.

The programs are made, not written: each form of a value in each place that keeps one.
"""

from pathlib import Path

import pytest

from fix.forms import FORMS, PLACES, editing_programs, keeping_programs, program
from gradsan.check.reading import check_content
from gradsan.fix.proposing import with_edits
from gradsan.fix.writing.applying import edited_files
from gradsan.report import Fix
from warm import Warm
from written import ends_of, write_without_a_run

pytestmark = pytest.mark.torch


@pytest.fixture(scope="module")
def warm() -> Warm:
    """Programs that need not wait for torch."""
    return Warm()


def ends_of_sources(sources: dict[str, str], folder: Path, warm: Warm) -> dict[str, str]:
    """How each program ends: "ran", or its error."""
    scripts = {name: folder / str(number) / "train.py" for number, name in enumerate(sources)}
    for name, script in scripts.items():
        script.parent.mkdir()
        script.write_text(sources[name], encoding="utf-8")
    return ends_of(scripts, folder, warm)


def written(source: str, folder: Path) -> str:
    """The program after `gradsan fix --write`, which runs nothing."""
    file = folder / "train.py"
    file.write_text(source, encoding="utf-8")
    write_without_a_run(file)
    return file.read_text(encoding="utf-8")


@pytest.mark.parametrize("place", PLACES)
def test_state_of_every_form_is_detached_as_what_it_is(place: str, tmp_path: Path, warm: Warm) -> None:
    """All of these are known from source: the edit is certain, it is written, and the program runs to its end."""
    broken = {form: program(form, place) for form in FORMS}

    edited = {form: written(source, tmp_path) for form, source in broken.items()}

    assert [form for form in FORMS if edited[form] == broken[form]] == []
    assert ends_of_sources(edited, tmp_path, warm) == dict.fromkeys(FORMS, "ran")


def test_what_is_kept_is_kept_in_every_form(tmp_path: Path, warm: Warm, monkeypatch: pytest.MonkeyPatch) -> None:
    """Every edit that is offered, of whatever kind, certain or not, takes all that passes the line."""
    monkeypatch.chdir(tmp_path)

    edited = {
        f"{name}: {fix.kind}": fixed_by(fix, tmp_path)
        for name, source in keeping_programs().items()
        for fix in offered(source, tmp_path)
    }

    assert {name.partition(": ")[2] for name in edited} >= {"detach", "item"}
    assert {name: end for name, end in ends_of_sources(edited, tmp_path, warm).items() if end != "ran"} == {}


def test_what_is_edited_in_place_is_replaced_in_every_form(
    tmp_path: Path, warm: Warm, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A list has no `clone`."""
    monkeypatch.chdir(tmp_path)
    broken = editing_programs()

    edited = {
        name: fixed_by(next(fix for fix in offered(source, tmp_path) if fix.kind == "clone"), tmp_path)
        for name, source in broken.items()
    }

    assert ends_of_sources(edited, tmp_path, warm) == dict.fromkeys(broken, "ran")


BRANCHING = """\
import torch

{choice}
opt = torch.optim.SGD(net.parameters(), lr=0.1)
state = None
for x in torch.ones(4, 5, 2):
    out, state = net(x, state)
    loss = out.mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
"""
CHOICE = "net = torch.nn.GRU(2, 2) if {} else torch.nn.LSTM(2, 2)"


def test_edit_fits_the_branch_that_no_run_has_taken(tmp_path: Path, warm: Warm) -> None:
    """The source has both, and so has the edit."""
    source = BRANCHING.format(choice=f"import os\n{CHOICE.format('os.environ')}")

    edited = written(source, tmp_path)
    ways = {way: edited.replace("if os.environ", f"if {way}") for way in ("True", "False")}

    assert edited != source
    assert ends_of_sources(ways, tmp_path, warm) == {"True": "ran", "False": "ran"}


def test_value_of_which_nothing_is_known_is_detached_in_every_form(
    tmp_path: Path, warm: Warm, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is shown and not written; a run that proves it finds whatever there is: a tensor, a tuple, None."""
    monkeypatch.chdir(tmp_path)
    source = BRANCHING.format(choice="from models import build\n\nnet = build()")
    edited = fixed_by(next(fix for fix in offered(source, tmp_path) if fix.kind == "detach"), tmp_path)

    assert written(source, tmp_path) == source
    nets = {kind: edited.replace("from models import build", f"build = lambda: torch.nn.{kind}") for kind in LAYERS}
    assert ends_of_sources(nets, tmp_path, warm) == dict.fromkeys(LAYERS, "ran")


LAYERS = ("GRU(2, 2)", "LSTM(2, 2)", "RNN(2, 2)")


def offered(source: str, folder: Path) -> list[Fix]:
    """The fixes that `check` leads to, with their edits."""
    (folder / "train.py").write_text(source, encoding="utf-8")
    found = check_content(str(folder / "train.py"), source.encode()).diagnoses
    return [fix for each in found for fix in with_edits(each, folder).fixes if fix.edits]


def fixed_by(fix: Fix, folder: Path) -> str:
    """The program with one fix made."""
    return edited_files(fix.edits, folder)["train.py"].decode()
