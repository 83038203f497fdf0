"""What an iteration hands on to the next is computed again where a step has made it old."""

from pathlib import Path

import pytest

from fix.programs import Case

TD = """\
def main():
    value = critic(state)
    while not done:
        state, reward, done = env.step()
        following = critic(state)
        loss = (reward + following.detach() - value).pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        value = following  # no need to compute it again
"""
PREDICTOR = """\
def main():
    for frame in video:
        code = encoder(frame)
        if before is not None:
            loss = mse_loss(before, code.detach())
            loss.backward()
            optimizer.step()
        before = code
"""


def fixed(folder: Path, source: str, name: str) -> str | None:
    """The program in which the next iteration has a graph of the present parameters."""
    case = Case(folder, source)
    places = {"made": case.at("= "), "enters": case.at("loss ="), "used": case.at("loss.backward")}
    found = case.diagnosis("GS201", name, evidence={}, changed=case.at("optimizer.step"), **places)
    return case.fixed("recompute", found)


@pytest.mark.parametrize(
    ("source", "name", "handed", "computed"),
    [
        (TD, "value", "value = following ", "value = critic(state) "),
        (PREDICTOR, "before", "= code\n", "= encoder(frame)\n"),
    ],
)
def test_it_is_computed_again_below_the_step(
    tmp_path: Path, source: str, name: str, handed: str, computed: str
) -> None:
    """By the line that computed it above."""
    assert fixed(tmp_path, source, name) == source.replace(handed, computed)


def test_what_it_is_computed_from_may_have_changed(tmp_path: Path) -> None:
    """The same words would mean another state."""
    source = TD.replace("        loss.backward()\n", "        loss.backward()\n        state = env.reset()\n")
    assert "value = critic" not in (fixed(tmp_path, source, "value") or "").partition("while")[2]


def test_what_is_handed_on_above_the_step_would_be_as_old_again(tmp_path: Path) -> None:
    """It is computed with the same parameters there."""
    handed = "        value = following  # no need to compute it again\n"
    source = TD.replace(handed, "").replace(
        "        optimizer.zero_grad()\n", f"{handed}        optimizer.zero_grad()\n"
    )
    assert "value = critic" not in (fixed(tmp_path, source, "value") or "").partition("while")[2]
