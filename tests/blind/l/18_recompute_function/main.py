"""A block that stores nothing but its input: activations are recomputed.

`Recompute` runs the block again in backward, as reversible networks do.  The
script trains a small ladder of such blocks with two terms and needs the gradient
of each term at the output of the stem for a report on how they disagree.
"""
import torch
import torch.nn as nn
import torch.nn.functional as F


class Recompute(torch.autograd.Function):
    @staticmethod
    def forward(ctx, block, x, *params):
        with torch.enable_grad():
            ctx.inner = x.detach().requires_grad_()
            ctx.value = block(ctx.inner)
        ctx.params = params
        return ctx.value.detach()

    @staticmethod
    def backward(ctx, grad_out):
        grads = torch.autograd.grad(ctx.value, (ctx.inner, *ctx.params), grad_out)
        return (None, *grads)


class Block(nn.Module):
    def __init__(self, width):
        super().__init__()
        self.body = nn.Sequential(nn.LayerNorm(width), nn.Linear(width, width), nn.GELU())

    def plain(self, x):
        return x + self.body(x)

    def forward(self, x):
        return Recompute.apply(self.plain, x, *self.parameters())


class Ladder(nn.Module):
    def __init__(self, width=10, depth=2):
        super().__init__()
        self.stem = nn.Linear(6, width)
        self.blocks = nn.ModuleList(Block(width) for _ in range(depth))
        self.kind = nn.Linear(width, 3)
        self.size = nn.Linear(width, 1)

    def forward(self, x):
        stem = self.stem(x)
        h = stem
        for block in self.blocks:
            h = block(h)
        return stem, self.kind(h), self.size(h).squeeze(-1)


def disagreement(terms, at):
    grads = [torch.autograd.grad(t, at, retain_graph=True)[0].flatten() for t in terms]
    return F.cosine_similarity(grads[0], grads[1], dim=0).item()


torch.manual_seed(14)
model = Ladder()
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
for step in range(6):
    x = torch.randn(24, 6)
    kind, size = x[:, :3].argmax(1), x.pow(2).sum(1).sqrt()
    stem, kind_logits, size_hat = model(x)
    terms = F.cross_entropy(kind_logits, kind), F.mse_loss(size_hat, size)
    cosine = disagreement(terms, stem)
    optimizer.zero_grad()
    sum(terms).backward()
    optimizer.step()
    print(step, [round(t.item(), 4) for t in terms], f"cosine {cosine:+.3f}")
