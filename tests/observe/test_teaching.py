"""Networks with optimizers of their own: those that teach each other, and those of which one works for the other."""

import pytest
import torch
from torch import Tensor, nn

from gradsan.observe.failure.pass_graph import Graph
from gradsan.observe.failure.teaching import path_to_teacher
from gradsan.observe.graph import kind_of

FIRST, SECOND = 1, 2  # optimizers


class Pair:
    """Two networks, and the graph of one loss."""

    def __init__(self) -> None:
        self.one, self.two = (nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 3)) for _ in range(2))
        self.owners = {id(each): {FIRST} for each in self.one.parameters()}
        self.owners |= {id(each): {SECOND} for each in self.two.parameters()}
        self.x = torch.ones(2, 3)

    def path(self, loss: Tensor) -> list[str] | None:
        """The kinds of ops that lead to the teacher, after the first optimizer has stepped; None: there is none."""
        graph = Graph([loss], {})
        found = path_to_teacher(graph, self.owners, frozenset({FIRST}), set(graph.number))
        return None if found is None else [kind_of(each) for each in found[0]]


@pytest.fixture
def pair() -> Pair:
    """Two networks."""
    return Pair()


def test_target_of_another_network_is_a_teacher(pair: Pair) -> None:
    """The loss function is where they meet."""
    assert pair.path(nn.functional.mse_loss(pair.two(pair.x), pair.one(pair.x))) == ["MseLoss"]


def test_belief_of_another_network_is_a_teacher(pair: Pair) -> None:
    """A divergence is made of several ops."""
    belief = pair.one(pair.x).softmax(1)
    loss = (
        nn.functional.kl_div(pair.two(pair.x).log_softmax(1), belief, reduction="batchmean") + pair.two(pair.x).mean()
    )
    path = pair.path(loss)
    assert path is not None
    assert path[0] == "Add"


def test_network_that_works_on_what_another_gives_is_no_pupil(pair: Pair) -> None:
    """An encoder and its head: the loss is for both."""
    assert pair.path(pair.two(pair.one(pair.x)).mean()) is None


def test_networks_of_one_optimizer_teach_nobody(pair: Pair) -> None:
    """Nothing says that their loss is not for both."""
    pair.owners = {each: {FIRST} for each in pair.owners}
    assert pair.path(nn.functional.mse_loss(pair.two(pair.x), pair.one(pair.x))) is None


def test_weight_of_a_loss_is_no_network(pair: Pair) -> None:
    """A learned temperature has an optimizer of its own, and is trained through the loss."""
    scale = torch.ones((), requires_grad=True)
    pair.owners[id(scale)] = {SECOND}
    assert pair.path((pair.one(pair.x) * scale).mean()) is None
