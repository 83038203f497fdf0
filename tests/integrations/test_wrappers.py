"""What DDP and FSDP2 do of their own, as `docs/distributed.md` says it: two ranks on gloo, forked from one process."""

import re

import pytest

from integrations.running import Run

HEAD = """\
import os

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import fully_shard
from torch.nn.parallel import DistributedDataParallel


def sharded(module):
    fully_shard(module, mesh=init_device_mesh("cpu", (2,)))
    return module


class Scaled(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)
        self.register_buffer("scale", torch.ones(4))

    def forward(self, x):
        return self.linear(x) * self.scale


class HalfUsed(nn.Module):
    def __init__(self):
        super().__init__()
        self.used, self.unused = nn.Linear(4, 4), nn.Linear(4, 4)

    def forward(self, x):
        return self.used(x)


def train():
"""
TAIL = """

def main(rank):
    dist.init_process_group("gloo", init_method=f"file://{os.getcwd()}/store", rank=rank, world_size=2)
    train()
    dist.destroy_process_group()


if __name__ == "__main__":
    ranks = [mp.get_context("fork").Process(target=main, args=(rank,)) for rank in range(2)]
    for each in ranks:
        each.start()
    for each in ranks:
        each.join()
    print([each.exitcode for each in ranks])
"""

RUNS = {
    "static_graph": """
    model = DistributedDataParallel(nn.Linear(4, 4), static_graph=True)
    for _ in range(3):
        out = model(torch.randn(3, 4))
        out.sum().backward(retain_graph=True)
        out.square().sum().backward()
""",
    "no_sync": """
    model = DistributedDataParallel(nn.Linear(4, 4))
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    for _ in range(6):
        with model.no_sync():
            model(torch.randn(3, 4)).sum().backward()
        model(torch.randn(3, 4)).sum().backward()
        optimizer.step()
        optimizer.zero_grad()
""",
    "unused_parameters": """
    model = DistributedDataParallel(HalfUsed(), find_unused_parameters=True)
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    for _ in range(6):
        model(torch.randn(3, 4)).sum().backward()
        optimizer.step()
        optimizer.zero_grad()
""",
    "buffers_are_broadcast_without_a_new_version": """
    model = DistributedDataParallel(Scaled())
    if dist.get_rank() == 1:
        model.module.scale.fill_(5)
    before = model.module.scale._version
    first = model(torch.ones(1, 4))
    assert model.module.scale.eq(1).all()
    assert model.module.scale._version == before
    (first + model(torch.ones(1, 4))).sum().backward()
""",
    "sharded": """
    model = sharded(nn.Sequential(nn.Linear(4, 4), nn.ReLU(), nn.Linear(4, 4)))
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    for _ in range(6):
        model(torch.randn(3, 4)).sum().backward()
        optimizer.step()
        optimizer.zero_grad()
""",
    "sharded_parameters_stay_gathered": """
    model = nn.Sequential(nn.Linear(4, 4), nn.Tanh(), nn.Linear(4, 4))
    for each in (model[0], model[2], model):
        fully_shard(each, mesh=init_device_mesh("cpu", (2,)), reshard_after_forward=False)
    optimizer = torch.optim.Adam(model.parameters(), 0.1)
    for _ in range(6):
        model.set_requires_gradient_sync(False)
        model(torch.randn(3, 4)).sum().backward()
        model.set_requires_gradient_sync(True)
        model(torch.randn(3, 4)).sum().backward()
        optimizer.step()
        optimizer.zero_grad()
""",
    "sharded_parameters_are_gathered_again_after_a_step": """
    model = sharded(nn.Sequential(nn.Linear(4, 4), nn.ReLU(), nn.Linear(4, 4)))
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    for _ in range(2):
        out = model(torch.randn(3, 4))
        out.sum().backward(retain_graph=True)
        optimizer.step()
        out.square().sum().backward()
""",
}

