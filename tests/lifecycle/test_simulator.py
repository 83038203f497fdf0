"""What-if, on the causes that gradsan knows: does the fix fix it, what does it cost, whose gradient does it change."""

from dataclasses import dataclass

from gradsan.lifecycle.engine import Failure
from gradsan.lifecycle.events import Life, Stepped, Walked
from gradsan.lifecycle.fix_changes import Combine, Detach, NoGrad, Recompute, RemovePass, ResetState, Retain
from gradsan.lifecycle.simulator import Consequences, play, replay
from lifecycle.growth import growth, walk_growth
from lifecycle.lives import BACKWARD, NBYTES, edge, now, op, plus, port, sin, tanh, tanh_in_place, times
from lifecycle.other_changes import Clone, CreateGraph, DropRetain, MoveIntoLoop, Reattach, Reorder, ZeroGrad
from lifecycle.tensor_rules import Tape


def same_gradients(predicted: Consequences) -> bool:
    """Whether every leaf provably receives what the program meant it to receive."""
    return predicted.failure is None and not predicted.lost and predicted.changed == ()


def grown(life: Life) -> tuple[int, int]:
    """What every step leaves behind, in bytes, and what every pass walks beyond the one before."""
    return growth(play(life)), walk_growth(play(life))


def failing_pass(life: Life) -> int:
    """The pass that raises."""
    failed = play(life).failed
    assert failed is not None
    return failed.asked.id


def reason(life: Life) -> str:
    """The error that ends a life."""
    failed = play(life).failed
    assert failed is not None
    assert failed.failure is not None
    return failed.failure.reason


def test_same_loss_twice_is_fixed_by_removing_a_pass_which_changes_the_gradient() -> None:
    """GS101: the program asked for twice the gradient."""
    tape = Tape()
    loss = tanh(tape, tape.leaf("w"))
    first, second = tape.walk(loss), tape.walk(loss)
    life = tape.life()

    removed = replay(life, RemovePass(frozenset({second.id})))
    retained = replay(life, Retain(frozenset({first.id})))

    assert reason(life) == "freed"
    assert (removed.failure, removed.changed, same_gradients(removed)) == (None, ("w",), False)
    assert same_gradients(retained)


def test_retaining_the_failing_call_fixes_nothing() -> None:
    """GS101: it is the earlier pass that freed."""
    tape = Tape()
    loss = tanh(tape, tape.leaf("w"))
    tape.walk(loss)
    second = tape.walk(loss)

    replayed = replay(tape.life(), Retain(frozenset({second.id})))

    assert replayed.failure == Failure("freed", op(loss))
    assert replayed.failing_pass is not None
    assert replayed.failing_pass.id == second.id
    assert not same_gradients(replayed)


@dataclass
class TwoHeads:
    """GS102: one trunk, two losses."""

    def __post_init__(self) -> None:
        self.tape = Tape()
        trunk, one, other = (self.tape.leaf(name) for name in ("trunk", "one", "other"))
        shared = tanh(self.tape, trunk)
        self.losses = times(self.tape, shared, one), times(self.tape, shared, other)
        self.passes = [self.tape.walk(each).id for each in self.losses]
        self.tape.step("SGD", trunk, one, other)
        self.shared = shared
        self.life = self.tape.life()


def test_two_heads_are_fixed_by_one_pass_over_the_sum() -> None:
    """GS102: the same gradients, and nothing is kept longer than needed."""
    heads = TwoHeads()

    combined = replay(heads.life, Combine(frozenset(heads.passes)))

    assert reason(heads.life) == "freed"
    assert same_gradients(combined)


def test_two_heads_are_fixed_by_retaining_the_first_pass() -> None:
    """GS102: the same gradients too."""
    heads = TwoHeads()

    assert same_gradients(replay(heads.life, Retain(frozenset(heads.passes[:1]))))


def test_two_heads_recomputed_get_the_same_gradients() -> None:
    """GS102: nothing was updated between the two forwards."""
    tape = Tape()
    w = tape.leaf("w")
    shared = tanh(tape, w)
    one, other = sin(tape, shared), sin(tape, shared)
    tape.walk(one)
    before = now(tape)
    tape.walk(other)

    again = replay(tape.life(), Recompute(frozenset({op(shared), op(other)}), frozenset({before})))

    assert same_gradients(again)


