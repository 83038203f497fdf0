"""Recording comes and goes without a trace, gives way to others, and never stands in a program's way."""

import gc
import importlib
import linecache
import pickle
import subprocess
import sys
import weakref
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from types import FrameType
from typing import Any

import pytest
import torch
from hypothesis import HealthCheck, Phase, given, settings

from gradsan.facts.location import Frame
from gradsan.observe.log.recorder import LineRecorder
from gradsan.observe.private import BYTECODE_MODULE, BYTECODE_READER, creation_number
from observe.programs import HERE, Ops, compiled, outcome, programs, recorder_for

HAS_MONITORING = sys.version_info >= (3, 12)
only_monitoring = pytest.mark.skipif(not HAS_MONITORING, reason="sys.monitoring came with 3.12")
only_marking = pytest.mark.skipif(HAS_MONITORING, reason="from 3.12 on nothing is rewritten")

MODULE = '''\
"""What this module says of itself."""
from __future__ import annotations
from dataclasses import dataclass
from enum import Enum
import torch

__all__ = ["Model", "Colour"]

class Colour(Enum):
    RED = 1

@dataclass
class Point:
    x: int = 1

class Model:
    """Doc."""
    def __init__(self):
        self.weight = torch.ones(3, requires_grad=True)
    def forward(self, x):
        y = self.weight * x
        return torch.exp(
            y).sum()

def train(model, steps):
    losses = []
    for step in range(steps):
        loss = model.forward(torch.ones(3))
        losses.append(loss)
        loss.backward()
    return losses
'''


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """The name of a module of the user's that was never imported."""
    name = f"program_{abs(hash(tmp_path)) % 10**9}"
    (tmp_path / f"{name}.py").write_text(MODULE)
    monkeypatch.syspath_prepend(str(tmp_path))
    yield name
    sys.modules.pop(name, None)
    linecache.checkcache()


@pytest.fixture
def recorder() -> Iterator[LineRecorder]:
    """A recorder at work."""
    recorder = LineRecorder(exclude=[HERE])
    recorder.start()
    yield recorder
    recorder.stop()


def test_ops_of_an_imported_model_lead_to_the_lines_that_created_them(module: str, recorder: LineRecorder) -> None:
    """The promise of the whole: from an op of the graph to the line, and to the calls around it."""
    imported = importlib.import_module(module)

    loss = imported.train(imported.Model(), 3)[-1]

    lines = recorder.lines()
    assert lines is not None
    exp = loss.grad_fn.next_functions[0][0]
    mul = exp.next_functions[0][0]
    reported = [lines.stack_of(creation_number(node) or 0) for node in (loss.grad_fn, exp, mul)]
    assert [[frame.line for frame in stack or ()] for stack in reported] == [[28, 23], [28, 22], [28, 21]]
    assert [frame.function for frame in reported[0] or ()] == ["train", "Model.forward"]
    assert len(lines.created_by(str(imported.__file__), 21)) == 3


def test_losses_and_gradients_are_the_same_to_the_bit(module: str) -> None:
    """Recording draws no random number and makes no op."""
    imported = importlib.import_module(module)

    def run() -> tuple[list[bytes], bytes]:
        torch.manual_seed(0)
        model = imported.Model()
        losses = imported.train(model, 3)
        return [each.detach().numpy().tobytes() for each in losses], torch.rand(3).numpy().tobytes()

    alone = run()
    recorder = LineRecorder(exclude=[HERE])
    recorder.start()
    try:
        recorded = run()
    finally:
        recorder.stop()

    assert recorded == alone


def test_no_tensor_lives_longer(module: str, recorder: LineRecorder) -> None:
    """The log holds numbers; a graph dies with the last name of the program's own."""
    imported = importlib.import_module(module)
    model = imported.Model()
    loss = model.forward(torch.ones(3))
    alive = weakref.ref(loss)

    del loss

    assert alive() is None
    assert recorder.recording


def test_module_looks_untouched(module: str, recorder: LineRecorder) -> None:
    """Namespaces, docstrings, source, pickling, enums and dataclasses are what they are without recording."""
    import inspect

    imported = importlib.import_module(module)

    assert imported.__doc__ == "What this module says of itself."
    public = {name for name in vars(imported) if not name.startswith("__")}
    assert public == {"annotations", "dataclass", "Enum", "torch", "Colour", "Point", "Model", "train"}
    assert set(imported.Colour.__members__) == {"RED"}
    assert set(imported.Point.__dataclass_fields__) == {"x"}
    assert inspect.getsource(imported.Model.forward).startswith("    def forward(self, x):\n")
    assert pickle.loads(pickle.dumps(imported.Point(2))) == imported.Point(2)  # noqa: S301
    assert type(imported.__loader__).__name__ == "SourceFileLoader"
    assert "get_code" not in vars(imported.__loader__)
    assert recorder.recording


