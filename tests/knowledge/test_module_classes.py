"""Every row about a class of torch.nn is run: its parameters, what it gives, and what it saves."""

import inspect
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from gradsan.knowledge.module_classes import (
    METHODS,
    PROOF,
    RETURN_THE_MODULE,
    TABLE,
    ModuleClass,
    creates_parameters,
    is_loss,
    module_class,
)
from knowledge.recipes import IMAGE, values

ROWS = {row.name: row for row in TABLE}
CALLED = [name for name, row in ROWS.items() if not row.holds]

CLASSES = [name for name in dir(nn) if isinstance(getattr(nn, name), type)]


def parameters_of(name: str) -> list[str]:
    """What a class of torch.nn is created with."""
    return list(inspect.signature(getattr(nn, name)).parameters)


# What each is created with, and the shapes of what it is given; else nothing, and a batch of rows.
_LAYER = (4, 2, 8, 0.0)
_MADE: dict[str, Callable[[], nn.Module]] = {
    **{name: partial(getattr(nn, name), 4, 4) for name in ("GRU", "RNN", "LSTM", "GRUCell", "RNNCell", "LSTMCell")},
    "MultiheadAttention": lambda: nn.MultiheadAttention(4, 2),
    "Bilinear": lambda: nn.Bilinear(4, 4, 2),
    "LayerNorm": lambda: nn.LayerNorm(4),
    "RMSNorm": lambda: nn.RMSNorm(4),
    "GroupNorm": lambda: nn.GroupNorm(2, 4),
    "BatchNorm1d": lambda: nn.BatchNorm1d(4),
    "BatchNorm2d": lambda: nn.BatchNorm2d(2),
    "BatchNorm3d": lambda: nn.BatchNorm3d(2),
    "Transformer": lambda: nn.Transformer(4, 2, 1, 1, 8, batch_first=True),
    "TransformerEncoder": lambda: nn.TransformerEncoder(nn.TransformerEncoderLayer(*_LAYER, batch_first=True), 1),
    "TransformerDecoder": lambda: nn.TransformerDecoder(nn.TransformerDecoderLayer(*_LAYER), 1),
    "TransformerEncoderLayer": lambda: nn.TransformerEncoderLayer(*_LAYER),
    "TransformerDecoderLayer": lambda: nn.TransformerDecoderLayer(*_LAYER),
    "Embedding": lambda: nn.Embedding(4, 4),
    "EmbeddingBag": lambda: nn.EmbeddingBag(4, 4),
    "Unflatten": lambda: nn.Unflatten(1, (2, 2)),
    "Softmax": lambda: nn.Softmax(0),
    "LogSoftmax": lambda: nn.LogSoftmax(0),
    "Softmin": lambda: nn.Softmin(0),
    "AdaptiveLogSoftmaxWithLoss": lambda: nn.AdaptiveLogSoftmaxWithLoss(4, 4, [2]),
    "LinearCrossEntropyLoss": lambda: nn.LinearCrossEntropyLoss(4, 4),
    "Threshold": lambda: nn.Threshold(0.0, 0.0),
    "Fold": lambda: nn.Fold((2, 2), 1),
    "Unfold": lambda: nn.Unfold(2),
    "FractionalMaxPool2d": lambda: nn.FractionalMaxPool2d(2, output_size=2),
    "MaxUnpool2d": lambda: nn.MaxUnpool2d(2),
    "UpsamplingNearest2d": lambda: nn.UpsamplingNearest2d(8),
    "UpsamplingBilinear2d": lambda: nn.UpsamplingBilinear2d(8),
    "Upsample": lambda: nn.Upsample(8),
    "LocalResponseNorm": lambda: nn.LocalResponseNorm(2),
    "ConstantPad1d": lambda: nn.ConstantPad1d(1, 0.0),
    "ConstantPad2d": lambda: nn.ConstantPad2d(1, 0.0),
    "LPPool1d": lambda: nn.LPPool1d(2, 2),
    "LPPool2d": lambda: nn.LPPool2d(2, 2),
}
_CLASSIFIERS = {"AdaptiveLogSoftmaxWithLoss", "LinearCrossEntropyLoss"}
_INTEGERS = {"Embedding", "EmbeddingBag"}
_TWO = {
    "Bilinear",
    "CosineSimilarity",
    "PairwiseDistance",
    "Transformer",
    "TransformerDecoder",
    "TransformerDecoderLayer",
}
_SHAPES = {"Fold": (1, 2, 4), "PixelShuffle": (1, 4, 2, 2), "Softmax2d": IMAGE, "ChannelShuffle": IMAGE}


