"""GS309 at both entry points: penalties that train nothing, and gradients that are data."""

import sys
from importlib import import_module
from pathlib import Path

import pytest

import gradsan
from gradsan.check.reading import check_content
from gradsan.fix.writing.applying import edited_files
from gradsan.report import Diagnosis
from penalty_programs import CLEAN, CONSTANT


def watched(name: str, text: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> list[Diagnosis]:
    """What a run finds."""
    (folder / f"penalty_{name}.py").write_text(text, encoding="utf-8")
    monkeypatch.syspath_prepend(folder)
    with gradsan.watch(quiet=True) as watching:
        import_module(f"penalty_{name}")
    del sys.modules[f"penalty_{name}"]  # so that it is no part of the programs that other tests run
    return list(watching.diagnoses)


def checked(text: str) -> list[Diagnosis]:
    """What the source shows."""
    return list(check_content("program.py", text.encode()).diagnoses)


@pytest.mark.parametrize("name", CONSTANT)
def test_penalty_without_graph_is_found_in_a_run(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One finding: the gradients, the line that adds what is made of them, and the pass that goes by."""
    culprit, text = CONSTANT[name]
    monkeypatch.chdir(tmp_path)
    (found,) = watched(name, text, tmp_path, monkeypatch)

    assert (found.code, found.confidence) == ("GS309", "certain")
    assert found.culprit is not None
    assert found.culprit.name == culprit
    assert "grad(" in (found.cut.source or "" if found.cut else "")
    assert found.enters is not None
    assert "backward" in (found.used.source or "" if found.used else "")

    fixed = edited_files(found.fixes[0].edits, tmp_path)[f"penalty_{name}.py"].decode()

    assert "create_graph=True" in fixed
    assert "retain_graph" not in fixed
    assert watched(f"{name}_fixed", fixed, tmp_path, monkeypatch) == []


@pytest.mark.parametrize("name", CONSTANT)
def test_penalty_without_graph_is_found_in_source(name: str) -> None:
    """The same, and nothing else."""
    culprit, text = CONSTANT[name]
    (found,) = checked(text)

    assert found.code == "GS309"
    assert found.culprit is not None
    assert found.culprit.name == culprit
    assert [each.kind for each in found.fixes] == ["create-graph"]


@pytest.mark.parametrize("name", CLEAN)
def test_gradients_that_are_data_are_left_alone_in_a_run(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A false alarm is worse than a miss."""
    assert [each.code for each in watched(name, CLEAN[name], tmp_path, monkeypatch)] == []


@pytest.mark.parametrize("name", CLEAN)
def test_gradients_that_are_data_are_left_alone_in_source(name: str) -> None:
    """Likewise."""
    assert [each.code for each in checked(CLEAN[name])] == []