def test_stop_puts_everything_back(module: str) -> None:
    """Finders, functions' code, tool ids, and what torch.compile reads code with."""
    imported = importlib.import_module(module)
    before = (list(sys.meta_path), imported.train.__code__, imported.Model.forward.__code__)
    recorder = LineRecorder(exclude=[HERE])

    recorder.start()
    imported.train(imported.Model(), 1)
    recorder.stop()

    assert (list(sys.meta_path), imported.train.__code__, imported.Model.forward.__code__) == before
    assert imported.train.__code__ is before[1]
    if HAS_MONITORING:
        monitoring: Any = getattr(sys, "monitoring")  # noqa: B009 # unknown to 3.11's type checker
        assert [monitoring.get_tool(tool) for tool in (3, 4)] == [None, None]
    reader = getattr(sys.modules.get(BYTECODE_MODULE), BYTECODE_READER, None)
    assert reader is None or reader.__module__ == BYTECODE_MODULE


def test_recording_can_begin_again(module: str) -> None:
    """What an earlier recording switched off or left behind does not blind a later one."""
    imported = importlib.import_module(module)

    for _ in range(3):
        recorder = LineRecorder(exclude=[HERE])
        recorder.start()
        loss = imported.train(imported.Model(), 1)[0]
        lines = recorder.lines()
        recorder.stop()
        assert lines is not None
        assert [frame.line for frame in lines.stack_of(creation_number(loss.grad_fn) or 0) or ()] == [28, 23]


def test_recording_begins_after_one_that_ignored_the_same_code(module: str) -> None:
    """The interpreter remembers what was switched off for a tool id, even for its next holder."""
    imported = importlib.import_module(module)
    first = LineRecorder(exclude=["/"])
    first.start()
    imported.train(imported.Model(), 1)
    first.stop()

    test_recording_can_begin_again(module)


def test_error_of_our_own_ends_recording_and_says_one_line(tmp_path: Path) -> None:
    """The program goes on as if nothing had been there."""
    reported: list[str] = []
    made = 0

    def broken() -> int:
        nonlocal made
        made += 1
        if made > 5:
            raise OSError("the counter broke")
        return made

    file = tmp_path / "program.py"
    source = "total = 0\nfor i in range(100):\n    total += i\nprint(total)\n"
    file.write_text(source)
    recorder = LineRecorder(exclude=[HERE], report=reported.append, op_counter=broken)
    recorder.start()

    shown = outcome(compiled(recorder, source, file), Ops())

    assert shown.startswith("4950\n")
    assert reported == ["recording of lines ended early: OSError: the counter broke"]
    assert not recorder.recording
    recorder.stop()


def test_call_that_slept_over_the_end_of_a_recording_writes_nothing_into_the_next(tmp_path: Path) -> None:
    """The next one numbers places from the beginning: what an old mark wrote would be read as another place."""
    source = "def numbers():\n    for i in range(9):\n        yield i\n"
    file, ops = tmp_path / "program.py", Ops()
    file.write_text(source)
    first = recorder_for(ops)
    first.start()
    names: dict[str, Any] = {}
    exec(compiled(first, source, file), names)  # noqa: S102 # running programs is what this is for
    sleeping = names["numbers"]()
    next(sleeping)
    first.stop()

    recorder = recorder_for(ops)
    recorder.start()
    words = recorder.pen.switch()
    before = len(words)
    next(sleeping)

    assert len(words) == before
    recorder.stop()
    assert list(sleeping) == [2, 3, 4, 5, 6, 7, 8]


def test_without_an_op_counter_nothing_is_recorded_and_the_reason_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    """A torch without the private name is a clear sentence, not an error."""
    from types import ModuleType

    from gradsan.observe.log import recorder as module
    from gradsan.observe.private import probe

    bare = ModuleType("torch")
    bare.__version__ = "9.9"  # type: ignore[attr-defined]
    monkeypatch.setattr(module, "private", lambda: probe(bare))
    reported: list[str] = []
    recorder = LineRecorder(report=reported.append)

    recorder.start()

    assert not recorder.recording
    assert reported == [recorder.provenance]
    assert "torch 9.9 has no op counter" in reported[0]


def test_program_near_its_recursion_limit_ends_by_its_own_error(tmp_path: Path) -> None:
    """And recording goes on."""
    source = (
        "def f(n):\n    return f(n + 1)\ntry:\n    f(0)\nexcept RecursionError as error:\n    print(error)\nprobe(1)\n"
    )
    file, ops = tmp_path / "program.py", Ops()
    file.write_text(source)
    recorder = recorder_for(ops)
    recorder.start()

    shown = outcome(compiled(recorder, source, file), ops)

    assert shown.startswith("maximum recursion depth exceeded")
    lines = recorder.lines()
    assert recorder.recording
    assert lines is not None
    assert lines.stack_of(0) == (Frame(str(file), 7, "<module>"),)
    recorder.stop()