def test_detaching_a_head_changes_the_trunk_only() -> None:
    """GS102: the trunk learns from one loss less."""
    heads = TwoHeads()

    detached = replay(heads.life, Detach(frozenset({edge(heads.losses[1], heads.shared)})))

    assert detached.failure is None
    assert (detached.lost, detached.changed) == ((), ("trunk",))


@dataclass
class Recurrent:
    """GS103: `h = tanh(h * w)`, carried over steps, each with a backward and an optimizer step."""

    steps: int = 5
    retain: bool | None = None

    def __post_init__(self) -> None:
        tape = Tape()
        w = tape.leaf("w")
        h = tape.data(NBYTES)
        entries = []
        for _ in range(self.steps):
            product = times(tape, h, w)
            if h.history is not None:
                entries.append(edge(product, h))
            h = tanh(tape, product)
            tape.hold("h", h)
            tape.walk(h, retain_graph=self.retain, site=BACKWARD)
            tape.step("SGD", w)
            tape.clear(w)
        self.entries = frozenset(entries)
        self.life = tape.life()
        self.passes = frozenset(each.id for each in self.life.passes())


def test_detaching_carried_state_ends_the_error_and_the_growth() -> None:
    """GS103: every step stands alone."""
    training = Recurrent()

    detach = Detach(training.entries, frozenset({"h"}))
    detached = replay(training.life, detach)

    assert reason(training.life) == "freed"
    assert (detached.failure, detached.lost) == (None, ())
    assert grown(detach.applied(training.life)) == (0, 0)


def test_retaining_carried_state_ends_in_the_other_error() -> None:
    """GS103 → GS201: the old graph saved parameters that the step has changed since."""
    training = Recurrent()

    retained = replay(training.life, Retain(training.passes))

    assert retained.failure is not None
    assert retained.failure.reason == "edited"
    assert retained.changed is None


def test_resetting_carried_state_fixes_it_with_gradients_that_cannot_be_compared() -> None:
    """GS103: the forward computes something else."""
    training = Recurrent()

    reset = replay(training.life, ResetState(training.entries, frozenset({"h"})))

    assert (reset.failure, reset.changed) == (None, None)


def test_history_that_passes_walk_grows_by_a_step_every_step() -> None:
    """GS305: each backward walks all earlier steps, and keeps their values."""
    tape = Tape()
    w = tape.leaf("w")
    h = tape.data(NBYTES)
    cuts = []
    for _ in range(5):
        entered = plus(tape, h, tanh(tape, w))
        if h.history is not None:
            cuts.append(edge(entered, h))
        h = entered
        tape.hold("h", h)
        tape.walk(h, retain_graph=True, site=BACKWARD)
        tape.step("SGD", w)
        tape.clear(w)
    life = tape.life()

    assert grown(life) == (NBYTES, 2)
    assert grown(Detach(frozenset(cuts)).applied(life)) == (0, 0)


@dataclass
class ComputedOnce:
    """GS104: `embeddings = tanh(w)` before the loop; its iterations use it with a head."""

    trains_embeddings: bool = True

    def __post_init__(self) -> None:
        tape = Tape()
        w, head = tape.leaf("w"), tape.leaf("head")
        embeddings = tanh(tape, plus(tape, w, w))
        tape.hold("embeddings", embeddings)
        iterations = []
        for _ in range(3):
            iterations.append(now(tape))
            tape.clear(w, head)
            tape.walk(times(tape, embeddings, head), site=BACKWARD)
            tape.step("SGD", *((w, head) if self.trains_embeddings else (head,)))
        self.life = tape.life()
        made = frozenset(each.id for each in self.life.made() if each.name != "MulBackward0")
        self.moved = MoveIntoLoop(made, frozenset(iterations))


def test_what_was_computed_once_is_fixed_by_moving_it_into_the_loop() -> None:
    """GS104: no error, no growth; the later iterations see the updated parameters, so their gradients are others."""
    training = ComputedOnce()

    moved = replay(training.life, training.moved)

    assert reason(training.life) == "freed"
    assert (moved.failure, moved.lost) == (None, ())
    assert growth(play(training.moved.applied(training.life))) == 0
    assert moved.changed == ("w", "head")


