"""Where what a network is taught by another loses its graph."""

from pathlib import Path

from fix.programs import Case

WRITTEN_OUT = """\
def main():
    for x, y in data:
        a, b = first(x), second(x)
        loss_a = ce(a, y) + kl(log(a), soft(b))
        loss_b = ce(b, y) + kl(log(b), soft(a))
        loss_a.backward()
        opt_a.step()
        loss_b.backward()
        opt_b.step()
"""
OF_MANY = """\
def main():
    for x in data:
        given = [each(x) for each in networks]
        losses = [inner_1(given, n) for n in range(2)]
        for loss, opt in zip(losses, opts):
            loss.backward()
            opt.step()

def inner_1(given, n):
    return sum(mse_loss(given[n], other) for other in given[n + 1:])
"""


def test_only_what_the_earlier_loss_is_taught_is_cut(tmp_path: Path) -> None:
    """The later loss stands above the earlier pass too; and names that stand in one line have values of their own."""
    case = Case(tmp_path, WRITTEN_OUT)
    places = {"made": case.at("first(x)"), "enters": case.at("loss_b ="), "used": case.at("loss_b.backward")}
    found = case.diagnosis(
        "GS106", "b", evidence={"earlier_pass_trains": "others"}, freed=case.at("loss_a.backward"), **places
    )
    assert case.fixed("detach", found) == WRITTEN_OUT.replace("soft(b)", "soft(b.detach())")


def test_later_loss_keeps_its_own_network(tmp_path: Path) -> None:
    """Of `a, b = …, …`, the other is no half of it."""
    case = Case(tmp_path, WRITTEN_OUT)
    created, enters, used = case.at("first(x)"), case.at("loss_b ="), case.at("loss_b.backward")
    found = case.diagnosis("GS106", "a", made=created, freed=case.at("loss_a.backward"), enters=enters, used=used)
    assert case.fixed("detach", found) == WRITTEN_OUT.replace("soft(a)", "soft(a.detach())")


def test_what_is_aimed_at_goes_by_another_name(tmp_path: Path) -> None:
    """The line that compares has it as an item of what is named."""
    case = Case(tmp_path, OF_MANY)
    enters = case.at("losses = ", "return sum")
    found = case.diagnosis("GS106", "[it]", made=case.at("given = "), enters=enters, used=case.at("loss.backward"))
    assert case.fixed("detach", found) == OF_MANY.replace(", other)", ", other.detach())")
