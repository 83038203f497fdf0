"""Fixed: what depends on a parameter is computed in every step.

The table is small; keeping it saved nothing worth having. A cache of tables with learnt frequencies would also be out
of date after every update, error or not.
"""

import torch
from torch import Tensor, nn


class Rotary(nn.Module):
    """Turns pairs of features by an angle that grows with the position; how fast is learnt."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.frequencies = nn.Parameter(10.0 ** -torch.linspace(0, 2, width // 2))

    def forward(self, features: Tensor) -> Tensor:
        """The features `[batch, position, width]`, turned."""
        length = features.size(1)
        angles = torch.arange(length)[:, None] * self.frequencies
        cos, sin = angles.cos(), angles.sin()
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
