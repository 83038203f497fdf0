"""Fixes of lines that run again and again: in the iterations of a loop, or wherever a wrapped function is called."""

from pathlib import Path

from fix.programs import Case


def test_nothing_is_moved_for_what_an_earlier_iteration_created(tmp_path: Path) -> None:
    """The line that created it stands above the pass, the step below: right above the pass, it would change nothing.

    It is computed again below the step, where it is handed on.
    """
    source = """\
def main():
    for state in states:
        following = critic(state)
        loss = (1.0 + following.detach() - value).pow(2).mean()
        loss.backward()
        opt.step()
        value = following
"""
    case = Case(tmp_path, source)
    found = case.diagnosis(
        "GS201", "value", made=case.at("critic(state)"), changed=case.at("step"), used=case.at("backward")
    )

    assert case.fixed("recompute", found) == source.replace("value = following", "value = critic(state)")


def test_pass_for_several_optimizers_is_asked_for_once(tmp_path: Path) -> None:
    """Above the loop over them; not where each iteration has a loss of its own."""
    source = "def main():\n    for opt in opts:\n        loss.backward()\n        opt.step()\n"
    case = Case(tmp_path, source)
    found = case.diagnosis("GS101", "loss", freed=case.at("backward"), used=case.at("backward"))

    fixed = case.fixed("remove-backward", found)

    assert fixed == "def main():\n    loss.backward()\n    for opt in opts:\n        opt.step()\n"


def test_pass_of_each_loss_stays_in_its_loop(tmp_path: Path) -> None:
    """The loop goes over the losses."""
    case = Case(tmp_path, "def main():\n    for loss in pending:\n        loss.backward()\n        opt.step()\n")
    found = case.diagnosis("GS101", "loss", freed=case.at("backward"), used=case.at("backward"))

    assert case.fixed("remove-backward", found) is None


def test_network_that_is_wrapped_is_taken_as_it_is(tmp_path: Path) -> None:
    """What wraps it switches recording off for every call."""
    source = "def main():\n    encode = torch.no_grad()(body)\n    encode(x).sum().backward()\n"
    case = Case(tmp_path, source)
    found = case.diagnosis("GS203", "loss", cut=case.at("no_grad"), used=case.at("backward"))

    assert case.fixed("re-attach", found) == source.replace("torch.no_grad()(body)", "body")