def made(name: str) -> nn.Module:
    """One of the class."""
    create = _MADE.get(name)
    if create is not None:
        return create()
    needed = [
        each
        for each in inspect.signature(getattr(nn, name)).parameters.values()
        if each.default is each.empty and each.kind is each.POSITIONAL_OR_KEYWORD
    ]
    return getattr(nn, name)(*[2 for _ in needed])  # type: ignore[no-any-return]


def given(name: str, *, graph: bool) -> tuple[Any, ...]:
    """What it is called with."""
    if name in _CLASSIFIERS:
        return (values(3, 4) if graph else values(3, 4).detach(), torch.tensor([0, 1, 3]))
    if name in _INTEGERS:
        return (torch.tensor([[0, 2]]),)
    if name == "MaxUnpool2d":
        pooled, at = nn.functional.max_pool2d(values(*IMAGE), 2, return_indices=True)
        return (pooled if graph else pooled.detach(), at)
    shape = _SHAPES.get(name, _usual(name))
    found = [values(*shape, seed=n) for n in range(1, 4)]
    found = found if graph else [each.detach() for each in found]
    if name == "MultiheadAttention":
        return tuple(found)
    return tuple(found[: 1 + (name in _TWO)])


def _usual(name: str) -> tuple[int, ...]:
    if "3d" in name:
        return (1, 2, 4, 4, 4)
    if "2d" in name or name in {"Upsample", "PixelUnshuffle", "Unfold", "LocalResponseNorm"}:
        return IMAGE
    if "1d" in name and "Batch" not in name:
        return (1, 2, 4)
    return (3, 4) if name not in {"Transformer", "TransformerDecoder", "TransformerDecoderLayer"} else (1, 3, 4)


def saved_by(result: Any, given: Sequence[Any]) -> set[int]:
    """Where the tensors lie that the graph keeps, from what was given to the result."""
    kept: set[int] = set()
    found, pending = {each.grad_fn for each in _flat(given)}, [each.grad_fn for each in _flat(result)]
    while pending:
        node = pending.pop()
        if node is None or node in found:
            continue
        found.add(node)
        pending.extend(each for each, _ in node.next_functions)
        for name in dir(node):
            if name.startswith("_saved_"):
                kept |= {each.untyped_storage().data_ptr() for each in _flat(getattr(node, name))}
    return kept


def _flat(value: Any) -> list[Tensor]:
    if isinstance(value, Tensor):
        return [value]
    return [each for part in value for each in _flat(part)] if isinstance(value, tuple | list) else []


def skip_unless_here(name: str) -> None:
    """Some classes are newer than the oldest torch."""
    if not hasattr(nn, name):
        pytest.skip(f"this torch has no `{name}`")


@pytest.mark.parametrize("name", ROWS)
def test_row_says_whether_a_module_has_parameters(name: str) -> None:
    """What has some is not created again by a fix."""
    skip_unless_here(name)
    row = ROWS[name]

    assert bool(list(made(name).parameters())) == row.parameters
    assert creates_parameters(f"torch.nn.{name}") == (row.parameters or row.holds)


@pytest.mark.parametrize("name", CALLED)
def test_row_says_what_a_module_gives(name: str) -> None:
    """A tensor, two, or an output and the state behind it."""
    skip_unless_here(name)
    result = made(name)(*given(name, graph=True))

    assert shape_of(result) == ROWS[name].output


def shape_of(result: Any) -> str:
    """How it is described."""
    if isinstance(result, Tensor):
        return "tensor"
    return "pair with a pair" if isinstance(result[1], tuple) else "pair"


@pytest.mark.parametrize("name", CALLED)
def test_row_says_whether_a_module_saves(name: str) -> None:
    """What saves nothing can be walked any number of times."""
    skip_unless_here(name)
    begins = given(name, graph=True)

    assert bool(saved_by(made(name)(*begins), begins)) == ROWS[name].saves


