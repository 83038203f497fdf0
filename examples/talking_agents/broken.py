"""Broken: two agents hear what the other said a moment ago, and how it came to say so.

Each agent predicts a signal of its own from what it sees and from the message that the other one sent in the last step.
So each loss leads into the other agent's network, one step back, whose graph was freed when that step was over. There
are two messages: with one of them fixed, the other fails. Look for values that cross from one network to the other
*and* from one step to the next.
"""

import math

import torch
from torch import Tensor, nn


class Agent(nn.Module):
    """Sees one half of the world, hears the other agent, predicts, and says something."""

    def __init__(self, message: int = 4, width: int = 16) -> None:
        super().__init__()
        self.body = nn.Sequential(nn.Linear(2 + message, width), nn.Tanh())
        self.predict = nn.Linear(width, 2)
        self.speak = nn.Linear(width, message)

    def forward(self, seen: Tensor, heard: Tensor) -> tuple[Tensor, Tensor]:
        """A prediction of the next sight, and a message."""
        thought = self.body(torch.cat([seen, heard], dim=1))
        return self.predict(thought), self.speak(thought).tanh()


def world(steps: int, walkers: int) -> Tensor:
    """Points on circles: `[step, walker, coordinate]`."""
    phases = torch.rand(walkers) * 2 * math.pi
    angles = phases + 0.4 * torch.arange(steps)[:, None]
    return torch.stack([angles.cos(), angles.sin()], dim=2)


def train(steps: int) -> None:
    """Both agents learn in every step; what is said is heard in the next one."""
    torch.manual_seed(0)
    views = [world(steps + 1, walkers=16), world(steps + 1, walkers=16)]
    anna, bert = Agent(), Agent()
    optimizer = torch.optim.Adam([*anna.parameters(), *bert.parameters()], lr=0.01)
    from_anna, from_bert = torch.zeros(16, 4), torch.zeros(16, 4)
    for step in range(steps):
        anna_expects, anna_says = anna(views[0][step], from_bert)
        bert_expects, bert_says = bert(views[1][step], from_anna)
        anna_loss = nn.functional.mse_loss(anna_expects, views[0][step + 1])
        bert_loss = nn.functional.mse_loss(bert_expects, views[1][step + 1])
        optimizer.zero_grad()
        anna_loss.backward()
        bert_loss.backward()
        optimizer.step()
        from_anna, from_bert = anna_says, bert_says
        if step % 30 == 0:
            print(f"step {step + 1}: anna {anna_loss.item():.4f}, bert {bert_loss.item():.4f}")


if __name__ == "__main__":
    train(steps=151)
