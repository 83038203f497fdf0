"""The order of questions that tells the causes of an error apart, on facts made by hand."""

from dataclasses import replace

import pytest

from gradsan.causes.diagnosing import diagnose
from gradsan.facts.culprit import Named
from gradsan.facts.incident import (
    Donated,
    Edited,
    GraphPath,
    Incident,
    OpFact,
    Owners,
    PassFact,
    ReadAfterFree,
    Repetition,
    SecondPass,
    WithoutHistory,
    whom_for,
)
from gradsan.facts.location import Frame
from gradsan.report import Culprit, Diagnosis, RaisedError

ERROR = RaisedError("RuntimeError", "Trying to backward through the graph a second time")
MADE = OpFact("TanhBackward0", 3, (Frame("model.py", 31, "Model.forward"),), consumed=True, step=1)
ENTERS = OpFact("AddmmBackward0", 9, (Frame("model.py", 31, "Model.forward"),), step=2)
EARLIER = PassFact("backward", retains=False, stack=(Frame("train.py", 58, "main"),), step=1, begin=6)
LATER = replace(EARLIER, step=2, begin=12)
LOOP = Repetition(
    header=Frame("train.py", 50, "main"),
    now=2,
    freed=1,
    made="earlier",
    creator_runs=2,
    creator_ran_now=True,
    created_in_outer_iteration=False,
)
ONE = Owners(frozenset("a"), frozenset("a"), by_optimizer=True)
APART = Owners(frozenset("a"), frozenset("b"), by_optimizer=True)
SHARED = SecondPass(
    failing=LATER,
    freeing=EARLIER,
    path=GraphPath((ENTERS, MADE)),
    made=MADE,
    enters=ENTERS,
    kinship="none",
    repetition=None,
    updated_between=False,
    cleared_between=False,
    owners=ONE,
    consumed=frozenset({3}),
    consumed_bytes=64,
)
EDITED = Edited(
    failing=LATER,
    saver=MADE,
    by_optimizer=True,
    optimizer="a",
    changed=(Frame("train.py", 59, "main"),),
    when="earlier",
    path=GraphPath((ENTERS, MADE)),
    made=MADE,
    enters=ENTERS,
)
IN_LOOP = replace(SHARED, repetition=LOOP, updated_between=True)
SKIPPED = replace(LOOP, creator_ran_now=False)
BEFORE_LOOP = replace(IN_LOOP, repetition=replace(LOOP, made="before", creator_runs=0, creator_ran_now=False))


def diagnosed(incident: Incident) -> Diagnosis:
    """The diagnosis, with a name."""
    return diagnose(incident, ERROR, Named(Culprit("self.hidden", "attribute"), certain=True))


BY_HAND = replace(EDITED, by_optimizer=False, saver=None, changed=(), path=GraphPath(), made=None, enters=None)


@pytest.mark.parametrize(
    ("code", "incident"),
    [
        ("GS102", SHARED),
        ("GS106", replace(SHARED, owners=APART)),
        ("GS101", replace(IN_LOOP, kinship="same")),
        ("GS105", replace(IN_LOOP, kinship="total")),
        ("GS103", IN_LOOP),
        ("GS109", replace(IN_LOOP, repetition=replace(SKIPPED, creator_runs=1))),
        ("GS109", replace(IN_LOOP, repetition=replace(LOOP, memo="self.memo"))),
        ("GS110", replace(IN_LOOP, repetition=SKIPPED)),
        ("GS109", replace(IN_LOOP, kinship="total", repetition=replace(SKIPPED, creator_runs=1))),
        ("GS110", replace(IN_LOOP, kinship="total", repetition=SKIPPED)),
        ("GS110", replace(IN_LOOP, kinship="same", repetition=SKIPPED)),
        ("GS104", BEFORE_LOOP),
        ("GS104", replace(BEFORE_LOOP, kinship="total")),
        ("GS102", replace(BEFORE_LOOP, updated_between=False)),
        ("GS104", replace(BEFORE_LOOP, owners=APART)),
        ("GS107", replace(IN_LOOP, freeing=replace(EARLIER, kind="grad"))),
        ("GS107", replace(SHARED, freeing=replace(EARLIER, in_forward=True))),
        ("GS111", replace(IN_LOOP, compiled=True)),
        ("GS112", replace(IN_LOOP, checkpointed=True)),
        ("GS113", replace(IN_LOOP, own_backward=True)),
        ("GS201", EDITED),
        (
            "GS202",
            replace(EDITED, by_optimizer=False, saver=None, changed=(), path=GraphPath(), made=None, enters=None),
        ),
        ("GS203", WithoutHistory(LATER)),
        ("GS204", Donated(LATER)),
        ("GS108", ReadAfterFree(LATER, EARLIER)),
    ],
)
def test_cause_follows_from_the_facts(code: str, incident: Incident) -> None:
    """Contexts first, then what freed the graph, then the loss, then the iteration, then who owns the parameters."""
    assert diagnosed(incident).code == code


