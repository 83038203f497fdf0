"""What a program does with itself while gradsan watches it is left alone: tracers, tracebacks, proxies, threads."""

import os
import subprocess
import sys
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

HOOKED = """
import inspect, torch
from collections import Counter
stacks = Counter()
def look(gradient):
    names = [each.function for each in inspect.stack()]
    stacks[tuple(names[: names.index("<module>")])] += 1
def train():
    weight = torch.ones(2, requires_grad=True)
    held = weight * 2
    held.register_hook(look)
    (held * held).sum().backward()
for _ in range(20):
    train()
print(dict(stacks))
"""

BOTTOM = """
import inspect, sys, warnings
print([each.function for each in inspect.stack()])
warnings.warn("of whoever called", stacklevel=2)
sys._getframe(1)
"""

IMPORTED = """
import inspect, sys, traceback
class Finder:
    def find_spec(self, name, path=None, target=None):
        if name in ("failing", "missing"):
            print(name, [each.function for each in inspect.stack()][: 5])
sys.meta_path.insert(0, Finder())
with open("failing.py", "w") as file:
    file.write("1 / 0")
for name in ("failing", "missing"):
    try:
        __import__(name)
    except (ImportError, ZeroDivisionError) as error:
        print([each.name for each in traceback.extract_tb(error.__traceback__)])
"""

# What cloudpickle, dill and those that build on them make of a function that is pickled by value.
WRITTEN = """
import copyreg, io, marshal, os, pickle, subprocess, sys
from types import CodeType
FIELDS = (
    "argcount posonlyargcount kwonlyargcount nlocals stacksize flags code consts names varnames filename name qualname"
    " firstlineno linetable exceptiontable freevars cellvars"
).split()
def work(numbers):
    def doubled(number):
        try:
            return number * 2
        finally:
            number = None
    yield from (doubled(each)
                for each in numbers)
def fields_of(code):
    return list, ([getattr(code, "co_" + name) for name in FIELDS],)
with open("pickled", "wb") as file:
    pickler = pickle.Pickler(file)
    pickler.dispatch_table = copyreg.dispatch_table | {CodeType: fields_of}
    pickler.dump(work.__code__)
with open("marshalled", "wb") as file:
    marshal.dump(work.__code__, file)
elsewhere = '''
import marshal, pickle, sys
sys.modules["gradsan"] = None
from types import CodeType, FunctionType
def made_of(fields):
    fields[7] = tuple(made_of(each) if type(each) is list else each for each in fields[7])
    return CodeType(*fields)
for load, name in ((lambda file: made_of(pickle.load(file)), "pickled"), (marshal.load, "marshalled")):
    with open(name, "rb") as file:
        print(list(FunctionType(load(file), globals())([1, 2])), flush=True)
'''
subprocess.run([sys.executable, "-c", elsewhere], env={**os.environ, "GRADSAN": ""}, check=True)
print(any(b"gradsan" in open(name, "rb").read() for name in ("pickled", "marshalled")))
print(len({work.__code__, work.__code__}), list(work([1, 2])))
"""

PROXY = """
import torch
class Meta(type):
    def __eq__(cls, other): print("its class was compared"); return cls is other
    def __hash__(cls): print("its class was hashed"); return 1
    def __getattribute__(cls, name): print("its class was asked", name); return type.__getattribute__(cls, name)
class Slotted(metaclass=Meta):
    __slots__ = ("held",)
class Proxy:
    @property
    def __class__(self): print("its class was read"); return int
    @property
    def __dict__(self): print("its attributes were read"); return {}
proxy = Proxy()
w = torch.ones(1, requires_grad=True)
def train():
    mine, kept, box, slotted = proxy, [], [proxy], object.__new__(Slotted)
    for i in range(6):
        loss = (w * w).sum()
        loss.backward()
        kept.append(loss)
train()
"""

OVERRIDDEN = """
import torch
from torch.overrides import TorchFunctionMode
asked = []
class Mode(TorchFunctionMode):
    def __torch_function__(self, function, types, args=(), kwargs=None):
        asked.append(function)
        return function(*args, **(kwargs or {{}}))
class Weight(torch.Tensor):
    @classmethod
    def __torch_function__(cls, function, types, args=(), kwargs=None):
        asked.append(function)
        return super().__torch_function__(function, types, args, kwargs or {{}})
def train(weight):
    optimizer, kept = torch.optim.SGD([weight], 0.1), []
    for i in range(8):
        loss = (weight * weight).sum()
        kept.append(loss)
        loss.backward()
        optimizer.step()
    try:
        loss.backward()
    except RuntimeError:
        print(len(asked))
{call}
"""

