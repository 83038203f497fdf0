"""Threads that come and go, to which Python gives the same identity."""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from unittest.mock import Mock

import pytest
import torch

from gradsan.explanation.explainer import diagnosis_on
from gradsan.observe.log.lines import Unknown
from gradsan.observe.log.pen import Pen
from gradsan.observe.log.threads import Threads
from observe.conftest import Watched


def _one_after_another(act: Callable[[], None], times: int) -> None:
    for _ in range(times):
        thread = threading.Thread(target=act)
        thread.start()
        thread.join()


def test_number_of_a_thread_that_ended_is_not_used_again() -> None:
    """Though its identity is."""
    threads = Threads(fail=lambda error: pytest.fail(str(error)))
    mine = threading.local()
    seen: list[tuple[int, int]] = []

    def act() -> None:
        mine.presence = threads.presence()
        seen.append((threading.get_ident(), threads.number()))

    _one_after_another(act, 4)

    identities, numbers = zip(*seen, strict=True)
    assert len(set(numbers)) == 4
    assert len(set(identities)) < 4  # or there was nothing to be distinguished


def test_each_thread_has_a_log_of_its_own(watched: Watched) -> None:
    """Also where the one before it had its identity."""

    def act() -> None:
        torch.ones(2, requires_grad=True).square().sum().backward()

    with watched() as (session, reported):
        _one_after_another(act, 3)
        recorder = session.sanitizer.recorder
        logs = [each for each in recorder.threads() if each.thread != recorder.pen.threads.number()]

    makers = [log.stack_of(1) for log in logs]
    assert [each[-1].function for each in makers if not isinstance(each, Unknown)] == 3 * [act.__qualname__]
    assert reported == []


def test_pass_of_a_thread_that_ended_is_not_taken_for_one_of_this(watched: Watched) -> None:
    """What it freed may have the same numbers."""
    shared = torch.ones(2, requires_grad=True).square()
    errors: list[RuntimeError] = []

    def act() -> None:
        try:
            (shared + 1).sum().backward()
        except RuntimeError as error:
            errors.append(error)

    with watched() as (_, reported):
        _one_after_another(act, 3)
        assert [diagnosis_on(each) for each in errors] == [None, None]

    assert reported == []


def test_error_of_one_thread_is_explained_beside_others_at_the_same_line(watched: Watched) -> None:
    """What a line does in other threads says nothing about what it does in this one."""
    explained: list[str] = []

    def train(*, carries: bool) -> None:
        weight, state = torch.ones(3, requires_grad=True), torch.zeros(3)
        for _ in range(80):
            state = torch.tanh(weight + state) if carries else torch.tanh(weight)
            try:
                state.sum().backward()
            except RuntimeError as error:
                explained.extend(error.__notes__)
                return

    with watched():
        train(carries=False)
        threads = [threading.Thread(target=train, kwargs={"carries": number == 2}) for number in range(4)]
        for each in threads:
            each.start()
        for each in threads:
            each.join()

    assert ["GS103" in each for each in explained] == [True]


def test_error_is_explained_in_a_pool_whose_threads_do_one_task_after_another(watched: Watched) -> None:
    """What a thread keeps for itself carries the graph of one task into the next."""
    mine = threading.local()
    explained: list[str] = []

    def task(number: int) -> None:
        weight = torch.ones(3, requires_grad=True)
        state = getattr(mine, "state", torch.zeros(3)) if number % 2 else torch.zeros(3)
        mine.state = torch.tanh(weight + state)
        try:
            mine.state.sum().backward()
        except RuntimeError as error:
            explained.extend(error.__notes__)

    with watched(), ThreadPoolExecutor(1) as pool:
        list(pool.map(task, range(8)))

    assert len(explained) == 4
    assert all(each.lstrip().startswith("GS") for each in explained)


def test_passes_of_a_thread_do_not_push_out_those_of_another(watched: Watched) -> None:
    """Only so many are remembered of a line, in each thread."""
    may_go_on, has_begun = threading.Event(), threading.Event()
    explained: list[str] = []

    def train(weight: torch.Tensor) -> None:
        weight.exp().sum().backward()

    def carry() -> None:
        loss = torch.ones(3, requires_grad=True).exp()
        loss.exp().sum().backward()
        has_begun.set()
        may_go_on.wait(60)
        try:
            loss.exp().sum().backward()
        except RuntimeError as error:
            explained.extend(error.__notes__)

    with watched():
        thread = threading.Thread(target=carry)
        thread.start()
        has_begun.wait(60)
        for _ in range(100):
            train(torch.ones(2, requires_grad=True))
        may_go_on.set()
        thread.join()

    assert len(explained) == 1


def test_fault_as_a_thread_ends_is_one_line(watched: Watched, monkeypatch: pytest.MonkeyPatch) -> None:
    """The program does not notice."""
    monkeypatch.setattr(Pen, "_close", Mock(side_effect=ValueError("a fault")))

    with watched() as (_, reported):
        _one_after_another(lambda: torch.ones(2, requires_grad=True).sum().backward(), 2)

    assert reported == ["recording of lines ended early: ValueError: a fault"]
