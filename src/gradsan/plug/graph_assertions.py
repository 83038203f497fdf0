"""What a test can demand of graphs: `assert_graph_freed(loss)` and `with no_graph_leak():`. They need no pytest."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from gradsan.observe.live_graphs import described, holding_ops, leaked_since, op_count

_WITHIN = 2  # frames between the block and what begins it: those of contextlib


def assert_graph_freed(*tensors: Any) -> None:  # noqa: ANN401 # torch's class: this room knows nothing of torch
    """Demand that nothing behind these tensors holds saved values any more: a backward pass has freed them all.

    It reads the saved values, so hooks that unpack them run. A tensor without a graph passes.
    """
    __tracebackhide__ = True
    holding = holding_ops(tensors)
    if holding:
        raise AssertionError(
            f"the graph is not freed: {described(holding)} of saved values; either no backward() went through it, "
            "or that one had retain_graph=True"
        )


@contextmanager
def no_graph_leak() -> Iterator[None]:
    """Demand that no graph created in the block is alive when it ends, but for what its function's variables hold.

    A tensor in a plain variable of the function that has the block is its result. One in a list, in an attribute or in
    a variable of a module is a leak. An error in the block is raised as it is.
    """
    __tracebackhide__ = True
    frame = sys._getframe(_WITHIN)  # noqa: SLF001 # the only way to a frame
    before = op_count()
    yield
    leaked = leaked_since(before, frame)
    if leaked is not None:
        names = ", ".join(f"`{each}`" for each in leaked.names) or "something that no variable leads to"
        graphs = "1 graph" if leaked.tensors == 1 else f"{leaked.tensors} graphs"
        raise AssertionError(
            f"{graphs} created in this block outlive it, held by {names}; "
            "keep the values alone, with .item() or .detach()"
        )
