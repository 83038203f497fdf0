"""Fast-weight network on a key/value recall stream; the carry is a dataclass."""
from dataclasses import dataclass, replace

import torch
from torch import Tensor, nn


@dataclass(frozen=True)
class Carry:
    hidden: Tensor
    fast: Tensor
    step: int = 0


class FastWeights(nn.Module):
    def __init__(self, d=8, decay=0.9):
        super().__init__()
        self.d, self.decay = d, decay
        self.inp = nn.Linear(2 * d, d)
        self.rec = nn.Linear(d, d)
        self.key = nn.Linear(d, d, bias=False)
        self.val = nn.Linear(d, d, bias=False)
        self.out = nn.Linear(2 * d, d)

    def initial(self, batch):
        return Carry(torch.zeros(batch, self.d), torch.zeros(batch, self.d, self.d))

    def forward(self, x, carry):
        h = torch.tanh(self.inp(x) + self.rec(carry.hidden))
        k, v = torch.softmax(self.key(h), -1), self.val(h)
        read = torch.einsum("bij,bj->bi", carry.fast, k)
        fast = self.decay * carry.fast + torch.einsum("bi,bj->bij", v - read, k)
        y = self.out(torch.cat([h, read], -1))
        return y, replace(carry, hidden=h, fast=fast, step=carry.step + 1)


def stream(n_chunks, chunk, batch, d, gen):
    keys = torch.randn(4, d, generator=gen)
    vals = torch.randn(4, d, generator=gen)
    for _ in range(n_chunks):
        idx = torch.randint(0, 4, (chunk, batch), generator=gen)
        yield torch.cat([keys[idx], vals[idx]], -1), vals[idx]


def train(chunks=12, chunk=5, batch=4, d=8):
    torch.manual_seed(5)
    gen = torch.Generator().manual_seed(55)
    model = FastWeights(d)
    optimizer = torch.optim.RMSprop(model.parameters(), lr=5e-3)
    carry = model.initial(batch)
    for c, (xs, ys) in enumerate(stream(chunks, chunk, batch, d, gen)):
        loss = torch.zeros(())
        for x, y in zip(xs, ys):
            pred, carry = model(x, carry)
            loss = loss + nn.functional.mse_loss(pred, y) / chunk
        optimizer.zero_grad()
        loss.backward()
        norm = nn.utils.clip_grad_norm_(model.parameters(), 5.0)
        optimizer.step()
        print(f"chunk {c:2d} step {carry.step:3d} loss {loss.item():.4f} |g| {norm.item():.3f}")


if __name__ == "__main__":
    train()
