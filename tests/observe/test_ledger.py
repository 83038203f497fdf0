"""The ledger on small programs, in this process: what it finds, and what it leaves alone."""

from importlib import import_module
from pathlib import Path

import pytest
import torch

import gradsan
from gradsan.facts.location import Frame
from gradsan.observe.ledger import gradients, hoards, unreached
from gradsan.observe.ledger.wording import optimizer_at
from observe.watched_programs import (
    EXPECTED,
    Program,
    accumulates,
    carries_a_state_on,
    clears_by_hand,
    cuts_off_what_feeds_a_compiled_head,
    learner,
    loss_of,
    never_clears,
    trains_with_a_loss_left_out,
)


@pytest.fixture(autouse=True)
def _nothing_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Another test of this process may have compiled something, and then less is looked for."""
    for room in (hoards, unreached):
        monkeypatch.setattr(room, "has_compiled", lambda: False)


@pytest.mark.parametrize("program", EXPECTED, ids=lambda each: each.__name__)
def test_watched_program(program: Program) -> None:
    """A false alarm is worse than a miss."""
    with gradsan.watch(quiet=True) as watching:
        program()

    assert [each.code for each in watching.diagnoses] == EXPECTED[program]
    assert watching.summary is not None
    assert watching.summary.passes > 0


@pytest.mark.parametrize("program", [each for each in EXPECTED if not EXPECTED[each]], ids=lambda each: each.__name__)
def test_nothing_is_found_where_something_was_compiled(program: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    """Modules are then looked for by name, and not listened to."""
    monkeypatch.setattr(unreached, "has_compiled", lambda: True)

    with gradsan.watch(quiet=True) as watching:
        program()

    assert not watching.diagnoses


def test_parameter_is_cut_off_before_a_compiled_head(monkeypatch: pytest.MonkeyPatch) -> None:
    """Known without a hook, which would have the head compiled again."""
    monkeypatch.undo()

    with gradsan.watch(quiet=True) as watching:
        cuts_off_what_feeds_a_compiled_head()

    assert [each.code for each in watching.diagnoses] == ["GS306"]


def test_loss_is_left_out_below_a_function_of_the_same_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A launcher's function may be called as the one that trains."""
    name = trains_with_a_loss_left_out.__name__
    (tmp_path / "launching.py").write_text(f"def {name}(train):\n    train()\n", "utf-8")
    monkeypatch.syspath_prepend(tmp_path)
    launch = getattr(import_module("launching"), name)

    with gradsan.watch(quiet=True) as watching:
        launch(trains_with_a_loss_left_out)

    assert [each.code for each in watching.diagnoses] == ["GS304"]


def test_state_that_is_handed_on_is_named_and_not_what_was_made_of_it() -> None:
    """`score = score.flatten()` builds on what was created just before, and not on an earlier step."""
    with gradsan.watch(quiet=True) as watching:
        carries_a_state_on()

    (found,) = watching.diagnoses
    assert found.culprit is not None
    assert found.culprit.name == "state"


def test_gradients_are_bit_identical() -> None:
    """Looking changes nothing."""

    def trained() -> list[torch.Tensor]:
        model, opt = learner()
        for _ in range(20):
            opt.zero_grad()
            loss_of(model).backward()
            opt.step()
        return list(model.parameters())

    plain = trained()
    with gradsan.watch(quiet=True):
        watched = trained()

    assert all(torch.equal(one, two) for one, two in zip(plain, watched, strict=True))


def test_peak_counts_all_graphs_that_are_alive_at_once() -> None:
    """Two losses that stand side by side weigh twice as much as one."""

    def trained(*, together: bool) -> int | None:
        model, opt = learner()
        with gradsan.watch(quiet=True) as watching:
            for _ in range(6):
                opt.zero_grad()
                first = loss_of(model)
                if not together:
                    first.backward()
                second = loss_of(model)
                if together:
                    first.backward()
                second.backward()
                opt.step()
        return None if watching.summary is None else watching.summary.peak_saved_bytes

    alone = trained(together=False)

    assert alone is not None
    assert trained(together=True) == 2 * alone


def test_installing_alone_looks_for_no_silent_problem(capsys: pytest.CaptureFixture[str]) -> None:
    """It explains errors, and nothing else."""
    gradsan.install()
    try:
        never_clears()
    finally:
        gradsan.uninstall()

    assert capsys.readouterr().err == ""


def test_summary_of_a_watch_goes_to_stderr(capsys: pytest.CaptureFixture[str]) -> None:
    """One line where nothing was found."""
    with gradsan.watch():
        accumulates()

    reported = capsys.readouterr()
    assert reported.out == ""
    assert reported.err.startswith("gradsan: nothing found (12 backward passes, 4 steps")
    assert reported.err.count("\n") == 1


@pytest.mark.parametrize("program", [never_clears, clears_by_hand, accumulates], ids=lambda each: each.__name__)
def test_device_is_asked_what_was_there_before_the_pass(program: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    """And is not waited for: its answers are read when all is over."""
    monkeypatch.setattr(gradients, "_holds_something", lambda grad: grad.detach().any())

    with gradsan.watch() as watch:
        program()

    assert [each.code for each in watch.diagnoses] == EXPECTED[program]


@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("loss.backward(); opt.step()", "opt"),
        ("scaler.step(opt)", "opt"),
        ("first.step(); second.step()", None),
    ],
)
def test_optimizer_has_the_name_of_what_steps_on_its_line(tmp_path: Path, line: str, name: str | None) -> None:
    """Where several step there, which of them it is cannot be told by the line."""
    file = tmp_path / "train.py"
    file.write_text(f"{line}\n")

    assert optimizer_at(Frame(str(file), 1, "<module>")) == name
