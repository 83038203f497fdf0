"""Where the gradients of an optimizer are cleared, when another loss has left some in its network."""

from pathlib import Path

from fix.programs import Case

ABOVE_BOTH = """\
def main():
    for real in data:
        opt_g.zero_grad()
        opt_d.zero_grad()
        g_loss = bce(D(G(z())), ones)
        g_loss.backward()
        opt_g.step()
        d_loss = bce(D(real), ones)
        d_loss.backward()
        opt_d.step()
"""
TWO_OF_ITS_OWN = """\
def main():
    for real in data:
        opt_g.zero_grad()
        g_loss = bce(D(G(z())), ones)
        g_loss.backward()
        opt_g.step()
        bce(D(real), ones).backward()
        d_loss = bce(D(G(z()).detach()), zeros)
        d_loss.backward()
        scaler.step(opt_d)
"""
IN_A_METHOD = """\
def main():
    for real in data:
        generator_step()
        critic_step(real)

def generator_step():
    g_loss = bce(D(G(z())), ones)
    g_loss.backward()
    opt_g.step()

def critic_step(real):
    d_loss = bce(D(real), ones)
    d_loss.backward()
    opt_d.step()
"""


def cleared(folder: Path, source: str, own: tuple[str, ...], step: tuple[str, ...]) -> str | None:
    """The program in which the optimizer's own loss is alone."""
    case = Case(folder, source)
    places = {"used": case.at("g_loss.backward"), "enters": case.at(*own), "changed": case.at(*step)}
    return case.fixed("zero-grad", case.diagnosis("GS303", "opt_d", evidence={"left_behind": 1}, **places))


def test_clearing_comes_down_to_its_own_pass(tmp_path: Path) -> None:
    """Above both passes, it cleared nothing of what the first one leaves."""
    fixed = ABOVE_BOTH.replace("        opt_d.zero_grad()\n", "").replace(
        "        d_loss.backward()\n", "        opt_d.zero_grad()\n        d_loss.backward()\n"
    )
    assert cleared(tmp_path, ABOVE_BOTH, ("d_loss.backward",), ("opt_d.step",)) == fixed


def test_first_of_its_own_passes_is_meant(tmp_path: Path) -> None:
    """Between two of its own, the clearing would take one of them away; a scaler is no optimizer."""
    fixed = TWO_OF_ITS_OWN.replace(
        "        bce(D(real), ones).backward()\n", "        opt_d.zero_grad()\n        bce(D(real), ones).backward()\n"
    )
    assert cleared(tmp_path, TWO_OF_ITS_OWN, ("d_loss.backward",), ("scaler.step",)) == fixed


def test_function_of_its_own_clears_there(tmp_path: Path) -> None:
    """Its pass and its step stand in one function."""
    fixed = IN_A_METHOD.replace("    d_loss.backward()\n", "    opt_d.zero_grad()\n    d_loss.backward()\n")
    own, step = ("critic_step(real)", "d_loss.backward"), ("critic_step(real)", "opt_d.step")
    assert cleared(tmp_path, IN_A_METHOD, own, step) == fixed


TOO_EARLY = """\
def main():
    for x, y in data:
        loss = criterion(model(x), y)
        loss.backward()
        clip_grad_norm_(model.parameters(), 1.0)
        # Ready for the next batch.
        opt.zero_grad()
        opt.step()
"""


def late(folder: Path, source: str) -> str | None:
    """The program whose step takes the gradients of its loss."""
    case = Case(folder, source)
    found = case.diagnosis("GS307", "loss", used=case.at("loss.backward"), changed=case.at("opt.step"))
    return case.fixed("reorder", found)


def test_clearing_between_pass_and_step_goes_above_the_pass(tmp_path: Path) -> None:
    """The step below it takes nothing at all as it is."""
    clearing = "        # Ready for the next batch.\n        opt.zero_grad()\n"
    passing = "        loss.backward()\n"
    fixed = TOO_EARLY.replace(clearing, "").replace(passing, clearing + passing)
    assert late(tmp_path, TOO_EARLY) == fixed


def test_step_that_stands_below_the_pass_is_not_taken_away(tmp_path: Path) -> None:
    """Something else clears its gradients: a step that trains nothing is no step too many."""
    assert late(tmp_path, TOO_EARLY.replace("        opt.zero_grad()\n", "        callbacks.after_pass()\n")) is None
