"""Where a guard skips what computes the loss, the pass and the step go under it, too."""

from pathlib import Path

import pytest

from fix.programs import Case

COMPUTED = """\
def main():
    for x in data:
        opt.zero_grad()
        if len(x) > 1:
            loss = f(x)
        loss.backward()
        opt.step()
        scheduler.step()
"""
BUILT_ON = """\
def main():
    for x in data:
        if len(x) == 4:
            features = f(x)
        loss = head(features)
        opt.zero_grad()
        loss.backward()
        clip_grad_norm_(parameters, 1.0)
        opt.step()
        seen += len(x)
        total += loss.item()
    print(total / seen)
"""
FINITE = """\
def main():
    while running:
        x = read()
        if x.isfinite().all():
            loss = f(x)
        loss.backward()
        opt.step()
        if verbose:
            print(loss.item())
        n += 1
"""
ACCUMULATED = COMPUTED.replace("        opt.step()\n", "        if n % 4 == 0:\n            opt.step()\n")


def _guarded(folder: Path, source: str, made: str) -> str | None:
    case = Case(folder, source)
    return case.fixed("reorder", case.diagnosis("GS110", "loss", made=case.at(made), used=case.at("backward")))


@pytest.mark.parametrize(
    ("source", "made", "moved"),
    [
        (COMPUTED, "loss = f", ("loss.backward()", "opt.step()")),
        (
            BUILT_ON,
            "features = f",
            (
                "loss = head(features)",
                "opt.zero_grad()",
                "loss.backward()",
                "clip_grad_norm_(parameters, 1.0)",
                "opt.step()",
                "seen += len(x)",
                "total += loss.item()",
            ),
        ),
        (FINITE, "loss = f", ("loss.backward()", "opt.step()", "if verbose:", "    print(loss.item())")),
    ],
)
def test_pass_and_step_go_under_the_guard(tmp_path: Path, source: str, made: str, moved: tuple[str, ...]) -> None:
    """With all that reads the loss; what is counted or scheduled below stays where it is."""
    before = "".join(f"        {line}\n" for line in moved)
    after = "".join(f"            {line}\n" for line in moved)

    assert _guarded(tmp_path, source, made) == source.replace(before, after)


@pytest.mark.parametrize(
    "source",
    [
        ACCUMULATED,
        COMPUTED.replace("scheduler.step()", "return loss.item()"),
        COMPUTED.replace("        loss.b", "        else:\n            n += 1\n        loss.b"),
    ],
)
def test_step_that_several_iterations_share_is_not_left_out(tmp_path: Path, source: str) -> None:
    """Nor is anything moved under a guard that does something else otherwise."""
    assert _guarded(tmp_path, source, "loss = f") is None
