"""Programs that carry a state from step to step: every form that a state has, in every place where one is kept."""

from dataclasses import dataclass
from textwrap import indent

HEAD = """\
import dataclasses
from typing import NamedTuple

import torch

torch.manual_seed(0)
cell = {layer}
opt = torch.optim.SGD(cell.parameters(), lr=0.1)


"""


@dataclass(frozen=True, slots=True)
class Form:
    """What a state looks like: how it begins, how a step makes the next one, and the tensor in it."""

    begin: str
    step: str  # of `state` and `x`
    read: str  # of `{}`
    classes: str = ""
    layer: str = "torch.nn.Linear(2, 2)"


_PAIR = "return torch.tanh(cell(x) + state{0}), state{1} * 0.5 + cell(x)"
_RECORD = """\
@dataclasses.dataclass{0}
class State:
    h: torch.Tensor
    c: torch.Tensor


"""
_NAMED = """\
class State(NamedTuple):
    h: torch.Tensor
    c: torch.Tensor


"""
_STEP = "h = torch.tanh(cell(x) + state.h)\nreturn State(h, state.c * 0.5 + h)"
_OBJECT = """\
class State:
    def __init__(self, h, c):
        self.h = h
        self.c = c


"""
_PAIR_BEGIN = "(torch.zeros(2), torch.zeros(2))"

FORMS = {
    "tensor": Form("torch.zeros(2)", "return torch.tanh(cell(x) + state)", "{}"),
    "tuple": Form(_PAIR_BEGIN, _PAIR.format("[0]", "[1]"), "{}[0]"),
    "list": Form("[torch.zeros(2)]", "return [torch.tanh(cell(x) + state[0])]", "{}[0]"),
    "nested list": Form(
        "[[torch.zeros(2)], [torch.zeros(2)]]",
        "h = torch.tanh(cell(x) + state[0][0])\nreturn [[h], [state[1][0] * 0.5 + h]]",
        "{}[0][0]",
    ),
    "list of tuples": Form(
        f"[{_PAIR_BEGIN}]", "h = torch.tanh(cell(x) + state[0][0])\nreturn [(h, state[0][1] + h)]", "{}[0][0]"
    ),
    "dict": Form(
        '{"h": torch.zeros(2), "c": torch.zeros(2)}',
        'h = torch.tanh(cell(x) + state["h"])\nreturn {"h": h, "c": state["c"] * 0.5 + h}',
        '{}["h"]',
    ),
    "named tuple": Form("State(torch.zeros(2), torch.zeros(2))", _STEP, "{}.h", _NAMED),
    "dataclass": Form("State(torch.zeros(2), torch.zeros(2))", _STEP, "{}.h", _RECORD.format("")),
    "frozen dataclass": Form("State(torch.zeros(2), torch.zeros(2))", _STEP, "{}.h", _RECORD.format("(frozen=True)")),
    "object": Form("State(torch.zeros(2), torch.zeros(2))", _STEP, "{}.h", _OBJECT),
    "None first": Form("None", "h = torch.zeros(2) if state is None else state\nreturn torch.tanh(cell(x) + h)", "{}"),
    "None first, then a tuple": Form(
        "None",
        "h, c = state if state is not None else (torch.zeros(2), torch.zeros(2))\n"
        "return torch.tanh(cell(x) + h), c * 0.5 + cell(x)",
        "{}[0]",
    ),
    "a number first": Form("0.0", "return torch.tanh(cell(x) + state)", "{}"),
    "a number beside it": Form("(0, torch.zeros(2))", "return state[0] + 1, torch.tanh(cell(x) + state[1])", "{}[1]"),
    "None beside it": Form("(torch.zeros(2), None)", "return torch.tanh(cell(x) + state[0]), None", "{}[0]"),
    "LSTM": Form("None", "return cell(x.view(1, 1, 2), state)[1]", "{}[0]", layer="torch.nn.LSTM(2, 2)"),
    "GRU": Form("None", "return cell(x.view(1, 1, 2), state)[1]", "{}", layer="torch.nn.GRU(2, 2)"),
    "a tensor or a tuple": Form(
        "torch.zeros(2)",
        "if isinstance(state, tuple):\n    state = state[0]\nh = torch.tanh(cell(x) + state)\n"
        "return (h, h) if torch.rand(()) > 0.5 else h",
        "({0}[0] if isinstance({0}, tuple) else {0})",
    ),
}

