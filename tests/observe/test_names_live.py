"""The search through live objects: what it finds, what it calls it, and that it leaves no trace."""

import sys
import weakref
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from types import FrameType, SimpleNamespace
from typing import Any, NamedTuple

import pytest
import torch
from torch import nn

from gradsan.observe.naming.carriers import carrier
from gradsan.observe.naming.holders import Held
from gradsan.observe.naming.line_names import Crossing
from gradsan.observe.naming.living_tensors import held
from gradsan.observe.ownership import Ownership
from gradsan.observe.private import creation_number, private
from gradsan.observe.process import NOTHING_RECORDED


def _number(tensor: torch.Tensor) -> int:
    return creation_number(tensor.grad_fn) or 0


def _holders(frame: FrameType, tensor: torch.Tensor) -> dict[str, Held]:
    number = _number(tensor)
    found = held(number, [frame], lambda file: file == __file__)
    return {each.name: each for each in found}


def _made() -> torch.Tensor:
    return torch.ones(2, requires_grad=True).exp()


class Pair(NamedTuple):
    """A named tuple of a user's."""

    h: torch.Tensor
    c: int


@dataclass
class State:
    """A dataclass of a user's."""

    hidden: torch.Tensor


class Slotted:
    """A class of a user's that has no `__dict__`."""

    __slots__ = ("value",)

    def __init__(self, value: torch.Tensor) -> None:
        self.value = value


class Kept:
    """A class of a user's that keeps what it is given."""

    def __init__(self, value: torch.Tensor) -> None:
        self.history = [value]


class Memory(nn.Module):
    """A module of a user's, with a buffer and a list."""

    def __init__(self, value: torch.Tensor) -> None:
        super().__init__()
        self.register_buffer("running", value)
        self.history = [value]


@pytest.mark.parametrize(
    ("thing", "name", "holder"),
    [
        (lambda t: t, "thing", "local"),
        (lambda t: [0, t], "thing[1]", "item"),
        (lambda t: {"h": (1, t)}, 'thing["h"][1]', "item"),
        (lambda t: Pair(t, 0), "thing.h", "item"),
        (State, "thing.hidden", "attribute"),
        (Slotted, "thing.value", "attribute"),
        (lambda t: deque([t]), "thing[0]", "item"),
        (lambda t: {t}, "thing", "item"),
        (Memory, "thing.running", "buffer"),
        (lambda t: nn.Sequential(nn.ReLU(), Memory(t)), "thing[1].running", "buffer"),
        (lambda t: partial(torch.add, t), "thing", "local"),
        (lambda t: torch.distributions.Normal(t, 1.0), "thing", "local"),
        (lambda t: lambda: t, "t", "closure"),
        (lambda t: SimpleNamespace(inner=t), "thing", "local"),
        (lambda t: State(t).__repr__, "thing.hidden", "attribute"),
    ],
)
def test_what_holds_the_tensor_is_named(thing: Any, name: str, holder: str) -> None:  # noqa: ANN401
    """However it is held, the name is what one would write; what a library holds bears the variable's name."""
    tensor = _made()
    number = _number(tensor)

    def frame_with(thing: object) -> dict[str, Held]:
        thing = thing  # noqa: PLW0127 # a local of this frame
        found = held(number, [sys._getframe()], lambda file: file == __file__)  # noqa: SLF001
        return {each.name: each for each in found}

    found = frame_with(thing(tensor))

    assert found[name].is_exact
    assert found[name].holder in {holder, "argument"}


def test_object_of_the_users_inside_of_a_librarys_is_called_as_it_calls_itself() -> None:
    """What the library calls it is nobody's business."""
    made = _made()
    trainer = partial(print, SimpleNamespace(kept=[Kept(made)]))

    found = _holders(sys._getframe(), made)["self.history[0]"]  # noqa: SLF001 # the only way to a frame

    assert trainer.args
    assert (found.holder, found.owner) == ("item", "Kept")


