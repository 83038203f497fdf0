"""What a guard lets be computed in every so many iterations is meant to stay as it is in between."""

from dataclasses import replace
from pathlib import Path

import pytest

from fix.programs import A_TENSOR, Case
from gradsan.facts.culprit import Culprit
from gradsan.facts.incident import OpFact
from gradsan.facts.live_evidence import Crossed
from gradsan.fix.ranking import ranked
from gradsan.report import Fix, FixKind

SOURCE = """\
def main():
    for step in range(99):
        if {guard}:
            target = sharpen(net(data))
        loss = distance(net(x), target)
        loss.backward()
"""


def first(folder: Path, code: str, guard: str, kind: FixKind, *, is_the_loss: bool = False) -> FixKind:
    """What is offered first where that kind would be, but for the guard."""
    case = Case(folder, SOURCE.format(guard=guard))
    used = case.at("loss.backward")
    enters = None if is_the_loss else case.at("loss = ")
    found = case.diagnosis(code, "target", made=case.at("target = "), freed=used, used=used)
    if enters is not None:
        found = case.diagnosis(code, "target", made=case.at("target = "), enters=enters, freed=used, used=used)
    return ranked((Fix(kind, "", "changes-gradients"),), case.program(found))[0].kind


@pytest.mark.parametrize(("code", "kind"), [("GS109", "recompute"), ("GS110", "reorder")])
@pytest.mark.parametrize(
    "guard", ["step % 5 == 0", "not step % every", "target is None or self.calls % self.every == 0"]
)
def test_what_is_renewed_on_schedule_is_detached(tmp_path: Path, code: str, kind: FixKind, guard: str) -> None:
    """Neither is it computed in every step, nor is every other step left out."""
    assert first(tmp_path, code, guard, kind) == "detach"


@pytest.mark.parametrize("guard", ["target is None", "len(x) == size", "x.isfinite().all()"])
def test_guard_that_asks_for_something_else_is_no_schedule(tmp_path: Path, guard: str) -> None:
    """A cache, and a batch that gives nothing to learn."""
    assert first(tmp_path, "GS109", guard, "recompute") == "recompute"
    assert first(tmp_path, "GS110", guard, "reorder") == "reorder"


def test_loss_has_no_schedule(tmp_path: Path) -> None:
    """Detached, it would train nothing."""
    assert first(tmp_path, "GS110", "step % 5 == 0", "reorder", is_the_loss=True) == "reorder"


AGED = """\
def main():
    age = 5
    for step in range(99):
        if age >= 5:
            target = sharpen(net(data))
{begins}
        age += 1
        loss = distance(net(x), target)
        loss.backward()
"""


@pytest.mark.parametrize(("begins", "kind"), [("            age = 0", "detach"), ("            old = 0", "recompute")])
def test_count_that_begins_again_is_a_schedule(tmp_path: Path, begins: str, kind: FixKind) -> None:
    """What is only counted up is none: the guard would let it be computed once, and always from then on."""
    case = Case(tmp_path, AGED.format(begins=begins))
    used = case.at("loss.backward")
    made, enters = case.at("target = "), case.at("loss = ")
    found = case.diagnosis("GS109", "target", made=made, enters=enters, freed=used, used=used)

    assert ranked((Fix("recompute", "", "changes-gradients"),), case.program(found))[0].kind == kind


ROLLOUT = """\
import torch

def collect(policy):
    kept = []
    for state in start:
        dist, value = policy(state)
        {drawing}
        kept.append((action, dist.log_prob(action), value))
    return kept

def main():
    batch = collect(policy)
    for _ in range(4):
        loss = surrogate(policy, batch)
        loss.backward()
        opt.step()
"""


@pytest.mark.parametrize(
    ("drawing", "kind"),
    [
        ("action = dist.sample()", "no-grad"),
        ("action = Categorical(logits=value).sample()", "no-grad"),
        ("chosen = dist\n        action = chosen.sample()", "no-grad"),
        ("action = buffer.sample()", "move-into-loop"),
        ("action = value.argmax()", "move-into-loop"),
    ],
)
def test_what_was_drawn_along_is_a_record(tmp_path: Path, drawing: str, kind: FixKind) -> None:
    """Computed again, another action would have been taken; a buffer is not what a network gave."""
    case = Case(tmp_path, ROLLOUT.format(drawing=drawing))
    used, made = case.at("loss.backward"), case.at("batch = collect", "kept.append", inner="collect")
    found = case.diagnosis("GS104", "batch", made=made, enters=case.at("loss = "), freed=used, used=used)

    assert ranked((Fix("move-into-loop", "", "changes-gradients"),), case.program(found))[0].kind == kind


ADVANTAGES = ROLLOUT.replace("    for _ in range(4):", "    advantages = discounted(batch)\n    for _ in range(4):")


@pytest.mark.parametrize(("drawing", "is_record"), [("action = dist.sample()", True), ("action = dist.mean", False)])
def test_what_is_computed_from_a_record_needs_no_edit(tmp_path: Path, drawing: str, *, is_record: bool) -> None:
    """Advantages of a rollout: the rollout is what is recorded without a graph. Else all that is old is moved."""
    source = ADVANTAGES.format(drawing=drawing)
    case = Case(tmp_path, source)
    used, enters = case.at("loss.backward"), case.at("loss = ")
    found = case.diagnosis("GS104", "advantages", made=case.at("advantages ="), enters=enters, freed=used, used=used)
    rollout = case.at("batch = collect", "kept.append", inner="collect")
    made, entered = (OpFact("StackBackward0", 1, each.stack) for each in (rollout, enters))
    seen = replace(A_TENSOR, crossings=(Crossed(made, entered, Culprit("batch", "local"), is_alike=True),))

    best = ranked((Fix("move-into-loop", "", "changes-gradients"),), case.program(found, seen))[0]

    assert best.kind == ("no-grad" if is_record else "move-into-loop")
    if is_record:
        wrapped = "    with torch.no_grad():\n        batch = collect(policy)\n"
        assert case.fixed("no-grad", found, seen) == source.replace("    batch = collect(policy)\n", wrapped)
