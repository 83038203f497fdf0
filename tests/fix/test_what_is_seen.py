"""What is said of memory where a program was run with a fix: what was seen, and nothing that was not."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from fix.programs import MAIN, Case
from fix.test_proving import Acted, ended, steps
from gradsan.facts.details import EARLIER, OWN, Sample, Share
from gradsan.facts.graph_memory import GraphMemory, growing, held_under, in_memory
from gradsan.fix.judging.verdicts import Stage
from gradsan.fix.proving import Prover
from gradsan.fix.trials.commands import command_of
from gradsan.fix.trials.workshop import Trial, Workshop
from gradsan.report import Effects, Fix, Seen
from gradsan.show.explained import witnessed

HOLDERS = (OWN, EARLIER, "total")
OWN_STEP = (10, 4000)


def samples(*held: int, holder: int = 2, saved: int = 0) -> tuple[Sample, ...]:
    """Passes that one holder has so many ops at, beside those of the step itself."""
    return tuple(
        Sample(number, number, (Share(0, *OWN_STEP), *([Share(holder, ops, ops * saved)] if ops else [])))
        for number, ops in enumerate(held)
    )


@pytest.mark.parametrize(
    ("held", "added"),
    [
        ((0, 11, 22, 33, 44, 55), 11),
        ((0, 11, 22, 0, 11, 22, 0, 11), 11),  # emptied after each epoch
        ((0, 0, 11, 11, 22, 22, 33, 33), 11),  # with every second pass
        ((0, 4, 4, 4, 4, 4, 4, 4), 0),  # the one before, and no more
        ((0, 4, 8, 12, 12, 12, 12, 12), 0),  # a window that is full
        ((6, 2, 6, 2, 6, 2, 6, 2), 0),  # two lines in turn
        ((9, 3, 7, 4, 8, 2, 9, 3), 0),  # batches of their own sizes
        ((0, 0, 0), 0),
        ((), 0),
    ],
)
def test_what_grows_goes_on_rising(held: tuple[int, ...], added: int) -> None:
    """Of three changes two are rises, and the later half of the run has some."""
    assert in_memory(samples(*held), 2) == GraphMemory(max(held, default=0), 0, added, 0)


def test_passes_between_samples_count() -> None:
    """Each added its part."""
    every_second = [replace(each, number=2 * each.number) for each in samples(0, 22, 44, 66, saved=3)]

    assert in_memory(every_second, 2) == GraphMemory(66, 198, 11, 33)


def test_name_that_holds_nothing_is_not_said_to_hold_it() -> None:
    """A page says what was seen."""
    assert held_under(samples(0, 11), HOLDERS, "total") == GraphMemory(11, 0, 11, 0)
    assert held_under(samples(0, 0), HOLDERS, "total") is None
    assert held_under(samples(0, 11), HOLDERS, "history") is None


def test_what_goes_on_into_losses_grows_there() -> None:
    """A name of which nothing is seen by itself is part of what the next loss is built on."""
    assert growing(samples(0, 11, 22, 33), HOLDERS, "total") == "total"
    assert growing(samples(0, 11, 22, 33, holder=1), HOLDERS, "total") == EARLIER
    assert growing(samples(0, 4, 4, 4), HOLDERS, "total") is None


LEAKING = """\
def main():
    total = 0
    for x in batches:
        loss = net(x)
        loss.backward()
        total += loss