def test_what_was_computed_once_from_parameters_nobody_updates_is_the_same_in_every_iteration() -> None:
    """GS104: moving it costs time only."""
    training = ComputedOnce(trains_embeddings=False)

    assert same_gradients(replay(training.life, training.moved))


def test_running_total_is_fixed_by_the_number() -> None:
    """GS105: `total += loss.item()`, and the loss is what is back-propagated."""
    tape = Tape()
    w = tape.leaf("w")
    total = tape.data(NBYTES)
    edges = []
    for _ in range(3):
        loss = tanh(tape, w)
        new = plus(tape, total, loss)
        if total.history is not None:
            edges.append(edge(new, total))
        total = new
        tape.hold("total", total)
        tape.walk(total)
        tape.step("SGD", w)
        tape.clear(w)
    life = tape.life()

    detach = Detach(frozenset(edges))
    item = replay(life, detach)

    assert reason(life) == "freed"
    assert (item.failure, item.lost, item.changed) == (None, (), ("w",))
    assert growth(play(detach.applied(life))) == 0


@dataclass
class Adversaries:
    """GS106: `fake = G(z)` feeds the discriminator's loss and the generator's."""

    def __post_init__(self) -> None:
        tape = Tape()
        generator, discriminator = tape.leaf("generator"), tape.leaf("discriminator")
        fake = tanh(tape, generator)
        tape.hold("fake", fake)
        judged = plus(tape, fake, discriminator)
        first = tape.walk(sin(tape, judged))
        tape.step("D", discriminator)
        # The generator's loss is judged again, by what the step has left.
        judged_again = plus(tape, fake, discriminator)
        second = tape.walk(sin(tape, judged_again))
        tape.step("G", generator)
        self.passes = frozenset({first.id, second.id})
        self.right, self.wrong = edge(judged, fake), edge(judged_again, fake)
        self.life = tape.life()


def test_detaching_the_fake_for_the_discriminator_keeps_the_generators_gradient() -> None:
    """GS106: only what the discriminator's loss gave the generator is gone, and that was never meant."""
    adversaries = Adversaries()

    detached = replay(adversaries.life, Detach(frozenset({adversaries.right})))

    assert reason(adversaries.life) == "freed"
    assert (detached.failure, detached.lost, detached.changed) == (None, (), ("generator",))


def test_detaching_in_both_places_cuts_the_generator_off() -> None:
    """GS106: the wrong fix is named by whom it costs the gradient."""
    adversaries = Adversaries()

    detached = replay(adversaries.life, Detach(frozenset({adversaries.right, adversaries.wrong})))

    assert (detached.failure, detached.lost) == (None, ("generator",))


def test_combining_over_a_step_is_not_the_same() -> None:
    """GS106: the step between the passes would see nothing."""
    adversaries = Adversaries()

    combined = replay(adversaries.life, Combine(adversaries.passes))

    assert combined.failure is None
    assert "discriminator" in (*combined.lost, *(combined.changed or ()))
    assert not same_gradients(combined)


@dataclass
class Penalty:
    """GS107: `autograd.grad` for a penalty, then the backward."""

    def __post_init__(self) -> None:
        tape = Tape()
        w = tape.leaf("w")
        h = tanh(tape, w)
        loss = sin(tape, h)
        self.inner = tape.walk(loss, inputs=(w,), accumulates=False).id
        self.outer = tape.walk(loss).id
        self.cut = edge(loss, h)
        self.life = tape.life()


def test_graph_that_grad_freed_is_fixed_by_retaining_it() -> None:
    """GS107: the same gradients."""
    penalty = Penalty()

    assert failing_pass(penalty.life) == penalty.outer
    assert same_gradients(replay(penalty.life, Retain(frozenset({penalty.inner}))))


def test_what_a_program_makes_of_other_gradients_is_not_to_be_known() -> None:
    """GS107: without the inner pass, or with a graph of its result, the program computes something else."""
    penalty = Penalty()

    removed = replay(penalty.life, RemovePass(frozenset({penalty.inner})))
    created = replay(penalty.life, CreateGraph(frozenset({penalty.inner})))

    assert (removed.failure, removed.changed) == (None, None)
    assert (created.failure, created.changed) == (None, None)


