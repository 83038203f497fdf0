"""The operations that random programs are made of: as PyTorch runs them, and as the model writes them."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch

from lifecycle.tensor_rules import Save, Tape, Tensor

NBYTES = 16  # every tensor is four floats
MASK = torch.tensor([True, False, True, False])
SCALAR = 8  # PyTorch wraps a Python number in a tensor of one double


@dataclass(frozen=True, slots=True)
class Operation:
    """One entry of the vocabulary: an expression for the reader, and its two meanings."""

    text: str
    inputs: int
    torch: Callable[..., torch.Tensor]
    model: Callable[..., Tensor]


@dataclass(frozen=True, slots=True)
class Edit:
    """The same for an operation in place."""

    text: str
    others: int
    torch: Callable[..., Any]
    model: Callable[..., None]


class Double(torch.autograd.Function):
    """A custom Function that saves its input."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:
        ctx.save_for_backward(x)
        return x * 2

    @staticmethod
    def backward(ctx: Any, grad: torch.Tensor) -> torch.Tensor:
        (_,) = ctx.saved_tensors
        return grad * 2


class Bare(torch.autograd.Function):
    """A custom Function that asks for its saved tensors, although it saved none."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:  # noqa: ARG004
        return x + 1

    @staticmethod
    def backward(ctx: Any, grad: torch.Tensor) -> torch.Tensor:
        assert ctx.saved_tensors == ()
        return grad.clone()


class Careless(torch.autograd.Function):
    """A custom Function that neither saves nor asks: it can be walked any number of times."""

    @staticmethod
    def forward(ctx: Any, x: torch.Tensor) -> torch.Tensor:  # noqa: ARG004
        return x - 1

    @staticmethod
    def backward(ctx: Any, grad: torch.Tensor) -> torch.Tensor:  # noqa: ARG004
        return grad.clone()


def _plain(name: str) -> Callable[..., Tensor]:
    return lambda tape, *inputs: tape.apply(name, *inputs, nbytes=NBYTES)


def _saving_input(name: str) -> Callable[..., Tensor]:
    return lambda tape, x: tape.apply(name, x, saves=(Save(x),), nbytes=NBYTES)


def _saving_result(name: str) -> Callable[..., Tensor]:
    return lambda tape, x: tape.apply(name, x, saves_result=True, nbytes=NBYTES)


def _saving_more(name: str, nbytes: int, needed_for: int | None = None) -> Callable[..., Tensor]:
    return lambda tape, *inputs: tape.apply(name, *inputs, saves=(Save(tape.data(nbytes), needed_for),), nbytes=NBYTES)


def _product(name: str) -> Callable[..., Tensor]:
    return lambda tape, x, y: tape.apply(name, x, y, saves=(Save(y, 0), Save(x, 1)), nbytes=NBYTES)


def _custom(name: str, *, saves: bool = False, gives_up_more: bool = False) -> Callable[..., Tensor]:
    return lambda tape, x: tape.apply(
        name,
        x,
        saves=(Save(x),) if saves else (),
        gives_up_more=gives_up_more,
        looks_first=True,
        nbytes=NBYTES,
    )


def _quotient(tape: Tape, x: Tensor, y: Tensor) -> Tensor:
    # The divisor is needed for both gradients.
    return tape.apply("DivBackward0", x, y, saves=(Save(y), Save(x, 1)), nbytes=NBYTES)


OPERATIONS = (
    Operation("{} * {}", 2, lambda x, y: x * y, _product("MulBackward0")),
    Operation("{} / {}", 2, lambda x, y: x / y, _quotient),
    Operation("{} * 2.0", 1, lambda x: x * 2.0, _saving_more("MulBackward0", SCALAR, 0)),
    Operation("{} + {}", 2, lambda x, y: x + y, _plain("AddBackward0")),
    Operation("{} - {}", 2, lambda x, y: x - y, _plain("SubBackward0")),
    Operation("-{}", 1, lambda x: -x, _plain("NegBackward0")),
    Operation("{}.clone()", 1, lambda x: x.clone(), _plain("CloneBackward0")),
    Operation("{}.cumsum(0)", 1, lambda x: x.cumsum(0), _plain("CumsumBackward0")),
    Operation("{}.sin()", 1, lambda x: x.sin(), _saving_input("SinBackward0")),
    Operation("{}.square()", 1, lambda x: x.square(), _saving_input("PowBackward0")),
    Operation("{}.exp()", 1, lambda x: x.exp(), _saving_result("ExpBackward0")),
    Operation("{}.tanh()", 1, lambda x: x.tanh(), _saving_result("TanhBackward0")),
    Operation("{}.relu()", 1, lambda x: x.relu(), _saving_result("ReluBackward0")),
    Operation(
        "torch.where(mask.clone(), {}, {})",
        2,
        lambda x, y: torch.where(MASK.clone(), x, y),
        _saving_more("WhereBackward0", 4),
    ),
    Operation("{}.sort()[0]", 1, lambda x: x.sort()[0], _saving_more("SortBackward0", 32)),
    Operation("Double.apply({})", 1, Double.apply, _custom("DoubleBackward", saves=True)),
    Operation("Bare.apply({})", 1, Bare.apply, _custom("BareBackward", gives_up_more=True)),
    Operation("Careless.apply({})", 1, Careless.apply, _custom("CarelessBackward")),
)
VIEWS = (
    Operation("{}.view(4)", 1, lambda x: x.view(4), lambda tape, x: tape.view("ViewBackward0", x)[0]),
    Operation("{}.narrow(0, 0, 4)", 1, lambda x: x.narrow(0, 0, 4), lambda tape, x: tape.view("SliceBackward0", x)[0]),
    Operation("{}.expand(4)", 1, lambda x: x.expand(4), lambda tape, x: tape.view("ExpandBackward0", x)[0]),
)


def _scale_in_place(tape: Tape, target: Tensor) -> None:
    tape.edit("MulBackward0", target, saves=(Save(tape.data(SCALAR), 0),))


def _multiply_in_place(tape: Tape, target: Tensor, other: Tensor) -> None:
    tape.edit("MulBackward0", target, other, saves=(Save(other, 0),), saves_overwritten_for=1)


EDITS = (
    Edit("{}.mul_(2.0)", 0, lambda t: t.mul_(2.0), _scale_in_place),
    Edit("{}.exp_()", 0, lambda t: t.exp_(), lambda tape, t: tape.edit("ExpBackward0", t, saves_result=True)),
    Edit("{}.zero_()", 0, lambda t: t.zero_(), lambda tape, t: tape.edit("ZeroBackward0", t)),
    Edit("{}.add_({})", 1, lambda t, u: t.add_(u), lambda tape, t, u: tape.edit("AddBackward0", t, u)),
    Edit("{}.copy_({})", 1, lambda t, u: t.copy_(u), lambda tape, t, u: tape.edit("CopyBackwards", t, u)),
    Edit("{}.mul_({})", 1, lambda t, u: t.mul_(u), _multiply_in_place),
)
