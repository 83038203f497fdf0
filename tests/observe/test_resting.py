"""The program's garbage collector rests while an explanation is made, and is as it was afterwards."""

import gc
from collections.abc import Iterator
from typing import Any

import pytest
import torch

from gradsan.observe import sanitizer
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
        story = session.sanitizer._diagnosed  # noqa: SLF001 # there is no other way to be there

        def looked_at(*args: Any) -> Diagnosis | None:  # noqa: ANN401 # whatever it is given
            seen.append(gc.isenabled())
            return story(*args)

        monkeypatch.setattr(session.sanitizer, "_diagnosed", looked_at)
        loss.backward()
        (gc.enable if is_at_work else gc.disable)()

        with pytest.raises(RuntimeError, match="a second time") as raised:
            loss.backward()

    assert gc.isenabled() is is_at_work
    assert seen == [False]
    assert sanitizer.diagnosis_on(raised.value) is not None