def test_object_of_the_users_that_only_a_librarys_call_holds_is_found() -> None:
    """`Own(...).train()`: the trainer's own functions have it, and no variable of the program's."""
    made = _made()
    frames: list[FrameType] = []
    library = compile(
        "def train(trainer, frames):\n    frames.append(sys._getframe())\n    yield", "library.py", "exec"
    )
    names: dict[str, Any] = {"sys": sys}
    exec(library, names)  # noqa: S102 # a function of another file
    running = names["train"](Kept(made), frames)
    next(running)

    assert _holders(frames[0], made)["self.history[0]"].owner == "Kept"


@pytest.mark.parametrize(("file", "expected"), [("library.py", set()), ("<string>", {"self.kept"})])
def test_class_that_was_executed_without_a_module_belongs_to_the_file_of_its_methods(
    file: str, expected: set[str]
) -> None:
    """A worker of pytest-xdist is one, and all tests are within its reach; what a program executes is its own."""
    made = _made()
    frames: list[FrameType] = []
    text = """
class Worker:
    def __init__(self, kept):
        self.kept = kept

    def run(self, frames):
        frames.append(sys._getframe())
        yield
"""
    names: dict[str, Any] = {"sys": sys, "__name__": "__executed__"}
    exec(compile(text, file, "exec"), names)  # noqa: S102 # as execnet does
    running = names["Worker"](made).run(frames)
    next(running)

    assert set(_holders(frames[0], made)) == expected


def test_a_sleeping_generator_holds_its_locals() -> None:
    """It is looked into, not run."""

    def generate() -> Iterator[int]:
        state = _made()
        numbers.append(_number(state))
        yield 1
        numbers.append(-1)

    numbers: list[int] = []
    sleeper = generate()
    next(sleeper)

    found = held(numbers[0], [sys._getframe()], lambda file: file == __file__)  # noqa: SLF001

    assert "state" in [each.name for each in found]
    assert len(numbers) == 1


class Watchful:
    """Tells when any code of it runs."""

    def __init__(self) -> None:
        self.ran: list[str] = []

    def __getattr__(self, name: str) -> object:
        raise AssertionError(name)

    def __len__(self) -> int:
        raise AssertionError

    def __iter__(self) -> Iterator[object]:
        raise AssertionError

    @property
    def hidden(self) -> torch.Tensor:
        """A property that must not be asked."""
        raise AssertionError


class Stubborn(torch.Tensor):
    """A tensor that does not want to be asked."""

    @classmethod
    def __torch_function__(cls, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401
        """Refuse."""
        raise AssertionError


def test_nothing_of_the_users_runs() -> None:
    """No property, no `__getattr__`, no `__len__`, no `__torch_function__`."""
    tensor, watchful, stubborn = _made(), Watchful(), torch.zeros(1).as_subclass(Stubborn)

    found = _holders(sys._getframe(), tensor)  # noqa: SLF001

    assert "tensor" in found
    assert watchful is not None
    assert stubborn is not None


def test_no_op_is_created_where_a_view_is_out_of_date() -> None:
    """Reading such a view's `grad_fn` would rebuild it; its base answers instead."""
    base = torch.zeros(4) * torch.ones(4, requires_grad=True)
    view = base[:2]
    base.mul_(2)
    counter = private().op_counter
    assert counter is not None
    before = counter()

    found = _holders(sys._getframe(), base)  # noqa: SLF001

    assert counter() == before
    assert {"base", "view"} <= set(found)
    assert view is not None


def test_nothing_is_kept_alive() -> None:
    """A variable that is rebound after the search lets its tensor go."""
    tensor = _made()
    alive = weakref.ref(tensor)
    crossing = Crossing(_number(tensor), None, ())

    carrier(crossing, [sys._getframe()], NOTHING_RECORDED, lambda file: file == __file__)  # noqa: SLF001
    del tensor

    assert alive() is None


def test_the_programs_own_snapshot_of_its_locals_stays() -> None:
    """Before Python 3.13 `locals()` is the dict that a search would otherwise clear."""
    tensor = _made()
    mine = locals()

    _holders(sys._getframe(), tensor)  # noqa: SLF001

    assert mine["tensor"] is tensor


def test_without_a_name_there_is_no_carrier() -> None:
    """A wrong name is worse than none."""
    crossing = Crossing(10**9, None, ())

    assert carrier(crossing, [sys._getframe()], NOTHING_RECORDED, Ownership().owns) is None  # noqa: SLF001