"""
LEAK = samples(0, 11, 22, 33, 44)


class Weighed(Acted):
    """A program with a leak, and what is alive in it with a fix."""

    def __init__(self, root: Path, fixed: Trial) -> None:
        super().__init__(root, lambda _text, _reference: fixed)
        self.weighed: list[bool] = []
        self.fixed = fixed

    def run(self, changed: Mapping[str, bytes], *, weighs: bool = False, **_: object) -> Trial:
        """How it would end; what is alive only where that is asked."""
        self.weighed.append(weighs)
        trial = self.fixed if changed.get(MAIN) else replace(ended(0, steps(1)), holders=HOLDERS, samples=LEAK)
        return trial if weighs else replace(trial, samples=())


def tried(folder: Path, fixed: Trial, code: str = "GS301") -> tuple[Weighed, Fix]:
    """What is said of the first fix after it was tried."""
    case = Case(folder, LEAKING)
    found = case.diagnosis(code, "total", held=case.at("total +="), used=case.at("loss.backward"))
    found = replace(found, severity="warning", fixes=(Fix("item", "", "same-gradients"),))
    workshop = Weighed(folder, fixed)
    prover = Prover(workshop, Stage(replace(ended(0, steps(1)), diagnoses=(found,)), {}, workshop), lambda _: None)
    proof = prover.prove(found)
    closest = proof or next(iter(prover.otherwise), None)
    return workshop, prover.marked(found, None if closest is None else closest.fixes[0]).fixes[0]


def fixed(*held: int, status: int = 0) -> Trial:
    """How the program runs with the fix."""
    return replace(ended(status, steps(1)), holders=HOLDERS, samples=samples(*held))


def test_fix_is_said_to_do_what_was_seen(tmp_path: Path) -> None:
    """Beside what was seen without it, of the same passes."""
    _, fix = tried(tmp_path, fixed(0, 0, 0, 0))

    assert fix.verified
    assert fix.effects.seen == Seen(4, GraphMemory(10, 4000), GraphMemory(43, 4000, 11, 0))
    assert (fix.effects.saved_bytes, fix.effects.kept_bytes, fix.effects.parameters_changed) == (4000, 0, ())
    assert witnessed(fix.effects.seen) == (
        "every step adds nothing instead of 11 ops; at most 10 ops and about 4.0 KB of saved values instead of 43 ops"
        " and about 4.0 KB of saved values were held (seen in the first 4 backward passes)"
    )


def test_fix_that_leaves_memory_as_it_was_is_not_said_to_save_any(tmp_path: Path) -> None:
    """A near miss: nothing is reported of it any more, and all is there as before."""
    _, fix = tried(tmp_path, fixed(0, 11, 22, 33, 44))

    assert fix.effects.seen is not None
    assert fix.effects.seen.with_fix == fix.effects.seen.without_fix
    assert witnessed(fix.effects.seen).startswith("every step adds 11 ops, as without it; at most 54 ops")


def test_refused_fix_has_what_was_seen_of_it(tmp_path: Path) -> None:
    """The problem is found in it again."""
    case = Case(tmp_path, LEAKING)
    again = replace(case.diagnosis("GS301", "total", held=case.at("total +=")), severity="warning")

    _, fix = tried(tmp_path, replace(fixed(0, 11, 22, 33, 44), diagnoses=(again,)))

    assert fix.verified is False
    assert fix.effects.kept_bytes == 0
    assert fix.effects.seen is not None
    assert fix.effects.seen.with_fix.ops_a_step == 11


@pytest.mark.parametrize("fixed_run", [fixed(0, 11, status=1), fixed(), fixed(0)])
def test_nothing_is_said_where_too_little_was_seen(tmp_path: Path, fixed_run: Trial) -> None:
    """A program that now fails, of which nothing was recorded, or too little to see anything grow."""
    _, fix = tried(tmp_path, fixed_run)

    assert fix.effects.seen is None
    assert fix.effects.saved_bytes is None


def test_only_what_grows_is_weighed(tmp_path: Path) -> None:
    """Trials of other problems cost what they did."""
    leak, _ = tried(tmp_path, fixed(0, 0))
    other, fix = tried(tmp_path, fixed(0, 0), "GS303")

    assert any(leak.weighed)
    assert not any(other.weighed)
    assert fix.effects in (Effects(), Effects(parameters_changed=()))


LOOP = """\
import torch
from torch.utils.checkpoint import checkpoint

net = torch.nn.Linear(2, 2)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
total = 0
for x in torch.ones({passes}, 1, 2).requires_grad_():
    loss = {forward}.sum()
    loss.backward({option})
    opt.step()
    total += loss
"""


@pytest.mark.torch
@pytest.mark.parametrize(
    ("passes", "forward", "option", "looked"),
    [
        (40, "net(x)", "", 32),
        (40, "net(x)", "retain_graph=True", 32),
        (5, "net(x)", "", 5),
        (40, "checkpoint(net, x, use_reentrant=True)", "", 0),  # passes inside of passes: not each is looked at
    ],
)
def test_each_of_the_first_passes_is_looked_at_or_none(
    tmp_path: Path, passes: int, forward: str, option: str, looked: int
) -> None:
    """What each of them freed is seen, not inferred; the figures are those of any run."""
    program = LOOP.format(passes=passes, forward=forward, option=option)
    (tmp_path / "train.py").write_text(program, encoding="utf-8")
    shops = [Workshop(tmp_path, command_of("python train.py", tmp_path), seconds=60, layers=False) for _ in range(2)]

    one, two = (shop.run({}, weighs=True) for shop in shops)

    assert (one.samples, one.holders) == (two.samples, two.holders)
    assert [each.number for each in one.samples] == list(range(looked))
    assert shops[0].run({}).samples == ()
    if looked:
        held = held_under(one.samples, one.holders, "total")
        assert held is not None
        assert held.ops_a_step > 0
        assert (held.bytes_a_step > 0) is bool(option)
