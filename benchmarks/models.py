"""The programs that benchmarks train, as their users write them: steps of 0.3 to 30 ms on one core of a CPU."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import nn

Step = Callable[[], None]


@dataclass(frozen=True)
class Training:
    """A model, and one step of its training."""

    step: Step
    model: nn.Module | None = None  # None where nothing is called as a model
    inputs: torch.Tensor | None = None
    objective: Callable[[Any], torch.Tensor] | None = None
    optimizer: torch.optim.Optimizer | None = None


def trained(
    model: nn.Module, x: torch.Tensor, objective: Callable[[Any], torch.Tensor], optimizer: torch.optim.Optimizer
) -> Training:
    """The step of most programs."""

    def step() -> None:
        optimizer.zero_grad()
        output = model(x)
        loss = objective(output)
        loss.backward()
        optimizer.step()

    return Training(step, model, x, objective, optimizer)


def squared(output: torch.Tensor) -> torch.Tensor:
    """A loss."""
    return output.square().mean()


def _perceptron(inputs: int, width: int) -> Training:
    model = nn.Sequential(nn.Linear(inputs, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU(), nn.Linear(width, 10))
    y = torch.randint(0, 10, (64,))
    return trained(
        model,
        torch.randn(64, inputs),
        lambda output: nn.functional.cross_entropy(output, y),
        torch.optim.SGD(model.parameters(), lr=0.01),
    )


def small_perceptron() -> Training:
    """Less work a step than most train with: the worst case for what is paid a line."""
    return _perceptron(64, 64)


def perceptron() -> Training:
    """The size that first lessons use: digits of 28 by 28."""
    return _perceptron(784, 256)


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


def lstm() -> Training:
    """Fifty time steps."""
    model = Unrolled()
    return trained(model, torch.randn(50, 16, 32), squared, torch.optim.Adam(model.parameters()))


def transformer() -> Training:
    """Two layers of torch's own encoder."""
    layer = nn.TransformerEncoderLayer(64, 4, 128, batch_first=True)
    model = nn.TransformerEncoder(layer, 2, enable_nested_tensor=False)
    return trained(model, torch.randn(8, 32, 64), squared, torch.optim.Adam(model.parameters()))


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


def convolutions() -> Training:
    """Four residual blocks."""
    model = nn.Sequential(
        nn.Conv2d(3, 16, 3, padding=1), *(Residual(16) for _ in range(4)), nn.Flatten(), nn.Linear(16 * 16 * 16, 4)
    )
    return trained(model, torch.randn(4, 3, 16, 16), squared, torch.optim.SGD(model.parameters(), lr=0.01))


class Propagation(nn.Module):
    """Message passing over a sparse graph of users and items."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(500, 32)
        edges = torch.randint(0, 500, (2, 4000))
        self.adjacency = torch.sparse_coo_tensor(edges, torch.rand(4000), (500, 500)).coalesce()

    def forward(self, users: torch.Tensor) -> torch.Tensor:
        """How much better each user's item is than another one."""
        x = self.embedding.weight
        outputs = [x]
        for _ in range(3):
            x = torch.sparse.mm(self.adjacency, x)
            outputs.append(x)
        final = torch.stack(outputs).mean(0)
        user, good, bad = final[users], final[users + 200], final[users + 300]
        return (user * good).sum(1) - (user * bad).sum(1)


def lightgcn() -> Training:
    """A ranking loss."""
    model = Propagation()
    return trained(
        model,
        torch.arange(200),
        lambda score: -nn.functional.logsigmoid(score).mean(),
        torch.optim.Adam(model.parameters()),
    )


class Block(nn.Module):
    """A layer of a GPT."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads = heads
        self.before, self.between = nn.LayerNorm(width), nn.LayerNorm(width)
        self.project, self.merge = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.widen, self.narrow = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        """Attention to what went before, then two layers."""
        batch, length, width = x.shape
        parts = self.project(self.before(x)).view(batch, length, 3, self.heads, width // self.heads)
        query, key, value = parts.permute(2, 0, 3, 1, 4)
        attended = nn.functional.scaled_dot_product_attention(query, key, value, is_causal=True)
        x = x + self.merge(attended.transpose(1, 2).reshape(batch, length, width))
        return torch.as_tensor(x + self.narrow(nn.functional.gelu(self.widen(self.between(x)))))


class GPT(nn.Module):
    """A language model."""

    def __init__(self, *, words: int, length: int, width: int, heads: int, layers: int) -> None:
        super().__init__()
        self.words, self.places = nn.Embedding(words, width), nn.Embedding(length, width)
        self.blocks = nn.ModuleList(Block(width, heads) for _ in range(layers))
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, words, bias=False)
        self.head.weight = self.words.weight

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        """The logits of the next words."""
        x = self.words(tokens) + self.places.weight[: tokens.shape[1]]
        for block in self.blocks:
            x = block(x)
        return torch.as_tensor(self.head(self.norm(x)))


def gpt() -> Training:
    """Of 124 million parameters, in bfloat16, on a GPU; four small layers elsewhere."""
    if torch.empty(0).is_cuda:
        model = GPT(words=50_257, length=1024, width=768, heads=12, layers=12).to(torch.bfloat16)
        tokens = torch.randint(0, 50_257, (4, 1024))
    else:
        model = GPT(words=500, length=64, width=128, heads=4, layers=4)
        tokens = torch.randint(0, 500, (4, 64))
    following = tokens.roll(-1, 1).flatten()
    return trained(
        model,
        tokens,
        lambda output: nn.functional.cross_entropy(output.flatten(0, 1), following),
        torch.optim.AdamW(model.parameters()),
    )


def tiny_ops() -> Training:
    """Twenty thousand ops on one number, each created by an iteration of its own: the worst case, and no training."""
    x = torch.ones((), requires_grad=True)

    def step() -> None:
        y = x
        for _ in range(20_000):
            y = y * 1.0001
        y.backward()

    return Training(step)


MODELS: dict[str, Callable[[], Training]] = {
    "small perceptron": small_perceptron,
    "perceptron for digits": perceptron,
    "LightGCN": lightgcn,
    "residual convolutions": convolutions,
    "transformer": transformer,
    "LSTM cell, 50 time steps": lstm,
    "GPT": gpt,
}
WORST = "20,000 ops on one number"