def test_step_before_backward_is_fixed_by_reordering() -> None:
    """GS201: what it meant was undefined, so nobody can say that it is the same."""
    tape = Tape()
    w, v = tape.leaf("w"), tape.leaf("v")
    product = times(tape, v, w)
    one, other = tanh(tape, product), sin(tape, product)
    tape.walk(one, retain_graph=True)
    tape.step("SGD", w, v)
    tape.walk(other)
    life = tape.life()
    step = next(position for position, event in enumerate(life.events) if isinstance(event, Stepped))

    reordered = replay(life, Reorder(moved=step, before=len(life.events)))

    assert reason(life) == "edited"
    assert (reordered.failure, reordered.lost, reordered.changed) == (None, (), None)


def test_step_before_backward_is_fixed_by_computing_again() -> None:
    """GS201: the forward reads the updated parameters then."""
    tape = Tape()
    w = tape.leaf("w")
    late = sin(tape, w)
    tape.walk(tanh(tape, w))
    tape.step("SGD", w)
    before = now(tape)
    tape.walk(late)

    again = replay(tape.life(), Recompute(frozenset({op(late)}), frozenset({before})))

    assert reason(tape.life()) == "edited"
    assert (again.failure, again.changed) == (None, None)


def test_forward_after_an_update_gives_another_gradient() -> None:
    """A recomputed sine is taken at the updated parameter; a recomputed sum has the same gradient everywhere."""

    def recomputed(*, curved: bool) -> tuple[str, ...] | None:
        tape = Tape()
        w = tape.leaf("w")
        doubled = plus(tape, w, w)
        loss = sin(tape, doubled) if curved else plus(tape, doubled, doubled)
        tape.walk(tanh(tape, w))
        tape.step("SGD", w)
        before = now(tape)
        tape.walk(loss)
        tape.step("SGD", w)
        return replay(tape.life(), Recompute(frozenset({op(doubled), op(loss)}), frozenset({before}))).changed

    assert recomputed(curved=True) == ("w",)
    assert recomputed(curved=False) == ()


def test_values_read_without_a_trace_are_not_vouched_for() -> None:
    """`h + b`, where b has no history and is not saved: b may be a parameter that was updated since."""
    tape = Tape()
    w, other = tape.leaf("w"), tape.leaf("other")
    loss = sin(tape, plus(tape, w, tape.detach(other)))
    tape.walk(tanh(tape, other))
    tape.step("SGD", other)
    before = now(tape)
    tape.walk(loss)
    repeated = frozenset(each.id for each in tape.life().made() if each.name != "TanhBackward0")

    assert replay(tape.life(), Recompute(repeated, frozenset({before}))).changed is None


def test_edit_in_place_is_fixed_by_a_copy() -> None:
    """GS202: the saved value stays what it was."""
    tape = Tape()
    h = plus(tape, tape.leaf("w"), tape.data())
    saver = sin(tape, h)
    edit = now(tape) + 1
    tanh_in_place(tape, h)
    tape.walk(plus(tape, saver, h))

    copied = replay(tape.life(), Clone(frozenset({edit})))

    assert reason(tape.life()) == "edited"
    assert (copied.failure, copied.lost) == (None, ())


def test_copy_of_what_nobody_saved_changes_no_gradient() -> None:
    """An edit that did no harm is the same out of place."""
    tape = Tape()
    h = plus(tape, tape.leaf("w"), tape.data())
    edit = now(tape) + 1
    tanh_in_place(tape, h)
    tape.walk(h)

    assert same_gradients(replay(tape.life(), Clone(frozenset({edit}))))


def test_lost_history_is_restored_by_attaching_it_again() -> None:
    """GS306: the parameter behind the detach receives a gradient, which it did not."""
    tape = Tape()
    encoder, head = tape.leaf("encoder"), tape.leaf("head")
    h = tanh(tape, encoder)
    loss = times(tape, tape.detach(h), head)
    tape.walk(loss)

    attached = replay(tape.life(), Reattach(frozenset({(op(loss), 0, port(h))})))

    assert (attached.failure, attached.lost, attached.changed) == (None, (), ("encoder",))


