"""Typing-rhythm model: predict the next key's delay from the stream so far.

A generator owns the RNN's memory and hands out one prediction per window.  The
memory goes on through the whole session, learning looks at one window only.
"""
import torch
from torch import nn

WINDOW = 12


class DelayNet(nn.Module):
    def __init__(self, hidden=16):
        super().__init__()
        self.rnn = nn.RNN(2, hidden, batch_first=True)
        self.out = nn.Linear(hidden, 1)

    def forward(self, x, memory=None):
        y, memory = self.rnn(x, memory)
        return self.out(y).squeeze(-1), memory


def sessions(how_many, length=61):
    for _ in range(how_many):
        speed = 0.5 + torch.rand(4, 1)
        beat = torch.sin(torch.arange(length) * 0.7) * 0.2
        delays = speed + beat + 0.05 * torch.randn(4, length)
        shift = (torch.rand(4, length) < 0.1).float()
        yield torch.stack([delays, shift], dim=-1)


def windows(net, session):
    memory = None
    usable = session.size(1) - 1
    for start in range(0, usable - WINDOW + 1, WINDOW):
        x = session[:, start:start + WINDOW]
        target = session[:, start + 1:start + WINDOW + 1, 0]
        prediction, memory = net(x, memory)
        yield prediction, target


def main():
    torch.manual_seed(5)
    net = DelayNet()
    opt = torch.optim.RMSprop(net.parameters(), lr=3e-3)
    for number, session in enumerate(sessions(4)):
        errors = []
        for prediction, target in windows(net, session):
            loss = (prediction - target).abs().mean()
            opt.zero_grad()
            loss.backward()
            opt.step()
            errors.append(loss.item())
        print(f"session {number}: {sum(errors) / len(errors):.4f}")


if __name__ == "__main__":
    main()
