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


VIEWS = """\
def main():
    for x in data:
        z1, z2 = f(augment(x)), f(augment(x))
        p1, p2 = h(z1), h(z2)
        first = distance(p1, z2)
        first.backward()
        second = distance(p2, z1)
        second.backward()
        opt.step()
"""


def detached(folder: Path, source: str) -> str | None:
    """The program in which each view is a target of the other."""
    case = Case(folder, source)
    enters, freed, used = case.at("second ="), case.at("first.backward"), case.at("second.backward")
    found = case.diagnosis("GS102", "z1", made=case.at("z1, z2"), enters=enters, freed=freed, used=used)
    return case.fixed("detach", found)


def test_views_that_are_predicted_from_each_other_are_targets(tmp_path: Path) -> None:
    """Also where each is computed in a line of its own."""
    fixed = VIEWS.replace("(p1, z2)", "(p1, z2.detach())").replace("(p2, z1)", "(p2, z1.detach())")
    lines = "p1 = h(z1)\n        p2 = h(z2)\n"
    assert detached(tmp_path, VIEWS) == fixed
    written_out = VIEWS.replace("p1, p2 = h(z1), h(z2)\n", lines)
    assert detached(tmp_path, written_out) == fixed.replace("p1, p2 = h(z1), h(z2)\n", lines)


def test_views_that_are_only_compared_are_both_trained(tmp_path: Path) -> None:
    """A contrastive loss is of both; nor is what a head is given a target of its own loss."""
    assert detached(tmp_path, VIEWS.replace("(p1, z2)", "(z1, z2)").replace("(p2, z1)", "(z2, z1)")) is None
    assert detached(tmp_path, VIEWS.replace("(p1, z2)", "(p1, z1)").replace("(p2, z1)", "(p2, z2)")) is None
