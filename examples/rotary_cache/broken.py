"""Broken: a table that is computed once, kept, and made of parameters.

Rotary embeddings turn queries and keys by angles. The tables of cosines and sines depend on the length alone, so it is
usual to keep them. Here the frequencies are learnt: the tables are part of the graph of the step that filled them, and
that step's backward pass freed it. Later steps read them from the cache, and fail. Look for `if self.… is None` around
something that depends on a parameter.
"""

import torch
from torch import Tensor, nn


class Rotary(nn.Module):
    """Turns pairs of features by an angle that grows with the position; how fast is learnt."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.frequencies = nn.Parameter(10.0 ** -torch.linspace(0, 2, width // 2))
        self.tables: tuple[Tensor, Tensor] | None = None

    def forward(self, features: Tensor) -> Tensor:
        """The features `[batch, position, width]`, turned."""
        length = features.size(1)
        if self.tables is None or len(self.tables[0]) != length:
            angles = torch.arange(length)[:, None] * self.frequencies
            self.tables = (angles.cos(), angles.sin())
        cos, sin = self.tables
        first, second = features.chunk(2, dim=-1)
        return torch.cat([first * cos - second * sin, first * sin + second * cos], dim=-1)


class Attention(nn.Module):
    """One head, whose queries and keys know their positions."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.to_query, self.to_key, self.to_value = (nn.Linear(width, width) for _ in range(3))
        self.rotary = Rotary(width)

    def forward(self, inputs: Tensor) -> Tensor:
        """What each position gathers from all others."""
        query, key = self.rotary(self.to_query(inputs)), self.rotary(self.to_key(inputs))
        return nn.functional.scaled_dot_product_attention(query, key, self.to_value(inputs))


def train(steps: int, symbols: int = 8, width: int = 32) -> None:
    """Repeat the symbol that stood two places ago."""
    torch.manual_seed(0)
    model = nn.Sequential(nn.Embedding(symbols, width), Attention(width), nn.Linear(width, symbols))
    optimizer = torch.optim.Adam(model.parameters(), lr=0.005)
    for step in range(steps):
        text = torch.randint(symbols, (32, 12))
        logits = model(text)[:, 2:]
        loss = nn.functional.cross_entropy(logits.flatten(0, 1), text[:, :-2].flatten())
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 10 == 0:
            print(f"step {step + 1}: loss {loss.item():.4f}")


if __name__ == "__main__":
    train(steps=61)
