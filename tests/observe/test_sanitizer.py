"""What the sanitizer does when something goes wrong with itself, and when it is not alone in the process."""

import sys
import threading
import traceback
from typing import Any, Never
from unittest.mock import Mock

import pytest
import torch

from gradsan.entry.session import Session
from gradsan.explanation import pipeline
from gradsan.explanation.explainer import diagnosis_on
from gradsan.explanation.findings import Findings
from gradsan.observe import (
    callers,
    examining,
    graph_snapshot,
    guarding,
    import_hook,
    own_work,
    passes,
    private,
    process,
    sanitizer,
    steps,
    tape,
)
from gradsan.observe.failure import scene
from gradsan.observe.log import pen, recorder
from gradsan.observe.sanitizer import Sanitizer
from gradsan.report import Diagnosis
from gradsan.show import text
from observe.conftest import Started, Watched

AGAIN = "Trying to backward through the graph a second time"

# Every step that gradsan takes inside a program, from its installation to an explanation.
STEPS: dict[str, tuple[Any, str]] = {
    "graph_snapshot for private names": (sanitizer, "private"),
    "keeps the compiler away": (own_work, "stay_out"),
    "switches the compiler": (own_work, "compiler_switch"),
    "prepares the notes of passes": (process, "Passes"),
    "prepares the notes of steps": (process, "Steps"),
    "begins to record": (recorder.LineRecorder, "start"),
    "chooses how to record": (recorder, "_method"),
    "takes functions in": (recorder.LineRecorder, "adopt"),
    "opens a block of the log": (pen.Pen, "turn"),
    "knows a caller again": (callers.Callers, "of"),
    "reads a caller's stack": (callers, "frames_out"),
    "begins a pass": (passes.Passes, "begin"),
    "walks a graph": (graph_snapshot, "reach"),
    "packs what it walked": (graph_snapshot, "ranges_of"),
    "notes a pass": (passes, "_new"),
    "lets passes go by": (tape.Tape, "run_on"),
    "takes in what went by": (tape.Tape, "take_in"),
    "notes a step": (steps.Steps, "_noted_in_full"),
    "tells of a pass": (passes.Passes, "note"),
    "reads the log": (recorder.LineRecorder, "lines"),
    "examines": (examining, "examine"),
    "asks for earlier passes": (passes.Passes, "besides"),
    "asks for optimizers": (scene, "owners"),
    "diagnoses": (pipeline, "diagnose"),
    "shows the explanation": (text, "explanation"),
    "keeps the diagnosis": (Findings, "add"),
}


def program() -> tuple[list[torch.Tensor], str]:
    """Two steps of training, then an error that the program catches, then another step."""
    torch.manual_seed(0)
    model = torch.nn.Sequential(torch.nn.Linear(3, 3), torch.nn.Tanh(), torch.nn.Linear(3, 1))
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    losses, message = [], ""
    for step in range(4):
        optimizer.zero_grad()
        loss = model(torch.randn(2, 3)).sum()
        loss.backward()
        if step == 2:
            with pytest.raises(RuntimeError, match=AGAIN) as caught:
                loss.backward()
            message = f"{caught.type} {caught.value}"
        optimizer.step()
        losses.append(loss.detach())
    return losses, message


