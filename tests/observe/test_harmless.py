"""A guest that nobody notices: with gradsan and without, a program computes the same and keeps the same alive."""

import copy
import gc
import json
import pickle
import subprocess
import sys
import weakref
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from observe.conftest import Started, Watched
from observe.training import PROGRAMS, Numbers, same

AGAIN = "Trying to backward through the graph a second time"


def numbers_of(program: Callable[[], Numbers]) -> Numbers:
    """What a program computes from a fixed seed."""
    torch.manual_seed(3)
    return program()


@pytest.mark.parametrize("name", PROGRAMS)
def test_right_program_computes_the_same_to_the_bit_and_is_not_blamed(name: str, watched: Watched) -> None:
    """Losses, gradients, parameters and the state of the random numbers; nothing is found, and nothing said."""
    alone = numbers_of(PROGRAMS[name])

    with watched() as (session, reported):
        accompanied = numbers_of(PROGRAMS[name])

    assert same(alone, accompanied)
    assert session.explainer.diagnoses == []
    assert reported == []


class Token:
    """Put into `node.metadata`, it dies with the op."""


def graph() -> tuple[Tensor, "weakref.ref[Any]", "weakref.ref[Any]"]:
    """A loss, and weak references to its op and to a tensor that the op has saved."""
    leaf = torch.ones(3, requires_grad=True)
    between = leaf.exp()
    loss = (between * between).sum()
    token = Token()
    node: Any = loss.grad_fn
    node.metadata["token"] = token
    return loss, weakref.ref(token), weakref.ref(between)


def test_graph_dies_with_its_last_name(watched: Watched) -> None:
    """At once, with no garbage collection: after a pass, after one that failed, and after its error is gone."""
    gc.collect()
    gc.disable()
    try:
        with watched():
            loss, token, between = graph()
            loss.backward()
            del loss
            assert token() is between() is None

            loss, token, between = graph()
            loss.backward()
            with pytest.raises(RuntimeError, match=AGAIN) as caught:
                loss.backward()
            del caught, loss
            assert token() is between() is None

            loss, token, between = graph()
            loss.backward()
            with suppress(RuntimeError):
                loss.backward()
            loss = torch.zeros(1)
            assert token() is between() is None
    finally:
        gc.enable()


def fails_and_goes_on() -> "tuple[weakref.ref[Any], weakref.ref[Any]]":
    """A frame that lives on after an error that it caught, and gives its names new values."""
    loss, token, between = graph()
    held = {"loss": loss}
    loss.backward()
    with suppress(RuntimeError):
        held["loss"].backward()
    held.clear()
    loss = torch.zeros(1)
    alive = token(), between()
    assert alive == (None, None), "a snapshot of the frame's locals keeps them alive"
    return token, between


def test_frame_that_caught_the_error_can_let_go(watched: Watched) -> None:
    """Looking for names in a frame must leave no snapshot behind."""
    gc.disable()
    try:
        with watched():
            fails_and_goes_on()
    finally:
        gc.enable()


def test_exception_is_the_same_but_for_the_note(watched: Watched) -> None:
    """Type, arguments and message are PyTorch's; one note is added, also when it is raised again."""

    def fail() -> RuntimeError:
        loss, *_ = graph()
        loss.backward()
        with pytest.raises(RuntimeError) as caught:
            loss.backward()
        return caught.value

    alone = fail()
    with watched():
        accompanied = fail()

    assert (type(alone), alone.args, str(alone)) == (type(accompanied), accompanied.args, str(accompanied))
    assert not hasattr(alone, "__notes__")
    assert len(accompanied.__notes__) == 1
    assert accompanied.__cause__ is accompanied.__context__ is None


def test_random_numbers_go_on_as_if_nothing_had_been_explained(watched: Watched) -> None:
    """Explaining draws none."""
    loss, *_ = graph()
    loss.backward()
    before = torch.get_rng_state()

    with watched(), suppress(RuntimeError):
        loss.backward()

    assert torch.equal(before, torch.get_rng_state())