_LOOP = """\
for x in torch.ones(4, 2):
    {advance}
    loss = {read}.sum()
    opt.zero_grad()
    loss.backward()
    opt.step()
print(sum(float(each.abs().sum()) for each in cell.parameters()))
"""


def _of_a_name(form: Form) -> str:
    return f"state = {form.begin}\n" + _LOOP.format(advance="state = advance(state, x)", read=form.read.format("state"))


def in_a_function(form: Form) -> str:
    """A local."""
    return "def main():\n" + indent(_of_a_name(form), "    ") + "\n\nmain()\n"


def in_an_attribute(form: Form) -> str:
    """An attribute of an object of the user's."""
    keeper = (
        f"class Keeper:\n    def __init__(self):\n        self.state = {form.begin}\n\n    def __call__(self, x):\n"
        f"        self.state = advance(self.state, x)\n        return {form.read.format('self.state')}\n\n\n"
    )
    loop = _LOOP.format(advance="out = keeper(x)", read="out")
    return keeper + "def main():\n    keeper = Keeper()\n" + indent(loop, "    ") + "\n\nmain()\n"


def in_an_item(form: Form) -> str:
    """An item of a dict."""
    held = 'memory["state"]'
    loop = _LOOP.format(advance=f"{held} = advance({held}, x)", read=form.read.format(held))
    return "def main():\n" + indent(f'memory = {{"state": {form.begin}}}\n{loop}', "    ") + "\n\nmain()\n"


PLACES = {"local": in_a_function, "attribute": in_an_attribute, "item": in_an_item, "module": _of_a_name}


def program(form: str, place: str) -> str:
    """A program that carries a state of this form, in this place: it raises in the second step."""
    chosen = FORMS[form]
    step = f"def advance(state, x):\n{indent(chosen.step, '    ')}\n\n\n"
    return HEAD.format(layer=chosen.layer) + chosen.classes + step + PLACES[place](chosen)


_KEEPING = """\
import torch

cell = torch.nn.Linear(2, 1)
opt = torch.optim.SGD(cell.parameters(), lr=0.1)


class Meter:
    def __init__(self):
        self.total = 0.0

    def update(self, value):
        self.total = self.total + value


def main():
    {begin}
    for number, x in enumerate(torch.ones(4, 2)):
        opt.zero_grad()
        loss = cell(x).pow(2).sum()
        loss.backward()
        opt.step()
        value = {value}
        {keep}
    print(kept)


main()
"""
VALUES = {
    "tensor": "loss",
    "int sometimes": "loss if number % 2 else 0",
    "float sometimes": "loss * 2 if number else 0.0",
    "None sometimes": "loss if number else None",
    "tuple": "(loss, number)",
    "dict": '{"loss": loss, "number": number}',
}
_NUMERIC = ("tensor", "int sometimes", "float sometimes")
KEEPERS = {
    "list": ("kept = []", "kept.append(value)"),
    "item": ("kept = {}", "kept[number] = value"),
    "total": ("kept = 0.0", "kept += value"),
    "total that is written out": ("kept = 0", "kept = kept + value"),
    "meter": ("kept = Meter()", "kept.update(value)"),
}


def keeping_programs() -> dict[str, str]:
    """Programs that keep what leads to the graph of every step: every form of it, in every holder that takes it."""
    return {
        f"{keeper}, {value}": _KEEPING.format(begin=begin, keep=keep, value=VALUES[value])
        for keeper, (begin, keep) in KEEPERS.items()
        for value in (VALUES if keeper in ("list", "item") else _NUMERIC)
    }


_EDITING = """\
import torch

cell = torch.nn.Linear(2, 2)
opt = torch.optim.SGD(cell.parameters(), lr=0.1)


def main():
    for x in torch.ones(3, 2):
        rows = {begin}
        {item} += 1.0
        loss = {item}.sum()
        opt.zero_grad()
        loss.backward()
        opt.step()


main()
"""


def editing_programs() -> dict[str, str]:
    """Programs that edit in place what an op has saved: a tensor, a part of one, an item of a container."""
    holders = {
        "tensor": ("cell(x).exp()", "rows"),
        "part of a tensor": ("cell(x).exp()", "rows[0]"),
        "item of a list": ("[cell(x).exp()]", "rows[0]"),
        "item of a dict": ('{"h": cell(x).exp()}', 'rows["h"]'),
    }
    return {name: _EDITING.format(begin=begin, item=item) for name, (begin, item) in holders.items()}