@pytest.mark.parametrize("name", [name for name in CALLED if ROWS[name].parameters])
def test_row_says_when_the_weight_is_saved(name: str) -> None:
    """A step between forward and backward is an error where it is."""
    skip_unless_here(name)
    module, meanings = made(name), {2: "always", 1: "with a graph", 0: "never"}
    times = sum(weight_is_saved(module, name, graph=graph) for graph in (True, False))

    assert meanings[times] == ROWS[name].saves_weight


@pytest.mark.parametrize("name", [name for name in CALLED if ROWS[name].carries])
def test_row_says_what_carries_a_state(name: str) -> None:
    """Given a state with a graph it saves its weight, though the data has none."""
    module, data = made(name), torch.ones(3, 4)
    state = module(data)
    later = module(data, state)
    kept = saved_by(later, _flat(state))

    assert [each.shape for each in _flat(state)] == [each.shape for each in _flat(later)]
    assert any(each.untyped_storage().data_ptr() in kept for each in module.parameters())


def weight_is_saved(module: nn.Module, name: str, *, graph: bool) -> bool:
    """Whether one of the parameters is among what the graph keeps."""
    begins = given(name, graph=graph)
    kept = saved_by(module(*begins), begins)
    return any(each.untyped_storage().data_ptr() in kept for each in module.parameters())


def test_a_class_without_a_row_is_what_is_assumed() -> None:
    """A linear layer has parameters, gives a tensor, and saves its weight for the gradient of what comes in."""
    for module, shape in ((nn.Linear(4, 4), (3, 4)), (nn.Conv2d(2, 2, 2), IMAGE)):
        row = module_class(type(module).__name__)
        assert row == ModuleClass("?")
        assert bool(list(module.parameters()))
        kept = saved_by(module(values(*shape)), ())
        assert any(each.untyped_storage().data_ptr() in kept for each in module.parameters())


@pytest.mark.parametrize("name", [name for name in dir(nn) if is_loss(name)])
def test_losses_have_no_parameters(name: str) -> None:
    """But for those that have a row which says so."""
    assert bool(list(made(name).parameters())) == module_class(name).parameters


@pytest.mark.parametrize("name", CLASSES)
def test_row_says_whose_first_argument_works_in_place(name: str) -> None:
    """`nn.ReLU(True)` edits what it is given."""
    assert (parameters_of(name)[:1] == ["inplace"]) == module_class(name).in_place_first


@pytest.mark.parametrize("name", [name for name in CLASSES if "inplace" in parameters_of(name)])
def test_row_says_which_op_an_edit_in_place_is(name: str) -> None:
    """The error about an edit names an op: that of a `ReLU6` is a `HardtanhBackward`."""
    module = made(name)
    module.inplace = True  # type: ignore[assignment]
    kind = str(module(*given(name, graph=True)).grad_fn.name()).partition("Backward")[0]

    assert kind.lower().replace("_", "") == (module_class(name).op or name.lower())


def test_methods_of_modules_are_methods_of_modules() -> None:
    """And what proves that something is a module is no method of a tensor."""
    assert all(hasattr(nn.Module, name) for name in METHODS | RETURN_THE_MODULE)
    assert not any(hasattr(Tensor, name) for name in PROOF)


@pytest.mark.parametrize("name", sorted(RETURN_THE_MODULE - {"cuda", "compile"}))
def test_a_module_is_given_back(name: str) -> None:
    """`model = model.eval()`: it is the same one."""
    module = nn.Linear(2, 2)
    arguments = {"to": ("cpu",), "apply": (id,), "type": (torch.float32,), "to_empty": ()}.get(name, ())

    assert getattr(module, name)(*arguments, **({"device": "cpu"} if name == "to_empty" else {})) is module


@pytest.mark.parametrize("name", CALLED)
def test_row_says_whether_there_is_a_bias(name: str) -> None:
    """A layer whose weight is frozen still trains its bias."""
    layer = made(name)
    if isinstance(getattr(layer, "weight", None), nn.Parameter):
        assert isinstance(getattr(layer, "bias", None), nn.Parameter) == ROWS[name].bias
