"""Neural collaborative filtering with the BPR ranking loss.

Adam takes one step per mini-batch of (user, seen item, unseen item) triples on
that mini-batch's loss.  The epoch's mean loss is what the log shows, and the
learning rate is halved when it stops falling.
"""
import torch
import torch.nn as nn
import torch.nn.functional as F


class NeuMF(nn.Module):
    """Generalised matrix factorisation beside a small MLP."""

    def __init__(self, users, items, dim=8):
        super().__init__()
        self.user_gmf = nn.Embedding(users, dim)
        self.item_gmf = nn.Embedding(items, dim)
        self.user_mlp = nn.Embedding(users, dim)
        self.item_mlp = nn.Embedding(items, dim)
        self.mlp = nn.Sequential(nn.Linear(2 * dim, dim), nn.ReLU())
        self.out = nn.Linear(2 * dim, 1, bias=False)
        for emb in (self.user_gmf, self.item_gmf, self.user_mlp, self.item_mlp):
            nn.init.normal_(emb.weight, std=0.1)

    def forward(self, u, i):
        gmf = self.user_gmf(u) * self.item_gmf(i)
        mlp = self.mlp(torch.cat([self.user_mlp(u), self.item_mlp(i)], dim=-1))
        return self.out(torch.cat([gmf, mlp], dim=-1)).squeeze(-1)


class Interactions:
    def __init__(self, users=30, items=40):
        self.users, self.items = users, items
        taste = torch.randn(users, 3) @ torch.randn(3, items)
        self.seen = taste > 1.0
        self.pairs = self.seen.nonzero()

    def batches(self, size, limit):
        order = torch.randperm(len(self.pairs))[:size * limit]
        for chunk in order.split(size):
            u, pos = self.pairs[chunk].t()
            neg = torch.randint(0, self.items, (len(chunk),))
            keep = ~self.seen[u, neg]
            yield u[keep], pos[keep], neg[keep]


def bpr_loss(model, u, pos, neg):
    return -F.logsigmoid(model(u, pos) - model(u, neg)).mean()


class Plateau:
    def __init__(self, optimizer):
        self.optimizer = optimizer
        self.best = float("inf")

    def update(self, value):
        if value < self.best:
            self.best = value
            return
        for group in self.optimizer.param_groups:
            group["lr"] *= 0.5


def train_epoch(model, data, optimizer):
    epoch_loss = 0.0
    count = 0
    for u, pos, neg in data.batches(size=32, limit=8):
        epoch_loss = epoch_loss + bpr_loss(model, u, pos, neg)
        count += 1
        optimizer.zero_grad()
        epoch_loss.backward()
        optimizer.step()
    return float(epoch_loss) / count


def auc(model, data):
    with torch.no_grad():
        u = torch.arange(data.users).repeat_interleave(data.items)
        i = torch.arange(data.items).repeat(data.users)
        score = model(u, i).view(data.users, data.items)
    hits = (score[data.seen].mean() > score[~data.seen]).float().mean()
    return hits.item()


def main():
    torch.manual_seed(29)
    data = Interactions()
    model = NeuMF(data.users, data.items)
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    plateau = Plateau(optimizer)
    for epoch in range(4):
        mean = train_epoch(model, data, optimizer)
        plateau.update(mean)
        print(f"epoch {epoch} bpr {mean:.4f} auc {auc(model, data):.3f}")


if __name__ == "__main__":
    main()
