"""How what is kept from step to step is kept without its history."""

from pathlib import Path

import pytest

from fix.programs import Case

SOURCE = """\
import torch

model, criterion = torch.nn.Linear(2, 2), torch.nn.MSELoss()

def main():
    for x in data:
        pred = model(x)
        loss = criterion(pred)
        loss.backward()
        {line}
"""


@pytest.mark.parametrize(
    ("line", "name", "made", "detached"),
    [
        ("outputs.append(pred)", "outputs", "model(x)", "outputs.append(pred.detach())"),
        ("metric.update(pred, x)", "metric", "model(x)", "metric.update(pred.detach(), x)"),
        ("self.best = loss", "self.best", "criterion", "self.best = loss.detach()"),
        ('seen["last"] = pred, x', "seen", "model(x)", 'seen["last"] = pred.detach(), x'),
        ("history += [pred]", "history", "model(x)", "history += [pred.detach()]"),
    ],
)
def test_what_is_put_there_is_detached(line: str, name: str, made: str, detached: str, tmp_path: Path) -> None:
    """At the line that feeds it, whatever that is."""
    case = Case(tmp_path, SOURCE.format(line=line))
    found = case.diagnosis("GS301", name, made=case.at(made), held=case.at(line))

    assert case.fixed("detach", found) == SOURCE.format(line=detached)
    assert case.fixed("item", found) == SOURCE.format(line=detached.replace("detach", "item"))


def test_method_of_a_holder_is_left_alone_that_is_not_given_what_it_keeps(tmp_path: Path) -> None:
    """Nobody can say what it puts there."""
    case = Case(tmp_path, SOURCE.format(line="metric.update(model.outputs, x)"))
    found = case.diagnosis("GS301", "metric", made=case.at("model(x)"), held=case.at("metric.update"))

    assert case.fixed("detach", found) is None


METER = """\
class Meter:
    def update(self, value):
        self.avg = self.avg * 0.9 + value * 0.1

def main():
    for x in data:
        loss = step(x)
        speed.update(time() - begun)
        losses.update(loss)
"""


def test_meter_that_is_given_numbers_too_is_given_one_by_the_caller(tmp_path: Path) -> None:
    """What the meter keeps is a number only where a tensor came in."""
    case = Case(tmp_path, METER)
    found = case.diagnosis("GS301", "self.avg", held=case.at("self.avg =", function="Meter.update"))

    assert case.fixed("item", found) == METER.replace("losses.update(loss)", "losses.update(float(loss))")


def test_meter_of_several_tensors_is_fixed_itself(tmp_path: Path) -> None:
    """No caller is chosen where more than one gives it a variable."""
    source = f"{METER}        other.update(loss)\n"
    case = Case(tmp_path, source)
    found = case.diagnosis("GS301", "self.avg", held=case.at("self.avg =", function="Meter.update"))

    expected = source.replace("self.avg * 0.9 + value * 0.1", "float(self.avg * 0.9 + value * 0.1)")
    assert case.fixed("item", found) == expected
