"""GS308 at both entry points: what is found in a run and from source, and what is left alone."""

import sys
from importlib import import_module
from pathlib import Path

import pytest

import gradsan
from gradsan.check.reading import check_content
from gradsan.fix.writing.applying import edited_files
from gradsan.report import Diagnosis
from stale_programs import CLEAN, STALE


def watched(name: str, text: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> list[Diagnosis]:
    """What a run finds."""
    (folder / f"stale_{name}.py").write_text(text, encoding="utf-8")
    monkeypatch.syspath_prepend(folder)
    with gradsan.watch(quiet=True) as watching:
        import_module(f"stale_{name}")
    del sys.modules[f"stale_{name}"]  # so that it is no part of the programs that other tests run
    return list(watching.diagnoses)


def checked(text: str) -> list[Diagnosis]:
    """What the source shows."""
    return list(check_content("program.py", text.encode()).diagnoses)


@pytest.mark.parametrize("name", STALE)
def test_values_of_older_parameters_are_found_in_a_run(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One finding: the name that holds them, the line that computed them, the step that changed what is below."""
    (found,) = watched(name, STALE[name].text, tmp_path, monkeypatch)

    assert found.code == "GS308"
    assert found.culprit is not None
    assert found.culprit.name == STALE[name].culprit
    assert found.made is not None
    assert found.used is not None
    assert "backward" in (found.used.source or "")
    assert (found.changed is None) == (name == "parameters_changed_by_hand")


@pytest.mark.parametrize("name", [each for each in STALE if STALE[each].in_source])
def test_values_of_older_parameters_are_found_in_source(name: str) -> None:
    """The second iteration of a loop walks what the first has walked."""
    (found,) = checked(STALE[name].text)

    assert found.code == "GS308"
    assert found.made is not None
    assert found.changed is not None


@pytest.mark.parametrize("name", CLEAN)
def test_present_values_are_left_alone_in_a_run(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A false alarm is worse than a miss."""
    assert [each.code for each in watched(name, CLEAN[name], tmp_path, monkeypatch)] == []


@pytest.mark.parametrize("name", CLEAN)
def test_present_values_are_left_alone_in_source(name: str) -> None:
    """Likewise."""
    assert [each.code for each in checked(CLEAN[name])] == []


# What the loss is compared with is meant to stay; everything else is to be computed again.
FIRST_FIXES = {
    "local_before_the_loop": "move-into-loop",
    "attribute_of_a_constructor": "recompute",
    "dict_by_name": "recompute",
    "lru_cache": "recompute",
    "copy_that_a_penalty_measures_from": "detach",
    "computed_once_an_epoch": "move-into-loop",
}


@pytest.mark.parametrize("name", FIRST_FIXES)
def test_both_entry_points_offer_the_same_fix_first(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The cause decides, from the same facts."""
    (ran,), (read,) = watched(name, STALE[name].text, tmp_path, monkeypatch), checked(STALE[name].text)

    assert [each.fixes[0].kind for each in (ran, read)] == [FIRST_FIXES[name]] * 2


FIXED = [
    "local_before_the_loop",
    "attribute_of_a_constructor",
    "dict_by_name",
    "lru_cache",
    "cache_in_a_submodule",
    "first_layer_that_is_retained",
    "embedding_that_is_retained",
    "parameters_changed_by_hand",
    "two_iterations",
    "computed_once_an_epoch",
    "cache_with_several_entries",
    "result_of_the_iteration_before",
]


@pytest.mark.parametrize("name", FIXED)
def test_first_fix_leaves_nothing_to_find(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A `retain_graph=True` that kept what is old goes with it."""
    monkeypatch.chdir(tmp_path)
    (found,) = watched(name, STALE[name].text, tmp_path, monkeypatch)

    fixed = edited_files(found.fixes[0].edits, tmp_path)

    assert watched(f"{name}_fixed", fixed[f"stale_{name}.py"].decode(), tmp_path, monkeypatch) == []


REFRESHED = """\
import torch

a, b = torch.nn.Parameter(torch.ones(3)), torch.nn.Parameter(torch.ones(3))
opt = torch.optim.SGD([a, b], lr=0.1)
both = None
for step in range(6):
    if {refresh}:
        both = a + b
    (both - 1).square().sum().backward()
    if {stepping}:
        opt.step()
        opt.zero_grad()
"""


@pytest.mark.parametrize(
    ("refresh", "stepping"), [("step % 3 == 0", "step % 3 == 2"), ("step % 2 == 0", "step % 2")], ids=["3", "2"]
)
def test_conditions_that_belong_together_are_no_finding(
    refresh: str, stepping: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Computed for several passes, which one step follows; from source nobody knows."""
    text = REFRESHED.format(refresh=refresh, stepping=stepping)

    assert checked(text) == []
    assert watched("refreshed", text, tmp_path, monkeypatch) == []
