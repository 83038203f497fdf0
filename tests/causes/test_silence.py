"""Silent causes on facts made by hand: what is a finding, and what is not."""

from dataclasses import replace

from gradsan.causes.silence import folded, silent_diagnoses
from gradsan.facts.course import (
    Carried,
    ConstantTerm,
    Count,
    Course,
    CutOff,
    DroppedLoss,
    Gave,
    Hoard,
    Holding,
    LeftOut,
    OptimizerLine,
    PassLine,
    Stale,
    Walk,
)
from gradsan.facts.location import Frame, Location
from gradsan.report import Diagnosis


def at(line: int) -> tuple[Frame, ...]:
    """A line of a program."""
    return (Frame("train.py", line, "train"),)


PASS = PassLine(
    stack=at(8),
    kind="backward",
    passes=10,
    is_direct=True,
    asks_to_retain=True,
    loss="loss",
    retained=0,
    differentiable=0,
    followed=0,
    walked_again=0,
    saved_bytes=4000,
    seconds=0.01,
)
RETAINED = replace(PASS, retained=10, followed=6)
GROWING = replace(PASS, retained=10, walks=tuple(Walk(n, 8 * n, back=n - 1, updates=n - 1) for n in range(1, 7)))
LIST = Holding(
    name="losses",
    holder="local",
    fed=at(9),
    made=at(7),
    counts=(Count(3, 3, 0), Count(6, 6, 0)),
    ops=60,
    saved_bytes=0,
    is_bounded=False,
    collects=True,
    is_guarded=False,
)


def codes(course: Course) -> list[str]:
    """What is found."""
    return [each.code for each in silent_diagnoses(course)]


def test_retained_pass_that_nothing_walks_again_is_needless() -> None:
    """Retaining is a cost; without a later pass it bought nothing."""
    assert codes(Course(lines=(RETAINED,))) == ["GS302"]


def test_retain_that_was_used_in_some_steps_is_left_alone() -> None:
    """A condition may need it."""
    assert codes(Course(lines=(replace(RETAINED, walked_again=1),))) == []


def test_retain_of_a_library_is_left_alone() -> None:
    """`torch.func` makes graphs of all gradients; its user did not ask for it."""
    assert codes(Course(lines=(replace(RETAINED, is_direct=False, asks_to_retain=False),))) == []


def test_retain_that_a_line_hands_to_a_library_is_the_users() -> None:
    """`accelerator.backward(loss, retain_graph=True)`."""
    assert codes(Course(lines=(replace(RETAINED, is_direct=False),))) == ["GS302"]


def test_tensors_of_several_elements_are_kept_detached() -> None:
    """`.item()` would raise."""
    (numbers,), (outputs,) = (
        silent_diagnoses(Course(holdings=(each,))) for each in (LIST, replace(LIST, of_numbers=False))
    )

    assert [each.kind for each in numbers.fixes] == ["item", "detach", "no-grad"]
    assert [each.kind for each in outputs.fixes] == ["detach", "no-grad"]


def test_growing_history_is_one_explanation() -> None:
    """What is retained and held to make it grow is no finding of its own."""
    assert codes(Course(lines=(replace(GROWING, followed=6),))) == ["GS305"]


def test_history_that_is_cut_in_time_does_not_grow() -> None:
    """A window of two steps reaches back as far in every pass."""
    window = tuple(Walk(n, 16, back=1, updates=1) for n in range(2, 8))

    assert codes(Course(lines=(replace(GROWING, walks=window),))) == []


def test_history_within_one_update_does_not_count() -> None:
    """The losses of one sequence, each back-propagated by itself, with one step at its end."""
    sequence = tuple(replace(each, updates=0) for each in GROWING.walks)

    assert codes(Course(lines=(replace(GROWING, walks=sequence),))) == []


def test_optimizer_whose_gradients_pile_up_is_found() -> None:
    """From its second piled step on it is a habit."""
    line = OptimizerLine(stack=at(10), name="opt", steps=20, cycles=19, piled=19, adding=at(8))

    assert codes(Course(optimizers=(line,))) == ["GS303"]
    assert codes(Course(optimizers=(replace(line, piled=1),))) == []
    assert codes(Course(optimizers=(replace(line, piled=9),))) == []


