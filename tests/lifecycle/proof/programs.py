"""Random programs, several iterations long, and the trial of one."""

from collections.abc import Callable, Iterator, Sequence
from random import Random

from lifecycle.proof.instructions import (
    Apply,
    Backward,
    Change,
    ChangeUnseen,
    Clear,
    Data,
    Delete,
    Detach,
    Grad,
    Instruction,
    Leaf,
    Step,
    Unbind,
)
from lifecycle.proof.trial import Trial
from lifecycle.proof.vocabulary import EDITS, OPERATIONS, VIEWS

NAMES = tuple("abcdefgh")


def try_one(random: Random) -> Trial:
    """Write one random program, run it in both worlds, and raise if they disagree."""
    trial = Trial(second_order=random.random() < 0.4)
    body: list[Instruction] = []
    for instruction in _opening(random):
        _run(instruction, trial)
    for _ in range(random.randint(3, 14)):
        instruction = _choose(random, tuple(trial.variables))
        if _run(instruction, trial):
            body.append(instruction)
    # What a name holds at the end of an iteration is carried into the next.
    for _ in range(random.choice((0, 0, 1, 2))):
        for instruction in body:
            _run(instruction, trial)
    _checked(trial, trial.judge)
    return trial


def _run(instruction: Instruction, trial: Trial) -> bool:
    if not instruction.allowed(trial):
        return False
    trial.lines.append(str(instruction))
    _checked(trial, lambda: instruction.run(trial))
    _checked(trial, trial.match)
    return True


def _checked(trial: Trial, act: Callable[[], None]) -> None:
    try:
        act()
    except Exception as error:
        error.add_note("\n".join(trial.lines))
        raise


def _opening(random: Random) -> Iterator[Instruction]:
    leaves = random.randint(1, 3)
    yield from (Leaf(name) for name in NAMES[:leaves])
    yield Data(NAMES[leaves])


def _choose(random: Random, names: Sequence[str]) -> Instruction:
    """What a program might do next with these names."""
    (make,) = random.choices(list(_LIKELIHOOD), weights=list(_LIKELIHOOD.values()))
    return make(random, names)


def _apply(random: Random, names: Sequence[str]) -> Instruction:
    operation = random.choice(OPERATIONS)
    return Apply(_new(random), operation, _some(random, names, operation.inputs), no_grad=random.random() < 0.05)


def _view(random: Random, names: Sequence[str]) -> Instruction:
    return Apply(_new(random), random.choice(VIEWS), _some(random, names, 1))


def _unbind(random: Random, names: Sequence[str]) -> Instruction:
    return Unbind((_new(random), _new(random)), (random.choice(names), random.choice(names)))


def _detach(random: Random, names: Sequence[str]) -> Instruction:
    return Detach(_new(random), random.choice(names))


def _change(random: Random, names: Sequence[str]) -> Instruction:
    edit = random.choice(EDITS)
    others = _some(random, names, edit.others)
    return Change(edit, random.choice(names), others, no_grad=random.random() < 0.3)


def _change_unseen(random: Random, names: Sequence[str]) -> Instruction:
    return ChangeUnseen(random.choice(names))


def _delete(random: Random, names: Sequence[str]) -> Instruction:
    return Delete(random.choice(names))


def _backward(random: Random, names: Sequence[str]) -> Instruction:
    inputs = _some(random, names, random.randint(1, 2)) if random.random() < 0.3 else None
    return Backward(_roots(random, names), inputs, random.choice((None, None, True, True, False)))


def _grad(random: Random, names: Sequence[str]) -> Instruction:
    inputs = _some(random, names, random.randint(1, 2))
    return Grad(
        names=tuple(_new(random) for _ in inputs),
        roots=_roots(random, names),
        inputs=inputs,
        retain_graph=random.choice((None, None, True, False)),
        create_graph=random.random() < 0.5,
        allow_unused=random.random() < 0.6,
    )


def _step(random: Random, names: Sequence[str]) -> Instruction:
    return Step(_some(random, names, random.randint(1, 3)))


def _clear(random: Random, names: Sequence[str]) -> Instruction:
    return Clear(_some(random, names, random.randint(1, 3)), to_none=random.random() < 0.7)


def _leaf(random: Random, names: Sequence[str]) -> Instruction:
    return Leaf(_new(random), random.choice((None, random.choice(names))))


_LIKELIHOOD = {
    _apply: 36,
    _view: 8,
    _unbind: 3,
    _detach: 4,
    _change: 9,
    _change_unseen: 1,
    _delete: 4,
    _backward: 14,
    _grad: 7,
    _step: 5,
    _clear: 3,
    _leaf: 2,
}


def _new(random: Random) -> str:
    return random.choice(NAMES)


def _some(random: Random, names: Sequence[str], number: int) -> tuple[str, ...]:
    return tuple(random.choice(names) for _ in range(number))


def _roots(random: Random, names: Sequence[str]) -> tuple[str, ...]:
    return _some(random, names, random.choice((1, 1, 1, 2, 3)))
