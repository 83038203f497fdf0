"""Every row about a call is run where its library is installed; elsewhere it is listed as not run."""

import copy
import functools
import importlib
import queue
import warnings
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch.utils import checkpoint

from gradsan.knowledge.call import Call, Effect
from gradsan.knowledge.effects import CALLS, accumulates, asks_for_pass, does, may_ask_for_pass, named
from gradsan.knowledge.framework_calls import FRAMEWORK_CALLS
from knowledge.framework_proofs import NEED_CUDA
from knowledge.framework_proofs import PROOFS as OF_FRAMEWORKS

ROWS = [(each, effect) for each in CALLS for effect in each.effects]


class Training:
    """A parameter, a loss of it and what trains it."""

    def __init__(self) -> None:
        self.layer = nn.Linear(2, 1, bias=False)
        self.weight = self.layer.weight
        self.optimizer = torch.optim.SGD([self.weight], lr=0.1)
        self.loss = self.layer(torch.ones(1, 2)).sum()
        self.scaler = torch.amp.GradScaler("cpu", enabled=False)


class Counting:
    """A function that knows how often it was run."""

    def __init__(self) -> None:
        self.times = 0

    def __call__(self, value: Any) -> Any:
        """Run it."""
        self.times += 1
        return value * value


def walks(path: str) -> bool:
    """Gradients are there afterwards, or come back."""
    at = Training()
    ways: dict[str, Callable[[], Any]] = {
        "torch.Tensor.backward": at.loss.backward,
        "torch.autograd.backward": lambda: torch.autograd.backward(at.loss),
        "torch.autograd.grad": lambda: torch.autograd.grad(at.loss, at.weight),
    }
    returned = ways[path]()
    return returned is not None or at.weight.grad is not None


def steps(path: str) -> bool:
    """A parameter has changed."""
    at = Training()
    at.loss.backward()
    before = at.weight.detach().clone()
    {
        "torch.optim.Optimizer.step": at.optimizer.step,
        "torch.amp.GradScaler.step": lambda: at.scaler.step(at.optimizer),
    }[path]()
    return not torch.equal(before, at.weight)


def clears(path: str) -> bool:
    """No gradient is left."""
    at = Training()
    at.loss.backward()
    {"torch.optim.Optimizer.zero_grad": at.optimizer.zero_grad, "torch.nn.Module.zero_grad": at.layer.zero_grad}[path]()
    return at.weight.grad is None


def limits(path: str) -> bool:
    """The gradient is another one, and smaller."""
    at, scaler = Training(), torch.amp.GradScaler("cpu", init_scale=2.0)
    scaler.scale(at.loss).backward()
    gradient = at.weight.grad
    assert gradient is not None
    before = gradient.clone()
    if path == "torch.amp.GradScaler.unscale_":
        scaler.unscale_(at.optimizer)
    else:
        found(path)([at.weight], 0.1)
    return bool(gradient.norm() < before.norm())


def edits(path: str) -> bool:
    """The version of a parameter has moved."""
    layer = Training().layer
    before = layer.weight._version  # noqa: SLF001 # torch has no public name for it
    getattr(layer, path.rpartition(".")[2])(nn.Linear(2, 1, bias=False).state_dict())
    return layer.weight._version > before  # noqa: SLF001 # likewise


def stops_recording(path: str) -> bool:
    """As a context and as a decorator."""
    weight = torch.ones(1, requires_grad=True)
    with found(path)():
        inside = weight * 2
    decorated = found(path)()(lambda: weight * 2)()
    return not inside.requires_grad and not decorated.requires_grad


def records(path: str) -> bool:
    """Inside what does not."""
    with torch.no_grad(), found(path)():
        return torch.is_grad_enabled()


def switches_recording(path: str) -> bool:
    """As its argument says."""
    with found(path)(False):  # noqa: FBT003 # as everybody writes it
        off = torch.is_grad_enabled()
    with torch.no_grad(), found(path)(True):  # noqa: FBT003 # likewise
        return torch.is_grad_enabled() and not off


def wraps(path: str) -> bool:
    """The parameters of what it gives are those of what it was given, or are computed from them."""
    if path == "torch.autograd.Variable":
        weight = torch.ones(1, requires_grad=True)
        return bool(found(path)(weight).data_ptr() == weight.data_ptr())
    layer = nn.Linear(2, 2)
    arguments = (torch.ones(1, 2),) if path == "torch.jit.trace" else ()
    with alone_in_a_group():
        wrapped = found(path)(layer, *arguments)
    own = {each.data_ptr() for each in layer.parameters()}
    return bool(own) and own == {each.data_ptr() for each in wrapped.parameters()}