FAILS = {
    "GS107 grad-freed-graph": """
    model = DistributedDataParallel(nn.Sequential(nn.Linear(4, 4), nn.Tanh(), nn.Linear(4, 4)))
    kept = {}
    model.module[1].register_forward_hook(lambda module, args, output: kept.update(hidden=output))

    def penalise(module, given, received):
        with torch.enable_grad():
            torch.autograd.grad(kept["hidden"].norm(), model.module[0].weight)

    model.module[2].register_full_backward_hook(penalise)
    for _ in range(3):
        model(torch.randn(3, 4)).square().mean().backward()
""",
    "GS101 same-loss-twice": """
    model = DistributedDataParallel(nn.Linear(4, 4), static_graph=True)
    loss = model(torch.randn(3, 4)).square().sum()
    loss.backward()
    loss.backward()
""",
    "GS102 shared-forward": """
    model = DistributedDataParallel(nn.Sequential(nn.Linear(4, 4), nn.Tanh()), find_unused_parameters=True)
    with model.no_sync():
        out = model(torch.randn(3, 4))
        out.sum().backward()
    out.square().sum().backward()
""",
    "GS103 carried-state": """
    model, state = sharded(nn.Linear(4, 4)), torch.zeros(1, 4)
    for _ in range(3):
        state = model(state + 1)
        state.sum().backward()
""",
    "GS201 step-before-backward": """
    model = DistributedDataParallel(nn.Sequential(nn.Linear(4, 4), nn.ReLU(), nn.Linear(4, 4)))
    optimizer = torch.optim.SGD(model.parameters(), 0.1)
    out = model(torch.randn(3, 4))
    out.sum().backward(retain_graph=True)
    optimizer.step()
    out.square().sum().backward()
""",
    "GS202 inplace-edit": """
    model = DistributedDataParallel(Scaled())
    out = model(torch.randn(3, 4))
    model.module.scale.mul_(2)
    out.sum().backward()
""",
}


@pytest.mark.parametrize("name", sorted(RUNS))
def test_runs_and_is_quiet(name: str, run: Run) -> None:
    """Nothing is raised, and nothing is said."""
    run.write("train.py", HEAD + RUNS[name].lstrip("\n") + TAIL)

    done = run("-m", "gradsan", "run", "train.py")

    assert done.stdout == "[0, 0]\n", done.stderr
    assert "GS" not in done.stderr


@pytest.mark.cold
def test_nothing_silent_is_found_in_any_of_them(run: Run) -> None:
    """All of them, one after the other, by two ranks that look for silent problems; one says that all is well."""
    functions = [program.lstrip("\n") + f"\n\ntrain()  # {name}\n" for name, program in RUNS.items()]
    begun = HEAD.replace("\ndef train():\n", '\ndist.init_process_group("gloo")\n')
    run.write("train.py", begun + "".join(f"\n\ndef train():\n{each}" for each in functions))

    words = "torch.distributed.run --standalone --nproc-per-node 2 train.py"
    done = run("-m", *words.split(), environment={"GRADSAN": "run"})

    assert done.returncode == 0, done.stderr
    assert [line.split(" (")[0] for line in done.stderr.splitlines() if line.startswith("gradsan")] == [
        "gradsan: nothing found"
    ]


@pytest.mark.parametrize("code", sorted(FAILS))
def test_fails_and_is_explained_once(code: str, run: Run) -> None:
    """With the ranks that have it."""
    run.write("train.py", HEAD + FAILS[code].lstrip("\n") + TAIL)

    done = run("-m", "gradsan", "run", "train.py")

    assert f"\n{code}: " in done.stderr
    assert done.stderr.count("\nfix: ") == 1
    assert re.search(rf"^gradsan: {code} at train.py:\d+, seen on ranks? [01]", done.stderr, re.MULTILINE)


def test_parameter_that_got_no_gradient_is_told_by_pytorch(run: Run) -> None:
    """Without `find_unused_parameters`: at the next forward, by name of its index; there is nothing to add."""
    program = RUNS["unused_parameters"].replace(", find_unused_parameters=True", "")
    run.write("train.py", HEAD + program.lstrip("\n") + TAIL)

    done = run("-m", "gradsan", "run", "train.py")

    assert "Expected to have finished reduction in the prior iteration" in done.stderr
    assert "GS" not in done.stderr
