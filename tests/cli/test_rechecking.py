"""Without a run, an edit is certain only where the source proves it."""

from pathlib import Path

import pytest

from gradsan.check.reading import check_content
from gradsan.cli.rechecking import Rechecker
from gradsan.report import Diagnosis

CARRIED = """\
import torch
from torch import nn

{net}
opt = torch.optim.SGD(net.parameters(), lr=0.1)
state = None
for x in torch.ones(4, 5, 2):
    out, state = net(x, state)
    loss = out.mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
    state = {state}
"""
ONCE = """\
import torch
from torch import nn

encoder, head = nn.Linear(2, 2), nn.Linear(2, 1)
opt = torch.optim.SGD([*encoder.parameters(), *head.parameters()], lr=0.1)
features = {made}
for step in range(3):
    loss = head(features).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
"""
TWICE = """\
import torch

weights = torch.ones(3, requires_grad=True)
scaled = weights.exp()
score = scaled.square().mean()
score.backward()
{again}.backward()
"""


def carried(net: str, state: str = "state") -> str:
    """A state that goes from step to step."""
    return CARRIED.format(
        net=f"net = {net}" if "(" in net else f"from models import {net}\n\nnet = {net}()", state=state
    )


@pytest.mark.parametrize(
    ("broken", "edited", "why"),
    [
        (carried("nn.GRU(2, 2)"), carried("nn.GRU(2, 2)", "state.detach()"), None),
        (carried("nn.LSTM(2, 2)"), carried("nn.LSTM(2, 2)", "tuple(each.detach() for each in state)"), None),
        (carried("nn.LSTM(2, 2)"), carried("nn.LSTM(2, 2)", "state.detach()"), "`state.detach` would fail"),
        (carried("nn.GRU(2, 2)"), carried("nn.GRU(2, 2)", "state.float()"), "would still have the problem"),
        (carried("build"), carried("build", "state.detach()"), "does not show what `state.detach` is called on"),
        (
            ONCE.format(made="encoder(torch.ones(4, 2)).tanh()"),
            ONCE.format(made="encoder(torch.ones(4, 2)).tanh().detach()"),
            "`encoder` would receive no gradient any more",
        ),
        (TWICE.format(again="score"), TWICE.format(again="scaled.square().mean()"), "another problem, GS102"),
        (TWICE.format(again="score"), TWICE.format(again="weights.exp().square().mean()"), None),
    ],
)
def test_source_proves_an_edit_or_says_what_is_missing(
    broken: str, edited: str, why: str | None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The problem is gone, no other came, no call fails, and all that was trained still is."""
    monkeypatch.chdir(tmp_path)
    found = only(broken)

    obstacle = Rechecker(tmp_path, [found]).obstacle(found, {"train.py": edited.encode()})

    assert obstacle is None if why is None else obstacle is not None and why in obstacle.why


def test_problem_that_only_a_run_has_shown_is_not_proved_by_source(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the source does not show, it cannot show to be gone."""
    monkeypatch.chdir(tmp_path)
    found = only(TWICE.format(again="score"))
    clean = TWICE.format(again="weights.exp().mean()")
    (tmp_path / "train.py").write_text(clean, encoding="utf-8")

    obstacle = Rechecker(tmp_path, ()).obstacle(found, {"train.py": clean.encode()})

    assert obstacle is not None
    assert obstacle.why == "the source alone does not show the problem"
    assert not obstacle.fatal


def only(source: str) -> Diagnosis:
    """The one problem of a program in the working directory."""
    file = Path("train.py")
    file.write_text(source, encoding="utf-8")
    (found,) = check_content(str(file), source.encode()).diagnoses
    return found