KEYS = """
import torch
class Name(str):
    def __hash__(self): print("its name was hashed"); return str.__hash__(self)
    def __eq__(self, other): print("its name was compared"); return str.__eq__(self, other)
class Holder: pass
def train(holder):
    vars(holder)[Name("kept")] = kept = []
    w = torch.ones(1, requires_grad=True)
    for i in range(8):
        loss = (w * w).sum()
        loss.backward()
        kept.append(loss)
    try:
        loss.backward()
    except RuntimeError:
        print("fails")
train(Holder())
"""

GONE = """
import os, tempfile, torch
folder = tempfile.mkdtemp()
os.chdir(folder)
os.rmdir(folder)
w = torch.ones(1, requires_grad=True)
loss = (w * w).sum()
loss.backward()
try:
    loss.backward()
except RuntimeError as error:
    print("GS101" in error.__notes__[0])
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


OF_CLASS = "train(torch.ones(2).as_subclass(Weight).requires_grad_())"
OF_MODE = "with Mode(): train(torch.ones(2, requires_grad=True))"


@pytest.mark.parametrize("call", [OF_CLASS, OF_MODE], ids=["class", "mode"])
def test_overrides_of_the_program_are_not_asked(call: str, tmp_path: Path) -> None:
    """Tensors are read past `__torch_function__`: who counts operations, or logs them, sees the program's alone."""
    script = tmp_path / "program.py"
    script.write_text(OVERRIDDEN.format(call=call), encoding="utf-8")
    alone, ended = Warm().run(script), Warm().run(script, "run")

    assert alone.stdout == ended.stdout != ""


def test_names_that_the_program_has_made_are_not_compared(tmp_path: Path) -> None:
    """A key of a class of the program's may do things when it is hashed; it does so once, where it is written."""
    ended = watched(tmp_path, KEYS)

    assert ended.stdout == "its name was hashed\nfails\n"


def test_error_is_explained_where_the_working_directory_is_gone(tmp_path: Path) -> None:
    """Files are then named by their whole paths."""
    ended = watched(tmp_path, GONE)

    assert (ended.stdout, ended.stderr.count("not explained")) == ("True\n", 0), ended.stderr


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


def test_hook_finds_the_stack_that_it_would_find(tmp_path: Path) -> None:
    """Nothing of ours stands between it and the line that asked for the pass, watched closely or not."""
    ended = watched(tmp_path, HOOKED)

    assert ended.stdout == "{('look', '_engine_run_backward', 'backward', 'backward', 'train'): 20}\n"


@pytest.mark.cold  # what the interpreter starts is at the bottom of the stack
def test_program_is_at_the_bottom_of_its_stack(tmp_path: Path) -> None:
    """As `python` starts it; so do warnings that look for a caller, and those who ask for its frame."""
    script = tmp_path / "program.py"
    script.write_text(BOTTOM, encoding="utf-8")

    plain, ours = (
        subprocess.run(
            [sys.executable, script],
            env={**os.environ, "GRADSAN": wanted},
            capture_output=True,
            encoding="utf-8",
            check=False,
        )
        for wanted in ("", "1")
    )

    assert (ours.stdout, ours.stderr, ours.returncode) == (plain.stdout, plain.stderr, plain.returncode)
    assert plain.stdout == "['<module>']\n"


def test_finder_of_the_program_is_asked_as_it_would_be(tmp_path: Path) -> None:
    """Once, by Python itself; and what an imported file raises has no entry of ours."""
    script = tmp_path / "program.py"
    script.write_text(IMPORTED, encoding="utf-8")

    assert Warm().run(script, "run").stdout == Warm().run(script).stdout


def test_code_that_is_written_down_is_loaded_where_gradsan_is_not(tmp_path: Path) -> None:
    """By `marshal`, and by every pickler that takes functions by value."""
    ended = watched(tmp_path, WRITTEN)

    assert ended.stdout == "[2, 4]\n[2, 4]\nFalse\n1 [2, 4]\n"


def test_objects_that_answer_by_doing_things_are_not_asked(tmp_path: Path) -> None:
    """Also where variables are looked through for what holds a graph."""
    ended = watched(tmp_path, PROXY)

    assert ended.stdout == ""
    assert "GS301" in ended.stderr


def test_threads_that_train_at_the_same_time_keep_one_ledger(tmp_path: Path) -> None:
    """None finds the accounts half changed by another."""
    ended = watched(tmp_path, THREADS)

    assert ended.stderr.startswith("gradsan: nothing found (1,200 backward passes, 1,200 steps")