def test_root_without_history_costs_everyone_the_gradient() -> None:
    """GS203: a detach too much is told by the error and by whom it cuts off."""
    tape = Tape()
    h = tanh(tape, tape.leaf("w"))
    loss = sin(tape, h)
    tape.walk(loss)

    detached = replay(tape.life(), Detach(frozenset({edge(loss, h)})))

    assert detached.failure == Failure("no-history")
    assert (detached.lost, detached.changed) == (("w",), None)


def test_held_losses_are_released_by_the_number() -> None:
    """GS301: `losses.append(loss.item())` keeps no graph."""
    tape = Tape()
    w = tape.leaf("w")
    for step in range(4):
        loss = tanh(tape, w)
        unwalked = sin(tape, plus(tape, w, w))
        tape.hold(f"losses[{step}]", unwalked)
        tape.walk(loss)
        tape.step("SGD", w)
        tape.clear(w)
    life = tape.life()

    detach = Detach(holders=frozenset(f"losses[{step}]" for step in range(4)))
    item = replay(life, detach)

    assert growth(play(life)) == NBYTES
    assert growth(play(detach.applied(life))) == 0
    assert item.peak_saved_bytes < play(life).peak_saved_bytes
    assert same_gradients(item)


def test_no_grad_around_what_is_never_walked_costs_nobody_a_gradient() -> None:
    """GS304: an evaluation needs no graph."""
    tape = Tape()
    w = tape.leaf("w")
    metric = tanh(tape, w)
    tape.hold("metric", metric)
    tape.walk(sin(tape, w))

    quiet = replay(tape.life(), NoGrad(frozenset({op(metric)})))

    assert same_gradients(quiet)
    assert quiet.peak_saved_bytes == 0


def test_needless_retain_costs_memory() -> None:
    """GS302: without it the peak is lower, and every gradient the same."""
    tape = Tape()
    w = tape.leaf("w")
    asked = []
    for _ in range(2):
        loss = tanh(tape, w)
        tape.hold("loss", loss)
        asked.append(tape.walk(loss, retain_graph=True).id)
        tape.step("SGD", w)
        tape.clear(w)
    life = tape.life()

    dropped = replay(life, DropRetain(frozenset(asked)))

    assert (play(life).peak_saved_bytes, dropped.peak_saved_bytes) == (2 * NBYTES, NBYTES)
    assert same_gradients(dropped)


def test_needed_retain_is_missed() -> None:
    """GS302 is not this: a later pass walks the graph again."""
    tape = Tape()
    loss = tanh(tape, tape.leaf("w"))
    first = tape.walk(loss, retain_graph=True)
    tape.walk(loss)

    dropped = replay(tape.life(), DropRetain(frozenset({first.id})))

    assert dropped.failure == Failure("freed", op(loss))
    assert not same_gradients(dropped)


def test_zero_grad_changes_every_step_but_the_first() -> None:
    """GS303: gradients no longer pile up."""
    tape = Tape()
    w = tape.leaf("w")
    for _ in range(3):
        tape.walk(tanh(tape, w))
        tape.step("SGD", w)
    life = tape.life()
    passes = frozenset(position for position, event in enumerate(life.events) if isinstance(event, Walked))

    cleared = replay(life, ZeroGrad((op(w),), passes))
    cleared_at_first = replay(life, ZeroGrad((op(w),), frozenset({0})))

    assert (cleared.failure, cleared.lost, cleared.changed) == (None, (), ("w",))
    assert same_gradients(cleared_at_first)


def test_late_pass_that_trains_nothing_can_go() -> None:
    """GS307: its gradient is cleared before the next step."""
    tape = Tape()
    w = tape.leaf("w")
    late = []
    for _ in range(2):
        tape.walk(tanh(tape, w))
        tape.step("SGD", w)
        late.append(tape.walk(tanh(tape, w)).id)
        tape.clear(w)

    assert same_gradients(replay(tape.life(), RemovePass(frozenset(late))))


def test_failing_pass_at_the_end_of_a_life_counts() -> None:
    """A recording ends with the error: what that pass would have given is meant, though no step followed."""
    training = Recurrent(steps=2)
    events = training.life.events
    end = max(position for position, event in enumerate(events) if isinstance(event, Walked))
    life = Life(training.life.leaves, training.life.storages, events[: end + 1])

    detached = replay(life, Detach(training.entries))

    assert detached.failure is None
    assert not same_gradients(detached)
