"""The programs that benchmarks train: each makes a model and returns one step of its training."""

from collections.abc import Callable

import torch
from torch import nn

Step = Callable[[], None]


def perceptron(inputs: int, width: int) -> Step:
    """Three layers, plain descent."""
    model = nn.Sequential(nn.Linear(inputs, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU(), nn.Linear(width, 10))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    x, y = torch.randn(64, inputs), torch.randint(0, 10, (64,))

    def step() -> None:
        optimizer.zero_grad()
        output = model(x)
        loss = nn.functional.cross_entropy(output, y)
        loss.backward()
        optimizer.step()

    return step


def mlp() -> Step:
    """The size that first lessons use: digits of 28 by 28."""
    return perceptron(784, 256)


def small_mlp() -> Step:
    """Less work a step than anyone trains with: the worst case for what is paid a line."""
    return perceptron(64, 128)


class Unrolled(nn.Module):
    """An LSTM cell called in a loop of the user's."""

    def __init__(self) -> None:
        super().__init__()
        self.cell = nn.LSTMCell(32, 64)
        self.head = nn.Linear(64, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """The sum of the heads' outputs over time."""
        h = x.new_zeros(x.shape[1], 64)
        c = x.new_zeros(x.shape[1], 64)
        total = x.new_zeros(())
        for t in range(x.shape[0]):
            h, c = self.cell(x[t], (h, c))
            total = total + self.head(h).mean()
        return total


def lstm() -> Step:
    """Fifty time steps."""
    model = Unrolled()
    optimizer = torch.optim.Adam(model.parameters())
    x = torch.randn(50, 16, 32)

    def step() -> None:
        optimizer.zero_grad()
        loss = model(x)
        loss.backward()
        optimizer.step()

    return step


def transformer() -> Step:
    """Two layers of torch's own encoder."""
    layer = nn.TransformerEncoderLayer(64, 4, 128, batch_first=True)
    model = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
    optimizer = torch.optim.Adam(model.parameters())
    x = torch.randn(8, 32, 64)

    def step() -> None:
        optimizer.zero_grad()
        loss = model(x).square().mean()
        loss.backward()
        optimizer.step()

    return step


class Residual(nn.Module):
    """A block of a residual network."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.first = nn.Conv2d(width, width, 3, padding=1)
        self.norm = nn.BatchNorm2d(width)
        self.second = nn.Conv2d(width, width, 3, padding=1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """The block's output."""
        y = self.first(x)
        y = self.norm(y)
        y = torch.relu(y)
        y = self.second(y)
        return torch.relu(x + y)


def conv() -> Step:
    """Four residual blocks."""
    model = nn.Sequential(
        nn.Conv2d(3, 16, 3, padding=1), *(Residual(16) for _ in range(4)), nn.Flatten(), nn.LazyLinear(4)
    )
    x = torch.randn(4, 3, 16, 16)
    model(x)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)

    def step() -> None:
        optimizer.zero_grad()
        loss = model(x).square().mean()
        loss.backward()
        optimizer.step()

    return step


def lightgcn() -> Step:
    """Message passing over a sparse graph, then a ranking loss."""
    users, items, layers = 200, 300, 3
    embedding = nn.Embedding(users + items, 32)
    edges = torch.randint(0, users + items, (2, 4000))
    adjacency = torch.sparse_coo_tensor(edges, torch.rand(4000), (users + items,) * 2).coalesce()
    optimizer = torch.optim.Adam(embedding.parameters())

    def propagate() -> torch.Tensor:
        x = embedding.weight
        outputs = [x]
        for _ in range(layers):
            x = torch.sparse.mm(adjacency, x)
            outputs.append(x)
        return torch.stack(outputs).mean(0)

    def step() -> None:
        optimizer.zero_grad()
        final = propagate()
        user, good, bad = final[:users], final[users : 2 * users], final[-users:]
        score = (user * good).sum(1) - (user * bad).sum(1)
        loss = -nn.functional.logsigmoid(score).mean()
        loss.backward()
        optimizer.step()

    return step


def tiny_ops() -> Step:
    """Twenty thousand ops on one number, each made by a line of its own round."""
    x = torch.ones((), requires_grad=True)

    def step() -> None:
        y = x
        for _ in range(20_000):
            y = y * 1.0001
        y.backward()

    return step