def test_pass_whose_gradients_no_step_uses_comes_too_late() -> None:
    """Unless they are read, or it also serves tensors that no optimizer owns."""
    late = Gave(used=0, wasted=5, step=at(6), reaches_others=False, may_be_read=False)

    assert codes(Course(lines=(replace(PASS, gave=late),))) == ["GS307"]
    assert codes(Course(lines=(replace(PASS, gave=replace(late, used=1)),))) == ["GS307"]  # an epoch's last, say
    for other in (replace(late, used=3), replace(late, reaches_others=True), replace(late, may_be_read=True)):
        assert codes(Course(lines=(replace(PASS, gave=other),))) == []


def test_list_of_losses_leaks() -> None:
    """More graphs with every step, none of the old ones gone."""
    assert codes(Course(holdings=(LIST,))) == ["GS301"]


def test_window_of_losses_is_left_alone() -> None:
    """It is as full again later, with newer graphs; or it is a queue with an end."""
    window = replace(LIST, counts=(Count(3, 3, 0), Count(6, 3, 3), Count(9, 3, 6)))

    assert codes(Course(holdings=(window, replace(LIST, is_bounded=True)))) == []


def test_total_that_each_epoch_begins_again_leaks() -> None:
    """It was as full once before, and less full in between: no window that slides."""
    counts = (Count(6, 6, 0), Count(13, 13, 0), Count(44, 14, 30), Count(57, 12, 45), Count(74, 14, 60))

    assert codes(Course(holdings=(replace(LIST, counts=counts),))) == ["GS301"]
    at_last = (Count(6, 6, 0), Count(13, 13, 0), Count(18, 3, 15), Count(74, 14, 60), Count(104, 14, 90))
    assert codes(Course(holdings=(replace(LIST, counts=at_last),))) == ["GS301"]
    twice = (Count(12, 12, 0), Count(18, 3, 15), Count(25, 10, 15), Count(44, 14, 30), Count(58, 13, 45))
    assert codes(Course(holdings=(replace(LIST, counts=twice),))) == ["GS301"]
    by_chance = (*counts, Count(574, 14, 560), Count(1094, 14, 1080), Count(1601, 3, 1598))
    assert codes(Course(holdings=(replace(LIST, counts=by_chance),))) == ["GS301"]


def test_window_need_not_be_quite_full_whenever_it_is_seen() -> None:
    """One graph may be in the making."""
    counts = (Count(6, 6, 0), Count(13, 13, 0), Count(44, 20, 24), Count(57, 19, 38), Count(74, 20, 54))

    assert codes(Course(holdings=(replace(LIST, counts=counts),))) == []


def test_best_loss_is_kept_for_good() -> None:
    """One graph, but for as long as nothing beats it."""
    best = replace(LIST, name="best", counts=(Count(9, 1, 2),), collects=False)

    assert codes(Course(holdings=(replace(best, is_guarded=True),))) == ["GS301"]
    assert codes(Course(holdings=(best,))) == []


def test_leak_explains_a_retain() -> None:
    """One explanation, not two; but only where it is about the same graphs."""
    kept = replace(LIST, retained_by=(RETAINED.stack,))

    assert codes(Course(lines=(RETAINED,), holdings=(kept,))) == ["GS301"]
    assert codes(Course(lines=(RETAINED,), holdings=(LIST,))) == ["GS301", "GS302"]


def test_hoard_of_one_call_leaks() -> None:
    """A validation that keeps its outputs; one explanation with what a name goes on to keep."""
    hoard = Hoard("outputs", "local", "validate", fed=at(9), made=at(9), graphs=40, ops=400, saved_bytes=8000)

    assert codes(Course(hoards=(hoard,))) == ["GS301"]
    assert codes(Course(hoards=(replace(hoard, name="losses"),), holdings=(LIST,))) == ["GS301"]


def test_gradients_of_another_loss_are_to_be_cleared_too() -> None:
    """A generator's pass leaves them in the discriminator."""
    line = OptimizerLine(stack=at(10), name="opt", steps=20, cycles=19, piled=0, adding=())

    assert codes(Course(optimizers=(replace(line, foreign=at(14), mixed=19),))) == ["GS303"]
    assert codes(Course(optimizers=(line,))) == []


