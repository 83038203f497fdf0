"""The program's garbage collector rests while an explanation is made, and is as it was afterwards."""

import cProfile
import gc
import sys
from collections.abc import Iterator
from types import FrameType

import pytest
import torch

from gradsan.explanation.explainer import diagnosis_on
from gradsan.observe.gc_pause import observers_at_rest
from gradsan.observe.raised import Raised
from gradsan.report import Diagnosis
from observe.conftest import Watched


@pytest.fixture(autouse=True)
def collecting() -> Iterator[None]:
    """However a test ends."""
    yield
    gc.enable()


@pytest.mark.parametrize("is_at_work", [True, False])
def test_collector_is_as_the_program_left_it(
    watched: Watched, monkeypatch: pytest.MonkeyPatch, *, is_at_work: bool
) -> None:
    """Some programs collect by hand; and none is to collect, and run finalizers, while its error is explained."""
    loss = torch.ones(2, requires_grad=True).exp().sum()
    with watched() as (session, _):
        seen: list[bool] = []
        explained = session.explainer._explained  # noqa: SLF001 # there is no other way to be there

        def looked_at(raised: Raised) -> Diagnosis | None:
            seen.append(gc.isenabled())
            return explained(raised)

        monkeypatch.setattr(session.explainer, "_explained", looked_at)
        loss.backward()
        (gc.enable if is_at_work else gc.disable)()

        with pytest.raises(RuntimeError, match="a second time") as raised:
            loss.backward()

    assert gc.isenabled() is is_at_work
    assert seen == [False]
    assert diagnosis_on(raised.value) is not None


def test_functions_of_the_program_that_trace_it_are_not_called_for_us() -> None:
    """They run in every call and every line; afterwards they are what they were."""
    seen: list[str] = []

    def profile(frame: FrameType, event: str, _given: object) -> None:
        seen.append(f"{event} {frame.f_code.co_name}")

    def ours() -> None:
        """Of gradsan's."""

    before = sys.getprofile()
    sys.setprofile(profile)
    try:
        with observers_at_rest():
            assert sys.getprofile() is None
            ours()
        is_back = sys.getprofile() is profile
    finally:
        sys.setprofile(before)

    assert is_back
    assert "call ours" not in seen


def test_profiler_that_is_no_function_is_left_alone() -> None:
    """Python could not put it back as it was."""
    profiler = cProfile.Profile()
    profiler.enable()
    try:
        at_work = sys.getprofile()
        with observers_at_rest():
            assert sys.getprofile() is at_work
    finally:
        profiler.disable()
