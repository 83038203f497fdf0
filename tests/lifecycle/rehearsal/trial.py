"""What the simulator says of a change, against what PyTorch does with the changed program."""

from itertools import zip_longest
from random import Random

import torch

from gradsan.lifecycle.fix_changes import Recompute
from gradsan.lifecycle.life_edits import UnforeseeableError
from gradsan.lifecycle.simulator import Consequences, play, replay
from lifecycle.other_changes import Clone, MoveIntoLoop, Reorder
from lifecycle.proof.trial import Disagreement
from lifecycle.rehearsal.changing import Changed, Changer
from lifecycle.rehearsal.script import Run, Score
from lifecycle.rehearsal.scripts import Training, random_training

MOVES_FORWARD = (Recompute, Reorder, MoveIntoLoop)  # changes that let ops read parameters at another time


def try_one(random: Random, changer: Changer) -> Consequences | None:
    """Change one random training in both worlds, and raise if they disagree.

    None: there was nothing to change, or the simulator declines to predict it.
    """
    training = random_training(random)
    score = training.script.write()
    changed = changer(random, training, score)
    if changed is None:
        return None
    try:
        return _try(training, score, changed)
    except UnforeseeableError:
        return None
    except Exception as error:
        error.add_note(f"{training.script}\n-- changed: {changed.change} --\n{changed.script}")
        raise


def _try(training: Training, score: Score, changed: Changed) -> Consequences:
    predicted = replay(score.life, changed.change)
    # An update that changes values says whether an op read its parameters before or after; one that changes none keeps
    # apart what a change does at first hand from all that follows.
    update = 1.25 if isinstance(changed.change, MOVES_FORWARD) else 1.0
    _judge_failure(changed.script.run(update=update), score, changed, predicted)
    before = training.script.run(update=update, keep_all=True)
    after = changed.script.run(update=update, keep_all=True)
    if before.error or after.error:
        _agree("gradients can be told", predicted.changed is not None, to=False)
    elif update == 1.0 or before.stepped == after.stepped:
        _judge_gradients(before, after, predicted, changed)
    return predicted


def _judge_failure(run: Run, score: Score, changed: Changed, predicted: Consequences) -> None:
    life = changed.change.applied(score.life)
    order = [each.id for each in life.passes()]
    failing = None if predicted.failing_pass is None else 1 + order.index(predicted.failing_pass.id)
    _agree("the error", predicted.failure and predicted.failure.reason, to=run.error)
    _agree("the failing pass", failing, to=run.passes if run.error else None)
    for number, (kept, seen) in enumerate(zip(play(life).kept, run.bytes, strict=True), start=1):
        if seen is not None and number != failing:
            _agree(f"bytes after pass {number}", kept.saved_bytes, to=seen)


def _judge_gradients(before: Run, after: Run, predicted: Consequences, changed: Changed) -> None:
    lost = tuple(leaf for leaf in before.leaves if _has(before, leaf) and not _has(after, leaf))
    differs = tuple(leaf for leaf in before.leaves if leaf not in lost and _differs(before, after, leaf))
    _agree("who loses the gradient", predicted.lost, to=lost)
    if predicted.changed is not None:
        _agree("who gets another gradient", predicted.changed, to=differs)
    elif not isinstance(changed.change, (*MOVES_FORWARD, Clone)):
        raise Disagreement("the simulator gives no answer, and there is one")


def _has(run: Run, leaf: str) -> bool:
    return any(each is not None for each in run.used.get(leaf, ()))


def _differs(before: Run, after: Run, leaf: str) -> bool:
    pairs = zip_longest(before.used.get(leaf, ()), after.used.get(leaf, ()))
    return any(not _equal(*each) for each in pairs)


def _equal(one: torch.Tensor | None, other: torch.Tensor | None) -> bool:
    if one is None or other is None:
        return one is other
    return torch.allclose(one, other, rtol=1e-10, atol=1e-13)


def _agree(what: str, predicted: object, *, to: object) -> None:
    if predicted != to:
        raise Disagreement(f"{what}: the simulator {predicted}, PyTorch {to}")