def test_gradients_that_nothing_clears_are_cleared_above_the_pass_of_their_own_loss() -> None:
    """Another loss may have been the last to add to them; where only one adds, it is that one."""
    line = OptimizerLine(stack=at(10), name="opt", steps=20, cycles=19, piled=19, adding=at(14))
    mixed = replace(line, foreign=at(14), own=at(9), mixed=19)

    (one,), (two,) = (silent_diagnoses(Course(optimizers=(each,))) for each in (line, mixed))

    assert [each.used and each.used.line for each in (one, two)] == [14, 9]


def test_loss_overwritten_before_every_pass_is_unused() -> None:
    """But not where the program chooses among them, nor where a pass takes an earlier one."""
    loss = DroppedLoss(at(7), "loss", passes=4, preceded=4, runs=8, dropped=4, takes_last=True, is_chosen=False)

    assert codes(Course(dropped=(loss,))) == ["GS304"]
    for other in (replace(loss, is_chosen=True), replace(loss, takes_last=False), replace(loss, preceded=1)):
        assert codes(Course(dropped=(other,))) == []


def test_metric_beside_the_loss_is_left_alone() -> None:
    """It is noted. A loss that nobody even reads, or that alone reaches a head, was forgotten."""
    metric = LeftOut(at(8), "mae_loss", seen=3, is_read=True, is_used=False, alone=(), sibling=at(9))

    assert codes(Course(left_out=(metric,))) == []
    assert codes(Course(left_out=(replace(metric, is_read=False),))) == ["GS304"]
    assert codes(Course(left_out=(replace(metric, alone=("head",)),))) == ["GS304"]
    assert codes(Course(left_out=(replace(metric, name="accuracy", is_read=False),))) == []


def test_cut_off_parameters_are_found_after_a_few_steps() -> None:
    """A single step may have had its reasons."""
    cut = CutOff(("encoder.weight", "encoder.bias"), "encoder", steps=20, how="detach", cut=at(5), name="code")

    assert codes(Course(cut_off=(cut,))) == ["GS306"]
    assert codes(Course(cut_off=(replace(cut, steps=1),))) == []


def test_what_spoils_the_training_is_reported_first() -> None:
    """Then what costs most memory."""
    piling = OptimizerLine(stack=at(10), name="opt", steps=20, cycles=19, piled=19, adding=at(8))
    small, large = replace(LIST, ops=1, name="few"), replace(LIST, saved_bytes=10**9, name="many")
    found = silent_diagnoses(Course(optimizers=(piling,), holdings=(small, large)))

    assert [each.culprit.name for each in found if each.culprit] == ["opt", "many", "few"]


def test_codes_that_are_not_wanted_are_not_reported() -> None:
    """`--select` and `--ignore`."""
    assert silent_diagnoses(Course(lines=(RETAINED,)), lambda code: code != "GS302") == []


def test_error_is_reported_alone_with_silent_problems_of_its_lines_as_notes() -> None:
    """One exception, one diagnosis."""
    error = Diagnosis("GS103", "carried-state", "error", "run", "certain", "…", used=Location("train.py", 8))
    (same,), (other,) = silent_diagnoses(Course(lines=(RETAINED,))), silent_diagnoses(Course(holdings=(LIST,)))

    (reported,) = folded([error], [same, other])

    assert len(reported.notes) == 1
    assert reported.notes[0].startswith("also GS302 needless-retain (train.py:8)")


def test_parameter_that_a_forgotten_loss_alone_would_train_is_one_explanation() -> None:
    """As a codebook behind a straight-through estimator, whose own loss is left out."""
    cut = CutOff(("book.codes",), "book", steps=20, how="detach", cut=at(5), name="out")
    loss = LeftOut(at(8), "commit_loss", seen=3, is_read=False, is_used=False, alone=("book",), sibling=at(9))

    assert codes(Course(cut_off=(cut,), left_out=(loss,))) == ["GS304"]
    assert codes(Course(cut_off=(cut,), left_out=(replace(loss, alone=("other",)),))) == ["GS304", "GS306"]