@contextmanager
def alone_in_a_group() -> Iterator[None]:
    """A group of one process, for what works in groups only."""
    store = found("torch.distributed.HashStore")()  # which torch does not say that it exports
    torch.distributed.init_process_group("gloo", store=store, rank=0, world_size=1)
    try:
        yield
    finally:
        torch.distributed.destroy_process_group()


def compiles(path: str) -> bool:
    """What it gives holds the module."""
    layer = nn.Linear(2, 2)
    return found(path)(layer)._orig_mod is layer  # noqa: SLF001 # torch has no public name for it


def checkpoints(path: str) -> bool:
    """The forward is run again in the pass."""
    forward, weight = Counting(), torch.ones(1, requires_grad=True)
    if path.endswith("sequential"):
        result = checkpoint.checkpoint_sequential([forward, forward], 2, weight, use_reentrant=False)
    else:
        result = checkpoint.checkpoint(forward, weight, use_reentrant=False)
    before = forward.times
    result.sum().backward()
    return forward.times > before


def draws(path: str) -> bool:
    """Without a graph, though the distribution's parameters have one; `rsample` keeps it."""
    distribution = torch.distributions.Normal(torch.ones(1, requires_grad=True) * 1, torch.ones(1))
    arguments = (2,) if path.endswith("sample_n") else ()
    drawn = getattr(distribution, path.rpartition(".")[2])(*arguments)
    return not drawn.requires_grad and distribution.rsample().requires_grad


def can_draw_with_a_graph(path: str) -> bool:
    """It has `rsample`, of which gradients lead to its parameters."""
    return found(path).has_rsample is True


def optimizes(path: str) -> bool:
    """It is a class of optimizers."""
    try:
        optimizer = found(path)
    except AttributeError:
        pytest.skip(f"this version has no `{path}`")
    return issubclass(optimizer, torch.optim.Optimizer)


def lists_parameters(path: str) -> bool:
    """All of them, by themselves or with their names."""
    layer = Training().layer
    listed = list(getattr(layer, path.rpartition(".")[2])())
    return [each[1] if isinstance(each, tuple) else each for each in listed] == [layer.weight]


def loads_data(path: str) -> bool:
    """It goes over what it is given."""
    return len(list(found(path)([1, 2, 3]))) == 3


def converts(path: str) -> bool:
    """A number that knows nothing of the tensor."""
    value = torch.ones(1, requires_grad=True) * 1
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return not isinstance(found(path)(value), Tensor)


def tells(path: str) -> bool:
    """Nothing of what it is given is in what it gives."""
    value = torch.ones(3, requires_grad=True) * 1
    function = found(path)
    arguments = {"isinstance": (value, Tensor), "hasattr": (value, "grad"), "range": (3,), "round": (1.5,)}.get(
        function.__name__, (value,)
    )
    return not isinstance(function(*arguments), Tensor)


def operates(path: str) -> bool:
    """What it gives has the graph."""
    value = torch.ones(3, requires_grad=True) * 1
    arguments = (value, 2) if path.endswith("pow") else (value,)
    return bool(found(path)(*arguments).requires_grad)


def collects(path: str) -> bool:
    """What was in it is in there."""
    value = torch.ones(1)
    given: Any = {"key": value} if "dict" in path.lower() or path.endswith("Counter") else [value]
    name = path.rpartition(".")[2]
    if path.startswith("builtins.dict."):
        return [*getattr(given, name)()] in ([value], ["key"])
    if name == "defaultdict":
        return list(found(path)(None, given).values()) == [value]
    if name == "cast":
        return found(path)(list, given) is given
    return list(found(path)(given)) == (["key"] if isinstance(given, dict) else [value])


def stores(path: str) -> bool:
    """It is in there afterwards."""
    holder, arguments = holding(path), stored(path)
    getattr(holder, path.rpartition(".")[2])(*arguments)
    return "new" in contents(holder)


def spreads(path: str) -> bool:
    """What is in its argument is in there."""
    holder: Any = holding(path)
    getattr(holder, path.rpartition(".")[2])({"key": "new"} if isinstance(holder, dict) else ["new"])
    return "new" in contents(holder)


def takes(path: str) -> bool:
    """It gives what is in there."""
    holder: Any = holding(path, "old")
    name = path.rpartition(".")[2]
    keyed = isinstance(holder, dict) and name != "popitem"
    arguments = ("old",) if keyed else ()
    return "old" in str(getattr(holder, name)(*arguments))


