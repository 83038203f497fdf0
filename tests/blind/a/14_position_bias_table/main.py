"""Sorting-position task for a small transformer with a continuous position bias."""
import torch
from torch import nn

from attention import BiasedAttention


class Block(nn.Module):
    def __init__(self, width, heads, length):
        super().__init__()
        self.norm1, self.norm2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attn = BiasedAttention(width, heads, length)
        self.mlp = nn.Sequential(nn.Linear(width, 2 * width), nn.GELU(), nn.Linear(2 * width, width))

    def forward(self, x):
        x = x + self.attn(self.norm1(x))
        return x + self.mlp(self.norm2(x))


class Model(nn.Module):
    def __init__(self, vocab=8, width=16, heads=2, length=6, depth=2):
        super().__init__()
        self.embed = nn.Embedding(vocab, width)
        self.blocks = nn.Sequential(*[Block(width, heads, length) for _ in range(depth)])
        self.head = nn.Linear(width, vocab)

    def forward(self, tokens):
        return self.head(self.blocks(self.embed(tokens)))


def batch(gen, size=16, length=6, vocab=8):
    """Every position has to name the token to its left."""
    x = torch.randint(0, vocab, (size, length), generator=gen)
    return x, x.roll(1, dims=1)


def lr_lambda(step):
    return min(1.0, (step + 1) / 5)


def main():
    torch.manual_seed(14)
    gen = torch.Generator().manual_seed(141)
    model = Model()
    opt = torch.optim.AdamW(model.parameters(), lr=0.01)
    sched = torch.optim.lr_scheduler.LambdaLR(opt, lr_lambda)
    for step in range(30):
        x, y = batch(gen)
        loss = nn.functional.cross_entropy(model(x).transpose(1, 2), y)
        opt.zero_grad()
        loss.backward()
        opt.step()
        sched.step()
        if step % 6 == 0 or step == 29:
            print(f"step {step:2d} loss {loss.item():.4f}")


if __name__ == "__main__":
    main()