@pytest.mark.parametrize("step", STEPS)
def test_fault_of_its_own_is_one_line_and_the_program_goes_on(
    step: str, watched: Watched, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whatever fails in gradsan, the program computes the same and ends in the same way."""
    expected = program()
    owner, name = STEPS[step]

    # Of the standard library: a function of this file would be recorded itself.
    monkeypatch.setattr(owner, name, Mock(side_effect=ValueError("a fault\nof two lines")))
    with watched() as (_, reported):
        losses, message = program()

    assert message == expected[1]
    assert [each.item() for each in losses] == [each.item() for each in expected[0]]
    assert len(reported) == 1, reported
    assert "ValueError: a fault" in reported[0]
    assert "\n" not in reported[0]


def test_voice_that_fails_is_no_fault_of_the_programs(monkeypatch: pytest.MonkeyPatch) -> None:
    """A program may have closed stderr."""

    def broken(_: str) -> Never:
        raise OSError

    monkeypatch.setattr(passes.Passes, "begin", lambda *_: 1 / 0)
    session = Session(report=broken)
    session.start()
    try:
        torch.ones(1, requires_grad=True).sum().backward()
    finally:
        session.stop()


def test_program_without_stderr_keeps_its_stdout(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """`print(…, file=None)` would write there."""
    monkeypatch.setattr(sys, "stderr", None)

    guarding.say("something")

    assert capsys.readouterr().out == ""


def test_explained_error_carries_its_diagnosis(watched: Watched) -> None:
    """Its explanation is the note, the diagnosis is kept beside it; raised again, it is not explained again."""
    with watched() as (session, _):
        loss = torch.ones(2, requires_grad=True).square().sum()
        loss.backward()
        with pytest.raises(RuntimeError, match=AGAIN) as caught:
            loss.backward()

    diagnosis = diagnosis_on(caught.value)
    assert isinstance(diagnosis, Diagnosis)
    assert diagnosis.error is not None
    assert diagnosis.error.message == str(caught.value)
    assert diagnosis.code in caught.value.__notes__[0]
    assert session.explainer.diagnoses == [diagnosis]


def test_passes_that_another_thread_asks_for_are_known_by_the_ops_they_walk(watched: Watched) -> None:
    """As a device's does, on which a Function's own backward runs: threads count their ops each by itself."""
    weight = torch.ones(3, requires_grad=True)
    raised: list[BaseException] = []

    def back_propagate(loss: torch.Tensor) -> None:
        try:
            loss.backward()
            loss.backward()
        except RuntimeError as error:
            raised.append(error)

    with watched() as (session, _):
        thread = threading.Thread(target=back_propagate, args=(weight.exp().square().sum(),))
        thread.start()
        thread.join()

        found = session.explain(raised[0])

    assert found is not None
    assert found.code == "GS101"


def test_same_error_over_and_over_is_kept_once(watched: Watched) -> None:
    """With its count: a program that catches a million of them costs no memory."""
    with watched() as (session, _):
        loss = torch.ones(2, requires_grad=True).square().sum()
        loss.backward()
        for _ in range(5):
            with pytest.raises(RuntimeError, match=AGAIN):
                loss.backward()

    assert [each.count for each in session.explainer.diagnoses] == [5]


def test_error_of_the_programs_own_hook_passes_untouched(watched: Watched) -> None:
    """Only what gradsan has something to say about gets a note."""
    tensor = torch.ones(1, requires_grad=True)
    tensor.register_hook(lambda _: 1 / 0)

    with watched() as (session, reported), pytest.raises(ZeroDivisionError) as caught:
        tensor.exp().sum().backward()

    assert not hasattr(caught.value, "__notes__")
    assert (session.explainer.diagnoses, reported) == ([], [])


def test_unwanted_code_is_not_explained() -> None:
    """`--ignore` means the exception too."""
    ignoring = Session(wants=lambda _: False)
    ignoring.start()
    try:
        loss = torch.ones(2, requires_grad=True).square().sum()
        loss.backward()
        with pytest.raises(RuntimeError, match=AGAIN) as caught:
            loss.backward()
    finally:
        ignoring.stop()

    assert not hasattr(caught.value, "__notes__")
    assert ignoring.explainer.diagnoses == []


@pytest.mark.parametrize("in_step", [True, False])
def test_two_threads_that_fail_at_once_are_both_explained(watched: Watched, in_step: bool) -> None:  # noqa: FBT001 # a parameter of the test
    """Each from its own log, and from its own passes of a line that both run."""
    errors: list[RuntimeError] = []
    together = threading.Barrier(2)

    def fail() -> None:
        for _ in range(30):
            if in_step:
                together.wait()
            loss = torch.ones(2, requires_grad=True).square().sum()
            loss.backward()
        together.wait()
        try:
            loss.backward()
        except RuntimeError as error:
            errors.append(error)

    with watched() as (_, reported):
        threads = [threading.Thread(target=fail) for _ in range(2)]
        for each in threads:
            each.start()
        for each in threads:
            each.join()
        codes = [getattr(diagnosis_on(each), "code", None) for each in errors]

    assert (codes, reported) == (["GS101", "GS101"], [])


def test_error_that_came_from_no_pass_is_explained_when_nobody_catches_it(
    watched: Watched, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Saved values read after they were freed; the hook that was there before is given the note."""
    shown: list[str] = []
    monkeypatch.setattr(sys, "excepthook", lambda *raised: shown.extend(traceback.format_exception(*raised)))

    with watched() as (session, _):
        result = torch.ones(2, requires_grad=True).exp()
        result.sum().backward()
        node: Any = result.grad_fn
        with pytest.raises(RuntimeError, match="saved tensors after they have already been freed") as caught:
            node._saved_result  # noqa: B018, SLF001 # reading is the point
        assert not hasattr(caught.value, "__notes__")
        sys.excepthook(caught.type, caught.value, caught.tb)

    assert [each.code for each in session.uncaught] == ["GS108"]
    assert any("GS108 saved-after-free" in line for line in shown)


def test_pass_of_which_nothing_is_sure_is_not_taken_for_a_reading_of_saved_values(
    watched: Watched, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another thread's pass freed the graph: who asked for this one has read nothing."""
    shown: list[str] = []
    monkeypatch.setattr(sys, "excepthook", lambda *raised: shown.extend(traceback.format_exception(*raised)))

    with watched() as (session, reported):
        shared = torch.ones(2, requires_grad=True).exp()
        thread = threading.Thread(target=lambda: shared.sum().backward())
        thread.start()
        thread.join()
        with pytest.raises(RuntimeError, match=AGAIN) as caught:
            shared.mean().backward()
        sys.excepthook(caught.type, caught.value, caught.tb)

    assert (list(session.uncaught), reported) == ([], [])
    assert not any("GS108" in line for line in shown)


def test_thread_that_dies_counts_as_not_caught(watched: Watched, monkeypatch: pytest.MonkeyPatch) -> None:
    """The hook that was there before is called as ever."""
    seen: list[type[BaseException]] = []
    monkeypatch.setattr(threading, "excepthook", lambda args: seen.append(args.exc_type))

    def fail() -> None:
        loss = torch.ones(2, requires_grad=True).square().sum()
        loss.backward()
        try:
            loss.backward()
        except RuntimeError:
            raise SystemError from None

    with watched() as (session, _):
        thread = threading.Thread(target=fail)
        thread.start()
        thread.join()

    assert seen == [SystemError]
    assert [each.code for each in session.uncaught] == ["GS101"]


def test_nothing_is_left_behind() -> None:
    """Every name that was replaced is what it was, also after a second time."""

    def names() -> list[Any]:
        found = private.private()
        rules = sys.modules.get(private.RULES_MODULE)
        return [
            getattr(found.engine_owner, found.engine_name),
            sys.excepthook,
            threading.excepthook,
            list(sys.meta_path),
            list(sys.path_hooks),
            dict(sys.modules["torch.optim.optimizer"]._global_optimizer_post_hooks),  # noqa: SLF001
            list(getattr(rules, private.FOLDERS_NOT_COMPILED, [])),
            getattr(sys.modules.get("runpy"), "_get_code_from_file", None),
            sys.gettrace(),
            sys.getprofile(),
            program.__code__,
            test_nothing_is_left_behind.__code__,
        ]

    import runpy  # noqa: F401 # so that it is there before

    before = names()
    for _ in range(2):
        session = Session()
        session.start()
        during = names()
        session.stop()
        after = names()

        assert before[0] is not during[0]
        assert len(before) == len(after)
        assert all(a is b or a == b for a, b in zip(before, after, strict=True))


def test_tool_that_came_later_stays_in_its_place(monkeypatch: pytest.MonkeyPatch) -> None:
    """Another wrapper around the engine is not thrown out when gradsan leaves from beneath it."""
    found = private.private()
    assert found.engine_owner is not None
    engine = getattr(found.engine_owner, found.engine_name)
    monkeypatch.setattr(found.engine_owner, found.engine_name, engine)  # puts it back in any case
    calls: list[int] = []
    guest = Sanitizer()
    guest.start()
    beneath = getattr(found.engine_owner, found.engine_name)

    def later(*args: Any, **named: Any) -> Any:  # noqa: ANN401 # as the engine's entry has it
        calls.append(1)
        return beneath(*args, **named)

    setattr(found.engine_owner, found.engine_name, later)
    guest.stop()

    torch.ones(1, requires_grad=True).sum().backward()
    assert getattr(found.engine_owner, found.engine_name) is later
    assert calls == [1]


TRACED = """
import sys
{before}
import torch

def run():
    loss = torch.ones(2, requires_grad=True).square().sum()
    loss.backward()
    try:
        loss.backward()
    except RuntimeError as error:
        print(error.__notes__[0].split()[0])

run()
"""
USES_UP_MONITORING = "sys.monitoring.use_tool_id(3, 'one'); sys.monitoring.use_tool_id(4, 'other')"
USES_SETTRACE = "sys.settrace(lambda *_: None)"


def test_program_that_is_traced_already_is_left_to_it(started: Started) -> None:
    """Lines are not recorded then: said in one sentence, and errors are explained all the same."""
    has_monitoring = hasattr(sys, "monitoring")

    ended = started(TRACED.format(before=USES_UP_MONITORING if has_monitoring else USES_SETTRACE), GRADSAN="1")

    assert (ended.returncode, ended.stdout) == (0, "GS101\n")
    assert ended.stderr.startswith("gradsan: lines are not recorded: ")
    assert len(ended.stderr.splitlines()) == 1


def test_library_is_awaited_and_not_imported(tmp_path: Any, monkeypatch: pytest.MonkeyPatch) -> None:  # noqa: ANN401 # a path
    """What waits is called once, when the import is complete, and leaves no finder behind."""
    (tmp_path / "late_comer.py").write_text("import sys\nready = True\n")
    monkeypatch.syspath_prepend(tmp_path)
    before = list(sys.meta_path)
    seen: list[bool] = []

    def come() -> None:
        module = sys.modules["late_comer"]
        seen.append(module.ready)

    import_hook.when_loaded("late_comer", come)
    assert not import_hook.is_loaded("late_comer")
    assert import_hook.is_installed("late_comer")
    import late_comer  # type: ignore[import-not-found]

    assert (seen, late_comer.ready) == ([True], True)
    assert sys.meta_path == before
