"""`gradsan.install(budget=…)`: silent problems of a job that goes on, told once, to whoever is to know."""

import logging
import subprocess
import sys
from pathlib import Path

import pytest
import torch

from gradsan.entry.production import BadBudgetError, room_of
from gradsan.observe.sanitizer import Sanitizer
from gradsan.plug.listeners import to_logger
from gradsan.report import Diagnosis

FOUND = Diagnosis("GS301", "graph-leak", "warning", "run", "certain", "`losses` keeps graphs", fingerprint="a")

JOB = """\
import torch
import gradsan

def listener(found):
    print(step, found.code)
    raise ValueError("nobody listens")

gradsan.install(budget="50%", to=listener)
model = torch.nn.Linear(3, 1)
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
losses = []

def train(steps):
    global step
    for step in range(steps):
        optimizer.zero_grad()
        loss = model(torch.ones(8, 3)).square().mean()
        loss.backward()
        optimizer.step()
        {keep}

train({steps})
print("over")
"""
LEAK = "losses.append(loss)"


def run(tmp_path: Path, keep: str, steps: int) -> subprocess.CompletedProcess[str]:
    """A job as a program of its own."""
    (tmp_path / "job.py").write_text(JOB.format(keep=keep, steps=steps))
    return subprocess.run(
        [sys.executable, "job.py"], cwd=tmp_path, capture_output=True, text=True, check=True, timeout=120
    )


def test_leak_is_told_while_the_job_runs(tmp_path: Path) -> None:
    """Once; and a listener that raises does not end the job."""
    done = run(tmp_path, LEAK, 1300)

    told, over = done.stdout.splitlines()
    assert over == "over"
    step, code = told.split()
    assert code == "GS301"
    assert int(step) < 1299
    assert done.stderr == "gradsan: GS301 is not reported: ValueError: nobody listens\n"


def test_leak_of_a_short_job_is_told_at_its_end(tmp_path: Path) -> None:
    """Before that, it was seen too seldom."""
    assert run(tmp_path, LEAK, 60).stdout.splitlines() == ["over", "59 GS301"]


def test_nothing_is_told_of_a_right_job(tmp_path: Path) -> None:
    """However often it is looked at."""
    done = run(tmp_path, "losses.append(loss.item())", 2500)

    assert (done.stdout, done.stderr) == ("over\n", "")


def test_notes_stay_below_the_limit_of_memory(tmp_path: Path) -> None:
    """However long the job runs and whatever number of threads it starts; the search goes on."""
    job = JOB.format(keep="losses.append(loss.item())", steps=12_000).replace('"50%"', '"50%", memory="2MB"')
    threads = "for _ in range(20):\n    each = threading.Thread(target=train, args=(300,)); each.start(); each.join()\n"
    held = (
        "print(bytes_held(current_session().sanitizer) < 2_000_000, current_session().sanitizer.attention.is_watching)"
    )
    imports = (
        "import threading\nfrom gradsan.entry.installing import current_session\n"
        "from gradsan.observe.footprint import bytes_held\n"
    )
    (tmp_path / "job.py").write_text(imports + job + threads + held)

    done = subprocess.run(
        [sys.executable, "job.py"], cwd=tmp_path, capture_output=True, text=True, check=True, timeout=120
    )

    assert (done.stdout, done.stderr) == ("over\nTrue True\n", "")


@pytest.mark.parametrize("memory", ["much", "1MB", "64", -5, 1.5, True])
def test_limit_of_memory_that_is_none(memory: object) -> None:
    """Is refused at once."""
    with pytest.raises(BadBudgetError, match="is no limit of memory"):
        room_of(memory)  # type: ignore[arg-type] # as given


def test_logger_is_given_the_explanation(caplog: pytest.LogCaptureFixture) -> None:
    """As a warning or an error, with the diagnosis beside it."""
    to_logger(logging.getLogger("job"))(FOUND)

    (record,) = caplog.records
    assert (record.name, record.levelno) == ("job", logging.WARNING)
    assert record.getMessage().startswith("GS301 graph-leak: `losses` keeps graphs")
    assert vars(record)["gradsan"] is FOUND


def test_nothing_is_charged_at_rest_but_what_was_noted() -> None:
    """When the budget is spent, no graph is walked, and no pass is noted in full."""
    weight = torch.ones(3, requires_grad=True)
    optimizer = torch.optim.SGD([weight], 0.1)
    sanitizer = Sanitizer(lines=False, share=0.005)
    sanitizer.keep_ledger()
    sanitizer.start()
    process = sanitizer.process
    assert process is not None

    def train(steps: int) -> None:
        for _ in range(steps):
            weight.square().sum().backward()
            optimizer.step()

    try:
        train(120)
        budget = sanitizer.attention._budget  # noqa: SLF001 # its own
        assert budget is not None
        budget._spent += 1000.0  # noqa: SLF001 # seconds
        train(40)
        assert not sanitizer.attention.is_on
        orders = [each.seen for each in process.passes.all()]
        train(2000)
        latest = process.passes.all()
    finally:
        sanitizer.close_ledger()
        sanitizer.stop()

    assert any(orders)
    assert process.passes.count == 2160
    assert not any(each.seen for each in latest[-40:])
    assert not any(each.seen for each in latest if each.index >= 200)
