"""Small pieces from which the tests build lives by hand."""

from gradsan.facts.location import Location
from gradsan.lifecycle.ops import Port
from lifecycle.tensor_rules import Save, Tape, Tensor

NBYTES = 16  # of every result

BACKWARD = Location("train.py", 9)  # the line of a training loop's one pass


def times(tape: Tape, x: Tensor, y: Tensor) -> Tensor:
    """`x * y`: saves each for the other's gradient."""
    return tape.apply("MulBackward0", x, y, saves=(Save(y, 0), Save(x, 1)), nbytes=NBYTES)


def plus(tape: Tape, x: Tensor, y: Tensor) -> Tensor:
    """`x + y`: saves nothing."""
    return tape.apply("AddBackward0", x, y, nbytes=NBYTES)


def tanh(tape: Tape, x: Tensor) -> Tensor:
    """`x.tanh()`: saves its result."""
    return tape.apply("TanhBackward0", x, saves_result=True, nbytes=NBYTES)


def sin(tape: Tape, x: Tensor) -> Tensor:
    """`x.sin()`: saves its input."""
    return tape.apply("SinBackward0", x, saves=(Save(x),), nbytes=NBYTES)


def tanh_in_place(tape: Tape, x: Tensor) -> None:
    """`x.tanh_()`."""
    tape.edit("TanhBackward0", x, saves_result=True)


def port(tensor: Tensor) -> Port:
    """The history of a tensor that has one."""
    assert tensor.history is not None
    return tensor.history


def op(tensor: Tensor) -> int:
    """The op that made a tensor."""
    return port(tensor).node


def edge(user: Tensor, used: Tensor) -> tuple[int, Port]:
    """What leads from the op that created `user` to what it was created from."""
    return op(user), port(used)


def now(tape: Tape) -> int:
    """The position of whatever happens next."""
    return len(tape.life().events)