def test_fake_of_a_gan_made_once_a_iteration_is_another_networks_output() -> None:
    """Created before the inner loop, in this iteration of the outer one, and trained by another optimizer."""
    inner = replace(BEFORE_LOOP, owners=APART)
    loop = inner.repetition
    assert loop is not None

    assert diagnosed(replace(inner, repetition=replace(loop, created_in_outer_iteration=True))).code == "GS106"


def test_pass_that_reaches_nothing_fresh_is_distinguished_by_who_stepped_on_the_earlier_one() -> None:
    """A policy's loss walked through the bonus of another network, whose own pass comes later."""
    owners = replace(APART, fresh=frozenset(), freed=frozenset({"dynamics"}), served=frozenset({"policy"}))

    assert diagnosed(replace(SHARED, owners=owners)).code == "GS106"
    assert diagnosed(replace(SHARED, owners=replace(owners, served=frozenset({"dynamics"})))).code == "GS102"
    assert diagnosed(replace(SHARED, owners=replace(owners, by_optimizer=False))).code == "GS102"


def test_what_its_owners_threw_away_was_meant_for_others() -> None:
    """A probe's loss walks through the encoder, which clears what that gave it; or all of it is cleared, to compare."""
    probe = replace(ONE, served=frozenset("p"), discarded=ONE.freed)

    assert diagnosed(replace(SHARED, owners=probe, cleared_between=True)).fixes[0].kind == "detach"
    assert diagnosed(replace(SHARED, owners=ONE, cleared_between=True)).fixes[0].kind == "retain-graph"
    assert diagnosed(replace(SHARED, owners=replace(probe, discarded=frozenset()))).code == "GS102"


def test_pass_is_for_those_who_keep_what_it_gives_them() -> None:
    """Who steps right after it, or else who does not clear it while others do; where all clear, nobody can tell."""
    both = frozenset("ab")

    assert whom_for(frozenset("a"), both, frozenset("b")) == frozenset("a")
    assert whom_for(frozenset(), both, frozenset("b")) == frozenset("a")
    assert whom_for(frozenset(), both, both) == frozenset()
    assert whom_for(frozenset(), both, frozenset()) == frozenset()


def test_what_was_created_once_is_cut_off_where_the_iteration_trains_the_same_parameters_again() -> None:
    """It is compared with, or weighs; what is multiplied as a weight is has to be made again."""
    compared = replace(BEFORE_LOOP, trained_again=True, owners=replace(APART, freed=APART.fresh))

    assert diagnosed(compared).fixes[0].kind == "detach"
    assert diagnosed(replace(compared, is_operand=True)).fixes[0].kind == "move-into-loop"


def test_what_two_heads_share_is_trained_by_both_losses() -> None:
    """Unless an optimizer stepped in between, or one head is part of both losses, as a discriminator is."""
    heads = replace(APART, reached=frozenset("bc"))

    assert diagnosed(replace(SHARED, owners=heads)).code == "GS102"
    assert diagnosed(replace(SHARED, owners=replace(heads, served=frozenset("c")))).code == "GS106"
    assert diagnosed(replace(SHARED, owners=replace(heads, reached=frozenset("ab")))).code == "GS106"


