"""Two stages of a pipeline, on gloo: schedules of `torch.distributed.pipelining` run passes of micro-batches."""

import pytest

from integrations.running import Run

PROGRAM = """\
import os

import torch
import torch.distributed as dist
import torch.multiprocessing as mp
from torch import nn
from torch.distributed.pipelining import PipelineStage, Schedule1F1B, ScheduleGPipe


class Stage(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear, self.state = nn.Linear(4, 4), torch.zeros(1, 4)

    def forward(self, x):
        out = self.linear(x + self.state).tanh()
        STATE
        return out


def main(rank):
    dist.init_process_group("gloo", init_method=f"file://{os.getcwd()}/store", rank=rank, world_size=2)
    module = Stage()
    optimizer = torch.optim.SGD(module.parameters(), 0.1)
    stage = PipelineStage(module, rank, 2, torch.device("cpu"))
    schedule = SCHEDULE(stage, n_microbatches=4, loss_fn=lambda out, y: (out - y).square().mean())
    for _ in range(5):
        optimizer.zero_grad()
        if rank == 0:
            schedule.step(torch.randn(8, 4))
        else:
            schedule.step(target=torch.randn(8, 4), losses=[])
        optimizer.step()
    dist.destroy_process_group()


if __name__ == "__main__":
    ranks = [mp.get_context("fork").Process(target=main, args=(rank,)) for rank in range(2)]
    for each in ranks:
        each.start()
    for each in ranks:
        each.join()
    print([each.exitcode for each in ranks])
"""


def program(schedule: str, state: str) -> str:
    """One whose stages keep a state, or nothing."""
    return PROGRAM.replace("SCHEDULE", schedule).replace("STATE", state)


@pytest.mark.parametrize("schedule", ["ScheduleGPipe", "Schedule1F1B"])
@pytest.mark.parametrize("state", ["pass", "self.state = out.mean(0, keepdim=True).detach()"])
def test_right_stages_are_quiet(run: Run, schedule: str, state: str) -> None:
    """Many passes of one call, and many forwards before the first of them."""
    run.write("train.py", program(schedule, state))

    done = run("-m", "gradsan", "run", "train.py")

    assert done.stdout == "[0, 0]\n", done.stderr
    assert "GS" not in done.stderr


def test_state_that_a_stage_carries_is_explained_with_its_line(run: Run) -> None:
    """Though what freed its graph was an `autograd.grad` of the schedule's: no line of the user's asked for it."""
    run.write("train.py", program("Schedule1F1B", "self.state = out.mean(0, keepdim=True)"))

    done = run("-m", "gradsan", "run", "train.py")

    assert "\nGS103 carried-state: `self.state` still has the graph" in done.stderr
    assert "+ out = self.linear(x + self.state.detach()).tanh()" in done.stderr
    assert done.stderr.endswith("gradsan: GS103 carried-state at train.py:32, seen on rank 1\n")


SEVERAL_STAGES = """\
import torch
import torch.distributed as dist
from torch import nn
from torch.distributed.pipelining import PipelineStage, schedules


def train(name):
    rank = dist.get_rank()
    folds_back = name in ("ScheduleZBVZeroBubble", "ScheduleDualPipeV")
    numbers = [rank, 3 - rank if folds_back else rank + 2]
    layers = nn.ModuleList(nn.Sequential(nn.Linear(4, 4), nn.Tanh()) for _ in numbers)
    optimizer = torch.optim.SGD(layers.parameters(), 0.1)
    stages = [PipelineStage(each, number, 4, torch.device("cpu")) for each, number in zip(layers, numbers)]
    schedule = getattr(schedules, name)(stages, n_microbatches=4, loss_fn=nn.functional.mse_loss)
    for _ in range(5):
        optimizer.zero_grad()
        given = [torch.randn(8, 4)] if 0 in numbers else []
        wanted = {"target": torch.randn(8, 4), "losses": []} if 3 in numbers else {}
        schedule.step(*given, **wanted)
        optimizer.step()


dist.init_process_group("gloo")
for name in NAMES:
    train(name)
dist.destroy_process_group()
"""
NAMES = [
    "ScheduleInterleaved1F1B",
    "ScheduleLoopedBFS",
    "ScheduleInterleavedZeroBubble",  # passes for inputs and for weights apart, over one graph
    "ScheduleZBVZeroBubble",
    "ScheduleDualPipeV",
]


@pytest.mark.cold
def test_nothing_silent_is_found_in_schedules_of_several_stages(run: Run) -> None:
    """Two stages on each of two ranks; some schedules retain graphs, and go through them again in parts."""
    run.write("train.py", SEVERAL_STAGES.replace("NAMES", repr(NAMES)))

    words = "torch.distributed.run --standalone --nproc-per-node 2 train.py"
    done = run("-m", *words.split(), environment={"GRADSAN": "run"})

    assert done.returncode == 0, done.stderr
    assert [line.split(" (")[0] for line in done.stderr.splitlines() if line.startswith("gradsan")] == [
        "gradsan: nothing found"
    ]
