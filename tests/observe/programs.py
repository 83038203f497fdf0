"""Random small Python programs, and the means to run them with and without recording.

A program calls `probe(x)`, which stands for making an op: it notes the true stack, taken from the frames themselves.
"""

import contextlib
import io
import sys
import traceback
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

from hypothesis import strategies as st

from gradsan.facts.location import Frame
from gradsan.observe.log.recorder import LineRecorder

HERE = str(Path(__file__).parent)
_INLINE = {"<listcomp>", "<setcomp>", "<dictcomp>"}  # no calls from 3.12 on; before, left alone where on one line

PRELUDE = '''\
import contextlib

@contextlib.contextmanager
def guard(x):
    probe(x)
    try:
        yield x
    finally:
        probe(x)

class Manager:
    def __enter__(self):
        return probe(1)
    def __exit__(self, *exc):
        probe(2)
        return False

def helper(x,
           y=0):
    if x > 3:
        raise ValueError(x)
    return probe(
        x
    ) + y

def numbers(n):
    for i in range(n):
        probe(i)
        got = yield i
        probe(got)

def delegate(n):
    """Docstring."""
    result = yield from numbers(n)
    probe(7)
    return result

def recurse(n):
    probe(n)
    if n:
        recurse(n - 1)
    return probe(n)

'''


@dataclass
class Ops:
    """Counts what programs make."""

    stacks: list[tuple[Frame, ...]] = field(default_factory=list)

    def probe(self, value: object) -> object:
        """Make an op."""
        self.stacks.append(true_stack(sys._getframe(1)))  # noqa: SLF001
        return value


def true_stack(frame: FrameType | None) -> tuple[Frame, ...]:
    """The calls of the program's, as the interpreter has them."""
    frames = []
    while frame is not None:
        code = frame.f_code
        is_inline = code.co_name in _INLINE and len({line for _, _, line in code.co_lines()}) == 1
        if code.co_filename.endswith("program.py") and not is_inline:
            frames.append(Frame(code.co_filename, frame.f_lineno, code.co_qualname))
        frame = frame.f_back
    return tuple(reversed(frames))


def recorder_for(ops: Ops, **options: Any) -> LineRecorder:  # noqa: ANN401 # what a recorder takes
    """A recorder that sees the program alone, and counts its probes as ops."""
    # A method of a list, not a function of ours: what counts ops must not be code that is recorded.
    return LineRecorder(exclude=[HERE], op_counter=ops.stacks.__len__, **options)


def compiled(recorder: LineRecorder, source: str, file: Path) -> CodeType:
    """A program as an entry point compiles it: no import hook sees a main script."""
    return recorder.marked(compile(source, str(file), "exec", dont_inherit=True))


def outcome(code: CodeType, ops: Ops, run: Callable[[Callable[[], None]], None] = lambda call: call()) -> str:
    """Everything a program shows: its output, its traceback, the names it leaves behind."""
    namespace: dict[str, Any] = {"probe": ops.probe, "__name__": "program"}
    shown = io.StringIO()
    with contextlib.redirect_stdout(shown):
        try:
            run(lambda: exec(code, namespace))  # noqa: S102 # running programs is what this is for
        except Exception as error:  # noqa: BLE001 # its traceback is compared
            own = error.__traceback__ and error.__traceback__.tb_next
            while own is not None and not own.tb_frame.f_code.co_filename.endswith("program.py"):
                own = own.tb_next
            shown.write("".join(traceback.format_exception(type(error), error, own)))
    return shown.getvalue() + repr(sorted(namespace))


def _indented(lines: list[str]) -> list[str]:
    return ["    " + line for line in lines]


_EXPRESSIONS = (
    "probe(x)",
    "helper(x)",
    "helper(x,\n    y=probe(2))",
    "(probe(1)\n    + helper(0))",
    "sum(probe(i) for i in range(3))",
    "[probe(i) for i in range(2)][-1]",
    "sum([\n    probe(i)\n    for i in range(2)\n])",
    "max(numbers(2), default=0)",
    "len(list(delegate(2)))",
    "recurse(2)",
    "(lambda q: probe(q) + 1)(x)",
    "helper(x) if x else probe(0)",
    "(y := probe(1)) + 1",
    "next(iter(delegate(3)))",
    "max(next(numbers(2)), probe(1))",
    "int(f'{probe(3)}')",
    "1 // (x - 2)",
)


@st.composite
def blocks(draw: st.DrawFn, depth: int = 2) -> list[str]:
    """One to three statements."""
    return [line for _ in range(draw(st.integers(1, 3))) for line in draw(statements(depth))]


@st.composite
def statements(draw: st.DrawFn, depth: int) -> list[str]:  # noqa: C901, PLR0911, PLR0912 # one branch a kind of statement
    """One statement, perhaps with others within."""
    kinds = ["assign", "print", "assert", "pass"]
    if depth:
        kinds += ["if", "for", "while", "try", "with", "def", "finally", "generator", "match", "class"]
    kind = draw(st.sampled_from(kinds))
    if kind in {"assign", "print", "assert"}:
        lines = draw(st.sampled_from(_EXPRESSIONS)).split("\n")
        if kind == "assign":
            return [f"x = {lines[0]}", *lines[1:]]
        opening = "print(x, " if kind == "print" else "assert 1 + ("
        return [opening + lines[0], *lines[1:-1], *([lines[-1]] if len(lines) > 1 else []), ")"]
    if kind == "pass":
        return ["pass"]
    inner = _indented(draw(blocks(depth - 1)))
    other = _indented(draw(blocks(depth - 1)))
    if kind == "if":
        return ["if x:", *inner, "else:", *other]
    if kind == "for":
        leave = draw(st.sampled_from(["pass", "continue", "break"]))
        return ["for x in numbers(3):", *inner, "    if x == 1:", f"        {leave}", "else:", *other]
    if kind == "while":
        left = f"left{depth}"  # nested loops must not share it
        return [f"{left} = 3", f"while ({left} :=", f"       {left} - 1):", *inner]
    if kind == "try":
        return ["try:", *inner, "except (ValueError, ZeroDivisionError) as error:", "    print(error)", *other]
    if kind == "finally":
        return ["try:", *inner, "finally:", *other]
    if kind == "with":
        return [f"with {draw(st.sampled_from(['guard(x)', 'Manager()', 'guard(1), Manager()']))} as z:", *inner]
    if kind == "match":
        return ["match x:", "    case 0 | 1:", *_indented(inner), "    case _ if probe(x):", *_indented(other)]
    if kind == "class":
        return ["class Local:", "    x = 1", *inner, "print(sorted(vars(Local)))"]
    if kind == "generator":
        return ["def local(x):", *inner, "    yield probe(x)", *other, "for x in local(x or 0):", "    probe(x)"]
    return ["def local(x):", *inner, "    return x", "x = local(x or 0)"]


@st.composite
def programs(draw: st.DrawFn) -> str:
    """A whole program."""
    body = ["def main(x):", *_indented(draw(blocks(3))), "    return x", "print(main(1))", *draw(blocks(1))]
    return PRELUDE + "x = 2\n" + "\n".join(body) + "\n"