def test_list_that_fills_slowly_is_a_leak_only_where_nothing_bounds_it() -> None:
    """A graph in hundreds of steps: a run ends before a window could be seen to be one."""
    slow = replace(LIST, counts=(Count(300, 2, 100), Count(500, 3, 100), Count(900, 5, 100)), is_trimmed=False)

    assert codes(Course(holdings=(slow,))) == ["GS301"]
    assert codes(Course(holdings=(replace(slow, is_trimmed=True),))) == []
    assert codes(Course(holdings=(replace(slow, collects=False),))) == []
    assert codes(Course(holdings=(replace(slow, counts=slow.counts[1:]),))) == []


def test_gradients_that_pile_up_late_are_recognised_by_the_steps_in_a_row() -> None:
    """Most steps were right, and that fixes nothing."""
    line = OptimizerLine(at(9), "opt", steps=4000, cycles=200, piled=40, adding=at(8))

    assert codes(Course(optimizers=(line,))) == []
    assert codes(Course(optimizers=(replace(line, in_a_row=40),))) == ["GS303"]


OLD = Stale(
    Carried("nodes", "local", certain=True, made=at(3), enters=at(7)),
    creators=at(3),
    changed=at(9),
    updates=4,
    step=5,
    passes=4,
    is_carried_on=False,
)


def test_values_of_older_parameters_are_a_stale_graph() -> None:
    """Reported with its age, and what it is about."""
    (found,) = silent_diagnoses(Course(lines=(replace(PASS, stale=(OLD,)),)))

    assert found.code == "GS308"
    assert "`nodes` is out of date: it was computed from parameters that have changed in 4 steps since" in found.message
    assert found.evidence["steps"] == 4
    assert [each and each.line for each in (found.made, found.enters, found.changed, found.used)] == [3, 7, 9, 8]


def test_stale_graph_is_one_explanation() -> None:
    """What grows is a growing history; that it is kept, and retained, comes with it."""
    kept = replace(LIST, made=at(3))

    assert codes(Course(lines=(replace(GROWING, stale=(OLD,)),))) == ["GS305"]
    assert codes(Course(lines=(replace(RETAINED, walked_again=5, stale=(OLD,)),), holdings=(kept,))) == ["GS308"]


def test_result_that_is_carried_on_has_to_be_seen_twice() -> None:
    """A cache with several entries fills in several steps, and reads an old one beside a new one."""
    carried = replace(OLD, is_carried_on=True)

    (found,) = silent_diagnoses(Course(lines=(replace(PASS, stale=(carried,)),)))
    assert [each.kind for each in found.fixes] == ["detach"]
    assert codes(Course(lines=(replace(PASS, stale=(replace(carried, passes=1),)),))) == []


def test_stale_graph_is_fixed_as_the_error_of_its_kind_would_be() -> None:
    """Computed again; cut off only where the present forward trains the same parameters, and compares with it."""

    def first(stale: Stale) -> str:
        (found,) = silent_diagnoses(Course(lines=(replace(PASS, stale=(stale,)),)))
        return found.fixes[0].kind

    constructed = (Frame("model.py", 5, "Model.__init__"),)
    assert first(OLD) == "move-into-loop"
    assert first(replace(OLD, created_in_loop=True)) == "recompute"
    assert first(replace(OLD, carried=replace(OLD.carried, made=constructed))) == "recompute"
    assert first(replace(OLD, trained_again=True)) == "detach"
    assert first(replace(OLD, trained_again=True, is_operand=True)) == "move-into-loop"


def test_penalty_without_graph_explains_its_retained_graph_too() -> None:
    """Who kept the graph of the gradients meant to have them trained through."""
    term = ConstantTerm("slope", asked=at(8), enters=at(9), used=at(10))

    (found,) = silent_diagnoses(Course(lines=(RETAINED,), constant_terms=(term,)))

    assert found.code == "GS309"
    assert "computed from `slope`" in found.message
    assert [each and each.line for each in (found.cut, found.enters, found.used)] == [8, 9, 10]
    assert codes(Course(lines=(RETAINED,), constant_terms=(replace(term, asked=at(7)),))) == ["GS309", "GS302"]