def shrinks(path: str) -> bool:
    """There is less in it than there was."""
    holder: Any = holding(path, "old")
    name = path.rpartition(".")[2]
    needs_one = name == "remove" or (isinstance(holder, dict) and name == "pop")
    getattr(holder, name)(*(("old",) if needs_one else ()))
    return not contents(holder)


def caches(path: str) -> bool:
    """What it gave before comes back."""
    function = Counting()
    cached = functools.cache(function) if path.endswith(".cache") else functools.lru_cache()(function)
    return cached(2) == cached(2) and function.times == 1


def found(path: str) -> Any:
    """What a dotted name stands for."""
    module, _, name = path.rpartition(".")
    try:
        return getattr(importlib.import_module(module), name)
    except ModuleNotFoundError:
        return getattr(found(module), name)


def holding(path: str, *items: str) -> Any:
    """A container of the kind that a row is about."""
    kind = path.split(".")[1]
    if kind == "Queue":
        waiting: queue.Queue[str] = queue.Queue()
        for each in items:
            waiting.put(each)
        return waiting
    return {"list": list(items), "set": set(items), "deque": deque(items), "dict": dict.fromkeys(items, "old")}[kind]


def stored(path: str) -> tuple[Any, ...]:
    """The arguments of what stores."""
    return {"insert": (0, "new"), "setdefault": ("key", "new")}.get(path.rpartition(".")[2], ("new",))


def contents(holder: Any) -> list[str]:
    """All that is in it."""
    match holder:
        case dict():
            return list(holder.values())
        case queue.Queue():
            return list(holder.queue)
    return list(holder)


PROOFS: dict[Effect, Callable[[str], bool]] = {
    "walks": walks,
    "steps": steps,
    "clears": clears,
    "limits": limits,
    "edits": edits,
    "stops recording": stops_recording,
    "records": records,
    "switches recording": switches_recording,
    "wraps": wraps,
    "compiles": compiles,
    "checkpoints": checkpoints,
    "draws": draws,
    "can draw with a graph": can_draw_with_a_graph,
    "optimizes": optimizes,
    "lists parameters": lists_parameters,
    "loads data": loads_data,
    "converts": converts,
    "tells": tells,
    "operates": operates,
    "collects": collects,
    "stores": stores,
    "spreads": spreads,
    "takes": takes,
    "shrinks": shrinks,
    "caches": caches,
}


@pytest.mark.parametrize(("row", "effect"), ROWS, ids=[f"{row.path}-{effect}" for row, effect in ROWS])
def test_call_does_what_its_row_says(row: Call, effect: Effect, tmp_path: Path) -> None:
    """Not run: a library that is not installed, and what people call so by custom."""
    if row.library == "?":
        pytest.skip(f"`{row.name}` is what people call it, in classes of their own")
    if row.library in NEED_CUDA:
        pytest.skip(f"`{row.path}` is not run: {row.library} does not install on a machine without CUDA")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        library = "tensorboard" if "tensorboard" in row.path else row.library
        pytest.importorskip(library, reason=f"`{row.path}` is not run: {library} is not installed")
        assert OF_FRAMEWORKS[row.path](tmp_path) if row.path in OF_FRAMEWORKS else PROOFS[effect](row.path)


def test_every_row_about_a_framework_has_a_proof() -> None:
    """But for what no machine of ours can run; an optimizer is proved by its class."""
    unproved = [each for each in FRAMEWORK_CALLS if each.path not in OF_FRAMEWORKS and each.library not in NEED_CUDA]

    assert {effect for each in unproved for effect in each.effects} == {"optimizes"}


def test_no_call_has_two_rows() -> None:
    """One path, one row."""
    assert len({each.path for each in CALLS}) == len(CALLS)


def test_who_asks_for_a_pass() -> None:
    """Libraries do by certain names; a function of the user's may, if its name says so."""
    assert named("walks") == {"backward", "manual_backward", "grad"}
    assert asks_for_pass("loss.backward")
    assert not asks_for_pass("run_backward")
    assert may_ask_for_pass("run_backward")
    assert may_ask_for_pass("backprop")
    assert not may_ask_for_pass("forward")
    assert not accumulates("torch.autograd.grad")
    assert not does("torch.enable_grad", "stops recording")


def test_copies_keep_the_tensors() -> None:
    """A shallow copy holds the very tensors; a deep one, tensors of its own."""
    holder = [torch.ones(1)]

    assert copy.copy(holder)[0] is holder[0]
    assert copy.deepcopy(holder)[0] is not holder[0]
