"""What a program does with itself while gradsan watches it is left alone: tracers, tracebacks, proxies, threads."""

from pathlib import Path

import pytest

from warm import Ended, Warm

TRACED = """
import sys, torch
counted = 0
def observe(frame, event, given):
    global counted
    counted += 1
    return observe
def train():
    w = torch.ones(3, requires_grad=True)
    for i in range(200):
        loss = (w * w).sum()
        loss.backward()
    try:
        loss.backward()
    except RuntimeError as error:
        print("GS101" in error.__notes__[0])
sys.{function}(observe)
train()
print(sys.{asked}() is observe, counted < 1_000_000)
sys.{function}(None)
"""

CAUGHT = """
import torch, traceback
w = torch.ones(1, requires_grad=True)
loss = (w * w).sum()
loss.backward()
try:
    loss.backward()
except RuntimeError as error:
    print([each.name for each in traceback.extract_tb(error.__traceback__)])
"""

PROXY = """
import torch
class Proxy:
    @property
    def __class__(self): print("its class was read"); return int
    @property
    def __dict__(self): print("its attributes were read"); return {}
proxy = Proxy()
w = torch.ones(1, requires_grad=True)
def train():
    mine, kept, box = proxy, [], [proxy]
    for i in range(6):
        loss = (w * w).sum()
        loss.backward()
        kept.append(loss)
train()
"""

THREADS = """
import threading, torch
from torch import nn
def work(number):
    model = nn.Sequential(nn.Linear(4 + number, 8), nn.Tanh(), nn.Linear(8, 1))
    optimizer = torch.optim.SGD(model.parameters(), 0.01)
    for step in range(150):
        loss = model(torch.ones(1, 4 + number)).pow(2).sum()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
[each.start() for each in threads]
[each.join() for each in threads]
"""


def watched(folder: Path, source: str) -> Ended:
    """How a program ended under `gradsan run`."""
    script = folder / "program.py"
    script.write_text(source, encoding="utf-8")
    return Warm().run(script, "run")


@pytest.mark.parametrize(("function", "asked"), [("setprofile", "getprofile"), ("settrace", "gettrace")])
def test_tracer_of_the_program_rests_while_an_error_is_explained(function: str, asked: str, tmp_path: Path) -> None:
    """Called in each of our lines, it would take minutes, and write into the log that is being read."""
    ended = watched(tmp_path, TRACED.format(function=function, asked=asked))

    assert ended.stdout == "True\nTrue True\n"


def test_error_that_the_program_catches_has_the_traceback_that_it_would_have(tmp_path: Path) -> None:
    """No entry of ours is among its own."""
    ended = watched(tmp_path, CAUGHT)

    assert ended.stdout == "['<module>', 'backward', 'backward', '_engine_run_backward']\n"


def test_objects_that_answer_by_doing_things_are_not_asked(tmp_path: Path) -> None:
    """Also where variables are looked through for what holds a graph."""
    ended = watched(tmp_path, PROXY)

    assert ended.stdout == ""
    assert "GS301" in ended.stderr


def test_threads_that_train_at_the_same_time_keep_one_ledger(tmp_path: Path) -> None:
    """None finds the accounts half changed by another."""
    ended = watched(tmp_path, THREADS)

    assert ended.stderr.startswith("gradsan: nothing found (1,200 passes, 1,200 steps")