def test_what_was_created_once_is_cut_off_where_its_owner_does_not_step() -> None:
    """A teacher that was trained before; where its own optimizer steps, it is to be computed again."""
    teacher = Owners(frozenset("a"), frozenset("b"), by_optimizer=True, served=frozenset("a"))
    both = replace(teacher, served=frozenset("ab"))
    unknown = replace(teacher, served=frozenset())

    first = [diagnosed(replace(BEFORE_LOOP, owners=owners)).fixes[0].kind for owners in (teacher, both, unknown)]

    assert first == ["detach", "move-into-loop", "move-into-loop"]


def test_call_that_cuts_is_not_offered_to_be_removed_where_none_was_found() -> None:
    """There is nothing to point at."""
    at = (Frame("train.py", 7, "main"),)

    assert [each.kind for each in diagnosed(WithoutHistory(LATER)).fixes] == ["advice"]
    assert diagnosed(WithoutHistory(LATER, cut=at, by="`.detach()`")).fixes[0].kind == "re-attach"
    assert diagnosed(WithoutHistory(LATER, cut=at, by="`.requires_grad_(False)`")).fixes[0].kind == "unfreeze"


def test_what_was_inferred_is_likely() -> None:
    """Certain is said only of what was seen."""
    assert diagnosed(IN_LOOP).confidence == "certain"
    assert diagnosed(replace(IN_LOOP, freeing=replace(EARLIER, seen=False))).confidence == "likely"
    assert diagnosed(replace(IN_LOOP, made=replace(MADE, stack=()))).confidence == "likely"


def test_explanation_has_its_places_and_its_name() -> None:
    """Created, freed, entered, used, and the name in the sentence."""
    diagnosis = diagnosed(IN_LOOP)
    places = [diagnosis.made, diagnosis.freed, diagnosis.enters, diagnosis.used]

    assert [(each.line, each.step) for each in places if each] == [(31, 1), (58, 1), (31, 2), (58, 2)]
    assert "`self.hidden`" in diagnosis.message


def test_retaining_the_failing_call_is_said_to_be_no_help() -> None:
    """People paste it there; it keeps nothing that is gone."""
    diagnosis = diagnosed(replace(SHARED, failing=replace(LATER, retains=True)))

    assert any("does not help" in note for note in diagnosis.notes)


def test_fingerprint_survives_shifted_lines() -> None:
    """A baseline still fits when lines were added above."""
    shifted = replace(MADE, stack=(Frame("model.py", 99, "Model.forward"),))

    assert diagnosed(IN_LOOP).fingerprint == diagnosed(replace(IN_LOOP, made=shifted)).fingerprint


def test_graph_that_one_backward_of_a_function_walks_again_is_kept() -> None:
    """No other pass came in between; where one did, each is a backward of its own, and needs a graph of its own."""
    again = replace(IN_LOOP, own_backward=True, freeing=replace(EARLIER, order=1), failing=replace(LATER, order=2))

    assert diagnosed(again).fixes[0].kind == "retain-graph"
    assert diagnosed(replace(again, failing=replace(LATER, order=3))).fixes[0].kind == "recompute"
    assert diagnosed(replace(again, failing=LATER)).fixes[0].kind == "recompute"


def test_gradient_that_is_looked_at_beside_a_pass_is_no_loss_of_another_network() -> None:
    """It is wanted apart: weights of losses are adapted to it, with an optimizer of their own."""
    looking = replace(SHARED, owners=APART, failing=replace(SHARED.failing, kind="grad"))

    found = diagnosed(looking)

    assert found.code == "GS102"
    assert found.fixes[0].kind == "retain-graph"
    both = replace(looking, freeing=replace(SHARED.freeing, kind="grad"))
    assert diagnosed(both).code in ("GS106", "GS107")


def test_state_of_an_earlier_step_may_begin_again_after_a_step_too() -> None:
    """Last of all: what this step computed itself is created again, or comes later."""
    kinds = [each.kind for each in diagnosed(replace(EDITED, when="earlier")).fixes]

    assert kinds[-1] == "reset-state"
    assert "reset-state" not in [each.kind for each in diagnosed(replace(EDITED, when="now")).fixes]