COMPILED = """
import json, torch
from torch import nn
from torch._dynamo.utils import counters

torch.manual_seed(0)
inner, model = nn.Linear(4, 4), nn.Sequential(nn.Linear(4, 4), nn.ReLU(), nn.Linear(4, 1))
optimizer = torch.optim.SGD([*model.parameters(), *inner.parameters()], 0.1)

def helper(x):
    for _ in range(2):
        x = inner(x).tanh()
    return x

@torch.compile(backend="aot_eager")
def forward(x):
    return model(helper(x)).mean()

@torch.compile(backend="aot_eager")
def slope(x):
    return torch.func.grad(lambda each: helper(each).sum())(x)

@torch.compile(backend="aot_eager")
def all_in_one(x):
    y = helper(x).sum()
    y.backward()
    return y * 2

@torch.compile(backend="aot_eager")
def step():
    optimizer.step()

for size in (3, 3, 5, 5, 3):
    optimizer.zero_grad()
    loss = forward(torch.randn(size, 4))
    loss.backward()
    step()
    optimizer.step()
    print(all_in_one(torch.ones(size, 4)).item().hex())
    print(loss.item().hex(), slope(torch.ones(size, 4)).sum().item().hex())
print(json.dumps([counters[each] for each in ("graph_break", "stats", "recompiles", "frames")]))
"""


def test_compiled_program_breaks_and_recompiles_as_without(tmp_path: Path) -> None:
    """Not one more graph break, graph or recompilation, and no frame of gradsan's is compiled; the same numbers."""
    script = tmp_path / "program.py"
    script.write_text(COMPILED, encoding="utf-8")

    alone, accompanied = (
        subprocess.run([sys.executable, *way, str(script)], capture_output=True, text=True, check=True)
        for way in ((), ("-m", "gradsan", "run"))
    )

    *numbers, counted = alone.stdout.splitlines()
    *numbers_accompanied, counted_accompanied = accompanied.stdout.splitlines()
    (breaks, *graphs, frames), (breaks_accompanied, *graphs_accompanied, frames_accompanied) = (
        json.loads(each) for each in (counted, counted_accompanied)
    )
    assert (numbers, graphs) == (numbers_accompanied, graphs_accompanied)
    assert "no longer" not in accompanied.stderr  # the compiler's own passes, over stand-ins without values
    if sys.version_info < (3, 13):
        assert breaks == breaks_accompanied
        assert frames_accompanied["total"] <= frames["total"]
    else:
        # Where a step is compiled whole and breaks inside, the compiler gives `Optimizer.step`'s wrapper up as soon as
        # anybody has registered a hook before steps, be it one that does nothing.
        assert all(count <= breaks.get(why, 0) for why, count in breaks_accompanied.items())


DISTRIBUTED = """
import os, sys, torch, torch.distributed as dist, torch.multiprocessing as mp
from torch.nn.parallel import DistributedDataParallel

def train(rank, port):
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=f"tcp://127.0.0.1:{port}", rank=rank, world_size=2)
    torch.manual_seed(rank)
    model = DistributedDataParallel(torch.nn.Sequential(torch.nn.Linear(4, 4), torch.nn.ReLU(), torch.nn.Linear(4, 1)))
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    for _ in range(3):
        optimizer.zero_grad()
        loss = model(torch.randn(3, 4)).square().mean()
        loss.backward()
        optimizer.step()
    watched = "gradsan" in torch.autograd._engine_run_backward.__module__
    sys.stdout.write(f"{rank} {loss.item().hex()} {watched}\\n")
    sys.stdout.flush()
    dist.barrier()
    os._exit(0)  # gloo's threads may abort a process that ends in the ordinary way

if __name__ == "__main__":
    import socket
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    mp.spawn(train, (port,), nprocs=2)
"""


def test_processes_that_train_together_are_watched_and_undisturbed(started: Started) -> None:
    """Two ranks with DistributedDataParallel, spawned: each inherits gradsan, and computes what it did alone."""
    alone = started(DISTRIBUTED)
    accompanied = started(DISTRIBUTED, GRADSAN="1")

    assert sorted(accompanied.stdout.splitlines()) == [
        line.replace("False", "True") for line in sorted(alone.stdout.splitlines())
    ]
    assert len(alone.stdout.splitlines()) == 2
    assert "gradsan" not in accompanied.stderr  # gloo's own warnings there carry times and ports


def test_module_can_be_copied_and_pickled_while_watched(watched: Watched) -> None:
    """Nothing is hung on modules, tensors or optimizers."""
    model = nn.Linear(2, 1)
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    plain = pickle.dumps(optimizer.state_dict()), set(vars(model)), set(vars(optimizer))

    with watched():
        model(torch.ones(1, 2)).sum().backward()
        optimizer.step()
        optimizer.zero_grad()

        assert (pickle.dumps(optimizer.state_dict()), set(vars(model)), set(vars(optimizer))) == plain
        copy.deepcopy(model)
        copy.deepcopy(optimizer)
