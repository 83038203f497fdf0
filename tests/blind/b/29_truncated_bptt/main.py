"""Truncated back-propagation through time: a loss every step, one pass every five."""
import torch
from torch import nn


class Cell(nn.Module):
    def __init__(self, width=8):
        super().__init__()
        self.cell = nn.LSTMCell(2, width)
        self.out = nn.Linear(width, 1)

    def forward(self, x, state):
        h, c = self.cell(x, state)
        return self.out(h), (h, c)


def stream(length, batch):
    memory = torch.zeros(batch, 1)
    for _ in range(length):
        bit = torch.randint(0, 2, (batch, 1)).float()
        flag = (torch.rand(batch, 1) < 0.3).float()
        memory = torch.where(flag > 0, bit, memory)
        yield torch.cat([bit, flag], 1), memory


def main():
    torch.manual_seed(29)
    model = Cell()
    opt = torch.optim.RMSprop(model.parameters(), lr=5e-3)
    state, window, shown = None, 0.0, 0.0
    for t, (x, y) in enumerate(stream(60, 6), start=1):
        pred, state = model(x, state)
        window = window + nn.functional.binary_cross_entropy_with_logits(pred, y)
        if t % 5 == 0:
            opt.zero_grad()
            window.backward()
            nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            opt.step()
            shown += window.item()
            window = 0.0
            state = tuple(s.detach() for s in state)
        if t % 20 == 0:
            print(f"t {t}: mean loss {shown / 20:.4f}")
            shown = 0.0


if __name__ == "__main__":
    main()