@pytest.mark.parametrize("phase", ["plain", "recorded"])
def test_compiled_functions_have_no_more_graph_breaks(phase: str, module: str) -> None:
    """`torch.compile` sees plain code: one graph, compiled once, whether recorded or not."""
    spec = find_spec(module)
    assert spec is not None
    script = f"""
import sys, torch
from gradsan.observe.log.recorder import LineRecorder
recorder = LineRecorder()
{"recorder.start()" if phase == "recorded" else ""}
sys.path.insert(0, {str(Path(spec.origin or "").parent)!r})
import {module} as program
model = program.Model()
compiled = torch.compile(model.forward, backend="aot_eager", fullgraph=True)
for _ in range(3):
    compiled(torch.ones(3)).backward()
from torch._dynamo.utils import counters
print(dict(counters["graph_break"]), counters["stats"]["unique_graphs"], recorder.recording)
recorder.stop()
"""
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", script], capture_output=True, text=True, check=True, timeout=300
    )

    assert done.stdout.split("\n")[0] == f"{{}} 1 {phase == 'recorded'}"


@only_monitoring
def test_recording_gives_way_where_every_tool_id_is_taken() -> None:
    """Others were here first."""
    monitoring: Any = getattr(sys, "monitoring")  # noqa: B009 # unknown to 3.11's type checker
    reported: list[str] = []
    free = [tool for tool in (3, 4) if monitoring.get_tool(tool) is None]
    for tool in free:
        monitoring.use_tool_id(tool, "someone")
    try:
        recorder = LineRecorder(report=reported.append)
        recorder.start()
    finally:
        for tool in free:
            monitoring.free_tool_id(tool)

    assert not recorder.recording
    assert len(reported) == 1
    assert "someone" in reported[0]


@only_marking
def test_recording_gives_way_to_a_debugger() -> None:
    """Marked code would let it step into every mark."""
    reported: list[str] = []

    def trace(_frame: FrameType, _event: str, _arg: object) -> None: ...

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        recorder = LineRecorder(report=reported.append)
        recorder.start()
    finally:
        sys.settrace(before)

    assert reported == ["lines are not recorded: a debugger traces this program"]


@only_marking
def test_marked_code_is_never_written_to_disk(
    module: str, recorder: LineRecorder, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The cached bytecode is the plain one, so that a run without gradsan finds what it expects."""
    import marshal

    monkeypatch.setattr(sys, "dont_write_bytecode", False)

    imported = importlib.import_module(module)

    plain = marshal.loads(Path(imported.__cached__ or "").read_bytes()[16:])  # noqa: S302
    assert plain == compile(MODULE, str(imported.__file__), "exec", dont_inherit=True)
    assert recorder.recording


@only_marking
@settings(
    deadline=None,
    max_examples=40,
    phases=[Phase.explicit, Phase.reuse, Phase.generate, Phase.shrink],
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(source=programs())
def test_marked_code_reaches_the_lines_that_plain_code_reaches(source: str, tmp_path: Path) -> None:
    """A tracer sees the same lines, calls, returns and exceptions in the same order."""
    from gradsan.observe.log.marked_code import rewritten
    from gradsan.observe.log.sites import Sites

    file = tmp_path / "program.py"
    plain = compile(source, str(file), "exec", dont_inherit=True)
    seen: dict[bool, list[tuple[str, str, int | None]]] = {False: [], True: []}

    for marked in (False, True):
        events = seen[marked]

        def trace(frame: FrameType, event: str, _arg: object, events: list[Any] = events) -> Any:  # noqa: ANN401
            if not frame.f_code.co_filename.endswith("program.py"):
                return None
            events.append((event, frame.f_code.co_name, frame.f_lineno))
            return trace

        def run(call: Any, trace: Any = trace) -> None:  # noqa: ANN401
            before = sys.gettrace()
            sys.settrace(trace)
            try:
                call()
            finally:
                sys.settrace(before)

        outcome(rewritten(plain, Sites(), lambda _a, _b: None) if marked else plain, Ops(), run)

    assert seen[True] == seen[False]


@only_marking
def test_taking_apart_and_putting_together_changes_nothing() -> None:
    """Every code object of some large modules survives to the byte: code, positions, exception table."""
    import argparse
    import asyncio.tasks
    import inspect
    import typing
    from types import CodeType

    from gradsan.observe.log.bytecode import assemble, disassemble

    pending = [
        compile(Path(each.__file__ or "").read_text(), "x.py", "exec")
        for each in (argparse, asyncio.tasks, inspect, typing)
    ]
    while pending:
        code = pending.pop()
        pending += [each for each in code.co_consts if isinstance(each, CodeType)]
        same = assemble(code, disassemble(code), code.co_consts, code.co_stacksize)
        assert same.co_code == code.co_code
        assert same.co_exceptiontable == code.co_exceptiontable
        assert list(same.co_positions()) == list(code.co_positions())


@only_marking
def test_functions_that_run_when_recording_begins_are_taken_in(module: str) -> None:
    """`install()` in the midst of a program: what was imported before is recorded from its next call on."""
    imported = importlib.import_module(module)
    assert gc.isenabled()
    recorder = LineRecorder(exclude=[HERE])

    recorder.start()
    loss = imported.train(imported.Model(), 1)[0]

    lines = recorder.lines()
    recorder.stop()
    assert lines is not None
    assert lines.stack_of(creation_number(loss.grad_fn) or 0)
