"""The log tells the truth about every op, whatever the program does."""

import contextlib
import io
import linecache
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from unittest.mock import patch

import pytest
from hypothesis import HealthCheck, Phase, example, given, settings

from gradsan.facts.location import Frame
from gradsan.observe.log.iterations import BEFORE, Iterations, Repeats
from gradsan.observe.log.lines import Lines, Unknown
from observe.programs import PRELUDE, Ops, compiled, outcome, programs, recorder_for


@pytest.fixture
def file(tmp_path: Path) -> Iterator[Path]:
    """Where a program stands."""
    path = tmp_path / "program.py"
    yield path
    linecache.checkcache()


def run(source: str, file: Path, ops: Ops, **options: int) -> tuple[str, Lines | None]:
    """Run a program under the log; what it showed, and the log."""
    file.write_text(source)
    linecache.checkcache(str(file))
    recorder = recorder_for(ops, **options)
    recorder.start()
    try:
        shown = outcome(compiled(recorder, source, file), ops)
        return shown, recorder.lines()
    finally:
        recorder.stop()


# Without the phase in which hypothesis traces what it runs: on 3.11 the log gives way to whoever traces.
PROGRAMS = settings(
    deadline=None,
    max_examples=20,
    phases=[Phase.explicit, Phase.reuse, Phase.generate, Phase.shrink],
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


@PROGRAMS
@given(source=programs())
def test_stack_of_every_op_is_the_stack_that_the_interpreter_had(source: str, file: Path) -> None:
    """Through generators, exceptions, context managers, recursion, comprehensions, classes, calls of several lines."""
    ops = Ops()

    _, lines = run(source, file, ops)

    reported = [lines.stack_of(number) for number in range(len(ops.stacks))] if lines else []
    assert reported == ops.stacks


def test_a_generator_dropped_half_way_leaves_the_line_that_dropped_it(file: Path) -> None:
    """The interpreter names no line for the exception that ends it, which once let another function seem to run."""
    ops = Ops()
    second_is_far_down = "def first():\n    yield 1\n" + "\n" * 7 + "def second():\n    yield 2\n"

    _, lines = run(second_is_far_down + "next(second()), probe(1)\n", file, ops)

    assert lines is not None
    assert lines.stack_of(0) == (Frame(str(file), 12, "<module>"),)


@PROGRAMS
@given(source=programs())
def test_blocks_of_any_size_say_the_same(source: str, file: Path) -> None:
    """A block begins with the true stack, so where blocks end does not matter."""
    ops = Ops()

    _, lines = run(source, file, ops, room=7)

    known = [lines.stack_of(number) for number in range(len(ops.stacks))] if lines else []
    assert all(
        isinstance(reported, Unknown) or reported == true for reported, true in zip(known, ops.stacks, strict=True)
    )


@PROGRAMS
@given(source=programs())
def test_a_recorded_program_shows_what_it_shows_alone(source: str, file: Path) -> None:
    """The same output, the same traceback with the same carets, the same names left behind."""
    file.write_text(source)
    linecache.checkcache(str(file))
    alone = outcome(compile(source, str(file), "exec", dont_inherit=True), Ops())

    recorded, _ = run(source, file, Ops())

    assert recorded == alone


NESTED = """\
def train(ask):
    probe("before")
    for epoch in range(3):
        h = probe(epoch)
        step = 0
        while step < 2:
            step += 1
            h = probe(step)
            if epoch == 2 and step == 2:
                ask()

train(ask)
"""


def iterations_asked_for(source: str, file: Path) -> list[Iterations]:
    """What the log tells when a program calls `ask()`."""
    ops = Ops()
    found: list[Iterations] = []
    file.write_text(source)
    linecache.checkcache(str(file))
    recorder = recorder_for(ops)
    recorder.start()

    def ask() -> None:
        lines = recorder.lines()
        assert lines is not None
        found.extend(lines.iterations(sys._getframe(1)))  # noqa: SLF001

    try:
        exec(compiled(recorder, source, file), {"probe": ops.probe, "ask": ask})  # noqa: S102 # the program under test
    finally:
        recorder.stop()
    return found


def test_iterations_of_nested_loops_are_reported_for_each_op(file: Path) -> None:
    """An inner loop counts from its latest entry; what earlier entries made was made before its first iteration."""
    found = iterations_asked_for(NESTED, file)

    outer, inner = found
    assert [(each.kind, each.frame.line, each.now) for each in found] == [(Repeats.LOOP, 3, 3), (Repeats.LOOP, 6, 2)]
    assert [outer.iteration_of(number) for number in range(10)] == [BEFORE, 1, 1, 1, 2, 2, 2, 3, 3, 3]
    assert [inner.iteration_of(number) for number in range(10)] == [BEFORE] * 8 + [1, 2]
    assert outer.start_of(2) == 4


def test_loop_whose_body_begins_with_a_loop_has_its_first_iteration(file: Path) -> None:
    """Epochs and batches: nothing stands between the two headers."""
    program = """\
def train(ask):
    for epoch in range(3):
        for batch in range(2):
            probe(batch)
        if epoch == 2:
            ask()

train(ask)
"""
    (outer,) = iterations_asked_for(program, file)

    assert (outer.frame.line, outer.now) == (2, 3)
    assert [outer.iteration_of(number) for number in range(6)] == [1, 1, 2, 2, 3, 3]


CLOSURE = """\
def closure():
    return probe("loss")

def outer():
    optimize(closure)

outer()
"""


def test_function_that_a_library_calls_again_and_again_is_a_loop(file: Path) -> None:
    """A closure handed to an optimizer, a step handed to a trainer: the iterations are its entries under one line."""
    ops, found = Ops(), []
    file.write_text(CLOSURE)
    linecache.checkcache(str(file))
    recorder = recorder_for(ops)
    recorder.start()

    def optimize(closure: object) -> None:
        for _ in range(4):
            closure()  # type: ignore[operator]

    def probe(value: object) -> object:
        lines = recorder.lines()
        assert lines is not None
        found.append(lines.iterations())
        return ops.probe(value)

    try:
        exec(compiled(recorder, CLOSURE, file), {"probe": probe, "optimize": optimize})  # noqa: S102 # the program under test
    finally:
        recorder.stop()

    assert found[0] == ()
    assert [(each.kind, each.frame.line, each.now) for each in found[3]] == [(Repeats.CALLS, 5, 4)]
    assert [found[3][0].iteration_of(number) for number in range(4)] == [1, 2, 3, 4]


LONG = """\
def make(x):
    return probe(x)

def train(n):
    first = make(0)
    for step in range(n):
        y = make(step)
        z = step
    rare = probe(1)
    for more in range(n):
        y = make(more)
        if more == n - 1:
            ask()

train(3000)
"""


def test_a_long_run_is_thinned_and_says_so(file: Path) -> None:
    """Bounded memory: beginning, end and each line's first runs stay; iterations stay counted; the rest says why."""
    ops, found = Ops(), []
    file.write_text(LONG)
    linecache.checkcache(str(file))
    recorder = recorder_for(ops, room=32)
    recorder.start()

    def ask() -> None:
        lines = recorder.lines()
        assert lines is not None
        found.append((lines, lines.iterations(sys._getframe(1))))  # noqa: SLF001

    try:
        exec(compiled(recorder, LONG, file), {"probe": ops.probe, "ask": ask})  # noqa: S102 # the program under test
    finally:
        recorder.stop()

    lines, (loop,) = found[0]
    assert loop.now == 3000
    assert loop.iteration_of(3002) is None  # thinned
    assert loop.iteration_of(6001) == 3000
    assert loop.iteration_of(0) in {BEFORE, None}
    lost = lines.thinned
    assert lost is not None
    assert isinstance(lines.stack_of((lost[0] + lost[1]) // 2), Unknown)
    assert [each.line for each in lines.stack_of(0) or ()] == [15, 5, 2]
    assert [each.line for each in lines.stack_of(3001) or ()] == [15, 9]  # once, amid the thinned part
    assert [each.line for each in lines.stack_of(6001) or ()] == [15, 11, 2]
    assert (3001, 3002) in lines.created_by(str(file), 9)


def iterations_throughout(source: str, file: Path) -> list[tuple[Iterations, ...]]:
    """Run a program under a log that keeps almost nothing; the iterations of its loops at some of its ops."""
    ops, found = Ops(), []
    file.write_text(source)
    linecache.checkcache(str(file))
    recorder = recorder_for(ops, room=40)
    recorder.start()
    recorder.pen._head_blocks, recorder.pen._tail_blocks = 1, 2  # noqa: SLF001 # as few as there can be

    def probe(value: object) -> object:
        ops.stacks.append(())  # its stack is not asked for
        lines = recorder.lines() if len(ops.stacks) % 31 == 0 else None  # counts add up: what is wrong stays wrong
        if lines is not None:
            found.append(lines.iterations(sys._getframe(1)))  # noqa: SLF001 # the program's
        return value

    try:
        with contextlib.suppress(Exception), contextlib.redirect_stdout(io.StringIO()):
            exec(compiled(recorder, source, file), {"probe": probe, "__name__": "program"})  # noqa: S102 # the program under test
    finally:
        recorder.stop()
    return found


USUAL = """\
def step(n):
    total = 0
    for each in range(n):
        total += probe(each)
        while total > 9:
            total -= helper(3)
    return total

for batch in range(20):
    step(batch % 5)
    [step(3) for _ in range(2)]
"""


@PROGRAMS
@example(source=PRELUDE + USUAL)
@given(source=programs())
def test_iterations_that_are_only_counted_are_those_that_were_followed(source: str, file: Path) -> None:
    """What goes by uncounted in a long run is counted as if each event had been looked at."""
    head, tail = source[: len(PRELUDE)], source[len(PRELUDE) :]
    body = "".join(f"            {line}\n" for line in tail.splitlines())
    long = f"{head}x = 1\nfor outer in range(3):\n    for inner in range(30):\n        try:\n{body}"
    long += "        except Exception:\n            probe(0)\n"

    counted = iterations_throughout(long, file)

    with patch("gradsan.observe.log.journal.skim", return_value=0):
        assert iterations_throughout(long, file) == counted


THREADS = """\
import threading

def work(n):
    for i in range(n):
        probe(i)

threads = [threading.Thread(target=work, args=(50,)) for _ in range(4)]
for each in threads:
    each.start()
for each in threads:
    each.join()
"""


def test_each_thread_has_a_log_of_its_own(file: Path) -> None:
    """Creation numbers restart in each thread, so do logs."""
    counters = threading.local()
    ops = Ops()
    file.write_text(THREADS)
    recorder = recorder_for(ops)
    recorder._counter = lambda: getattr(counters, "made", 0)  # noqa: SLF001

    def probe(_: object) -> None:
        counters.made = getattr(counters, "made", 0) + 1

    recorder.start()
    try:
        exec(compiled(recorder, THREADS, file), {"probe": probe})  # noqa: S102 # the program under test
    finally:
        recorder.stop()

    of_workers = [each for each in recorder.threads() if each.thread != threading.get_ident()]
    assert len(of_workers) == 4
    for lines in of_workers:
        assert {frame.line for number in range(50) for frame in lines.stack_of(number) or ()} == {5}
        assert lines.created_by(str(file), 5) == tuple((number, number + 1) for number in range(50))


def test_op_created_before_recording_is_unknown(file: Path) -> None:
    """Never a guess."""
    ops = Ops()
    ops.probe(1)
    ops.probe(2)

    _, lines = run("probe(3)\n", file, ops)

    assert lines is not None
    assert not lines.stack_of(1)
    assert lines.stack_of(2) == (Frame(str(file), 1, "<module>"),)
