"""Runs small programs under the line log and works out, for the pass that fails, where the graph was crossed.

A small stand-in for the post-mortem: it notes what each pass consumes by walking the graph before it runs.
"""

import linecache
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
import torch

from gradsan.facts.location import Frame
from gradsan.observe.log.frames import frames_out
from gradsan.observe.log.lines import Lines, Unknown
from gradsan.observe.log.recorder import LineRecorder
from gradsan.observe.naming.names import Carrier, Crossing, carrier
from gradsan.observe.private import creation_number, private

_REARRANGING = ("Select", "Slice", "Split", "View", "Unbind", "Unsqueeze", "Squeeze", "Expand", "Transpose", "TBack")


class Watch:
    """Notes what passes consume; when one fails, asks for the carrier while the program's calls are live."""

    def __init__(self, recorder: LineRecorder) -> None:
        self.carrier: Carrier | None = None
        self.crossing: Crossing | None = None
        self.failed = False
        self._recorder = recorder
        self._consumed: dict[int, int] = {}  # by creation number: the op counter when it was consumed

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Stand in for the choke point."""
        owner: Any = torch.autograd
        original = owner._engine_run_backward  # noqa: SLF001

        def watched(outputs: Any, *args: Any, **kwargs: Any) -> Any:  # noqa: ANN401
            roots = [each.grad_fn for each in outputs if each.grad_fn is not None]
            keeps, inputs = args[1], args[3]
            walked = _walked(roots, inputs)
            counter = private().op_counter
            assert counter is not None
            number = counter()
            try:
                result = original(outputs, *args, **kwargs)
            except RuntimeError as error:
                if "second time" in str(error):
                    self._explain(roots)
                raise
            if not keeps:
                for each in walked:
                    self._consumed.setdefault(each, number)
            return result

        owner._engine_run_backward = watched  # noqa: SLF001
        try:
            yield
        finally:
            owner._engine_run_backward = original  # noqa: SLF001

    def _explain(self, roots: list[Any]) -> None:
        self.failed = True
        lines = self._recorder.lines()
        assert lines is not None
        parents: dict[int, list[Any]] = {}
        for node in _nodes(roots):
            for child, _ in node.next_functions:
                if child is not None:
                    parents.setdefault(id(child), []).append(node)
        reached = {
            creation_number(each) or 0: each for each in _nodes(roots) if creation_number(each) in self._consumed
        }
        freed = self._consumed[max(reached)]
        made, enters = _edge_in_time(reached, parents, freed) or _edge(reached, parents)
        frames = [each for each in frames_out(sys._getframe()) if each.f_code.co_filename != __file__]  # noqa: SLF001
        self.crossing = Crossing(
            made,
            enters,
            _stack(lines, made),
            self._recorder.stack(frames[0]) if enters is None else _stack(lines, enters),
            freed,
        )
        self.carrier = carrier(self.crossing, frames, lines, owns=self._recorder.ownership.owns)


def _stack(lines: Lines, number: int) -> tuple[Frame, ...]:
    found = lines.stack_of(number)
    return () if isinstance(found, Unknown) else found


def run_program(folder: Path, files: dict[str, str]) -> Watch:
    """Write the files, run `main.py` as a script until it fails, and give back what was seen."""
    for name, source in files.items():
        (folder / name).write_text(source, encoding="utf-8")
    return run_script(folder / "main.py")


def run_script(script: Path) -> Watch:
    """Run a script as `python` would, with the line log, until a pass fails."""
    recorder = LineRecorder(include=[str(script.parent)], exclude=[__file__], tell=pytest.fail)
    watch = Watch(recorder)
    known = set(sys.modules)
    sys.path.insert(0, str(script.parent))
    recorder.start()
    try:
        code = recorder.compile_user(script.read_text(encoding="utf-8"), str(script))
        with watch.watching():
            exec(code, {"__name__": "__main__", "__file__": str(script)})  # noqa: S102 # the program under test
    except RuntimeError:
        if not watch.failed:
            raise
    finally:
        recorder.stop()
        sys.path.remove(str(script.parent))
        for name in set(sys.modules) - known:
            if str(getattr(sys.modules[name], "__file__", None)).startswith(str(script.parent)):
                del sys.modules[name]
        linecache.checkcache()
    return watch


def _edge(reached: dict[int, Any], parents: dict[int, list[Any]]) -> tuple[int, int | None]:
    """The newest consumed op that a fresh one builds on, and that one; the root itself where it is consumed."""
    for number in sorted(reached, reverse=True):
        node = reached[number]
        fresh = [each for each in parents.get(id(node), []) if creation_number(each) not in reached]
        if fresh:
            return number, min(_rearranged(each, parents) for each in fresh)
        if not parents.get(id(node)):
            return number, None
    return max(reached), None


def _edge_in_time(reached: dict[int, Any], parents: dict[int, list[Any]], freed: int) -> tuple[int, int] | None:
    """Where the later forward builds on what was there when the graph was freed, be it consumed itself or not."""
    edges = []
    pending, seen = list(reached.values()), set()
    while pending:
        node = pending.pop()
        for parent in parents.get(id(node), []):
            number, made = creation_number(parent), creation_number(node)
            if number is None or made is None:
                continue
            if number >= freed > made:
                edges.append((made, -_rearranged(parent, parents)))
            elif id(parent) not in seen:
                seen.add(id(parent))
                pending.append(parent)
    made, enters = max(edges, default=(0, 0))
    return (made, -enters) if edges else None


def _rearranged(node: Any, parents: dict[int, list[Any]]) -> int:  # noqa: ANN401
    while node.name().startswith(_REARRANGING) and len(parents.get(id(node), [])) == 1:
        node = parents[id(node)][0]
    return creation_number(node) or 0


def _nodes(roots: list[Any]) -> list[Any]:
    seen: dict[int, Any] = {}
    pending = list(roots)
    while pending:
        node = pending.pop()
        if node is not None and id(node) not in seen:
            seen[id(node)] = node
            pending.extend(child for child, _ in node.next_functions)
    return list(seen.values())


def _walked(roots: list[Any], inputs: tuple[Any, ...]) -> set[int]:
    """The numbers of the ops that a pass executes."""
    nodes = _nodes(roots)
    if not inputs:
        return {number for number in map(creation_number, nodes) if number is not None}
    ends = {id(torch.autograd.graph.get_gradient_edge(each).node) for each in inputs}
    on_the_way: set[int] = set()
    changed = True
    while changed:
        before = len(on_the_way)
        for node in nodes:
            if any(id(child) in ends or id(child) in on_the_way for child, _ in node.next_functions):
                on_the_way.add(id(node))
        changed = len(on_the_way) > before
    numbers = (creation_number(node) for node in nodes if id(node) in on_the_way)
    return {number for number in numbers if number is not None}


def at(frames: tuple[Frame, ...]) -> str:
    """A stack in one line, for messages of failing tests."""
    return " > ".join(f"{Path(each.file).name}:{each.line} {each.function}" for each in frames)
