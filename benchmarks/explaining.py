"""What explaining costs as a graph grows: the failing pass with its explanation, against one plain pass of that graph.

Three shapes: a chain of ops created by a loop, as many ops side by side, and a recurrence of the user's. Each
explanation is made in a copy of the process: the third of one line is the last that is always made.
`python benchmarks/explaining.py [--quick] [--out FILE]`.
"""

import time
from collections.abc import Callable
from functools import partial

import torch
from torch import nn

import gradsan
from measuring import PLAIN, Answer, Figure, Row, Wish, answer, exponent, in_copy, ratios, rounds_of, scaled, spread

SIZES = (1_000, 10_000, 100_000, 1_000_000)
TINY = (10, 40)  # only to see that all of it works
LENGTHS = (400, 1_600, 6_400, 25_600)
ROUNDS = 4
LARGE = {100_000: 2, 1_000_000: 1, 6_400: 3, 25_600: 1}  # rounds, where each takes long


def chain(ops: int) -> torch.Tensor:
    """One after the other."""
    y = torch.ones((), requires_grad=True)
    for _ in range(ops):
        y = y * 1.0001
    return y


def fan(ops: int) -> torch.Tensor:
    """Side by side."""
    x = torch.ones((), requires_grad=True)
    parts = [x.exp() for _ in range(ops)]
    return torch.stack(parts).sum()


class Cell(nn.Module):
    """A recurrent cell of one's own."""

    def __init__(self) -> None:
        super().__init__()
        self.taken, self.kept = nn.Linear(4, 8), nn.Linear(8, 8)

    def forward(self, x: torch.Tensor, h: torch.Tensor) -> torch.Tensor:
        """The next state."""
        return torch.tanh(self.taken(x) + self.kept(h))


def graph_twice(build: Callable[[int], torch.Tensor], ops: int) -> float:
    """The second pass of one graph."""
    loss = build(ops)
    loss.backward()
    begun = time.process_time()
    try:
        loss.backward()
    except RuntimeError as error:
        return _explained(error, begun)
    raise AssertionError(ops)


def recurrence_twice(steps: int) -> float:
    """The pass of the second iteration, which goes on into the graph of the first."""
    cell, h = Cell(), torch.zeros(1, 8)
    optimizer = torch.optim.SGD(cell.parameters(), lr=0.1)
    begun = 0.0
    try:
        for _ in range(2):
            for x in torch.ones(steps, 1, 4):
                h = cell(x, h)
            optimizer.zero_grad()
            begun = time.process_time()
            h.sum().backward()
            optimizer.step()
    except RuntimeError as error:
        return _explained(error, begun)
    raise AssertionError(steps)


def _explained(error: RuntimeError, begun: float) -> float:
    seconds = time.process_time() - begun
    if gradsan.explain(error) is None:
        raise error
    return seconds


def plain_pass(build: Callable[[int], torch.Tensor], ops: int) -> float:
    """One pass of such a graph, by PyTorch alone."""
    gradsan.uninstall()
    loss = build(ops)
    begun = time.process_time()
    loss.backward()
    return time.process_time() - begun


def recurrence(steps: int) -> torch.Tensor:
    """The graph that the failing pass of a recurrence goes through before it fails."""
    cell, h = Cell(), torch.zeros(1, 8)
    for x in torch.ones(steps, 1, 4):
        h = cell(x, h)
    return h.sum()


SHAPES: dict[str, tuple[Callable[[int], torch.Tensor], Callable[[int], float], tuple[int, ...]]] = {
    "ops in a row": (chain, partial(graph_twice, chain), SIZES),
    "ops side by side": (fan, partial(graph_twice, fan), SIZES),
    "steps of a recurrence": (recurrence, recurrence_twice, LENGTHS),
}


def question(wish: Wish) -> Answer:
    """Every shape at every size, and the exponent of its growth."""
    torch.set_num_threads(1)
    gradsan.install()
    recurrence_twice(8)  # loading, and reading source, are paid for
    graph_twice(chain, 8)
    rows, curves, facts = [], {}, {}
    for shape, (build, explained, sizes) in SHAPES.items():
        points: list[tuple[float, float]] = []
        for size in TINY if wish.quick else sizes:
            rounds = wish.rounds(LARGE.get(size, ROUNDS))
            sides = {
                PLAIN: lambda build=build, size=size: in_copy(partial(plain_pass, build, size)),
                "explained": lambda explained=explained, size=size: in_copy(partial(explained, size)),
            }
            found = rounds_of(sides, rounds)
            seconds = spread(found["explained"])
            figures = {
                "an explanation takes": Figure(seconds, unit="s"),
                "for each": Figure(scaled(seconds, 1e6 / size), unit="µs"),
                "against one plain backward()": ratios(found)["explained"],
            }
            rows.append(Row(f"{size:,} {shape}", figures))
            points.append((float(size), seconds.middle))
        curves[shape] = points
        facts[f"exponent of the growth, {shape}"] = f"{exponent(points):.2f}"
        larger = points[-2:]
        facts[f"exponent between the two largest, {shape}"] = f"{exponent(larger):.2f}"
    return Answer(rows, curves, facts)


if __name__ == "__main__":
    answer(question)
