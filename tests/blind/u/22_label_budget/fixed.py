"""Pool-based active learning: ask for the labels of the most uncertain samples, then train again."""
import torch
import torch.nn.functional as F
from torch import nn

SEED = 13
ROUNDS = 4
QUERY = 16
STEPS_PER_ROUND = 10


def make_pool(n=400, dim=8, classes=3):
    gen = torch.Generator().manual_seed(SEED)
    centres = 2.0 * torch.randn(classes, dim, generator=gen)
    labels = torch.randint(0, classes, (n,), generator=gen)
    return centres[labels] + torch.randn(n, dim, generator=gen), labels


class Classifier(nn.Module):
    def __init__(self, dim=8, classes=3):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(dim, 32), nn.ReLU(), nn.Dropout(0.2))
        self.out = nn.Linear(32, classes)

    def forward(self, x):
        return self.out(self.body(x))


class Pool:
    """The samples, and which of them the annotators have seen."""

    def __init__(self, x, y, start):
        self.x, self.oracle = x, y
        self.labelled = torch.zeros(len(x), dtype=torch.bool)
        self.labelled[:start] = True

    def train_set(self):
        return self.x[self.labelled], self.oracle[self.labelled]

    def unlabelled(self):
        return (~self.labelled).nonzero().squeeze(1)

    def ask(self, indices):
        self.labelled[indices] = True


def entropy_scores(model, x):
    model.eval()
    with torch.no_grad():
        probs = model(x).softmax(dim=-1)
    return -(probs * probs.clamp_min(1e-8).log()).sum(dim=-1)


def fit(model, optimizer, x, y):
    model.train()
    for _ in range(STEPS_PER_ROUND):
        idx = torch.randint(0, len(x), (16,))
        loss = F.cross_entropy(model(x[idx]), y[idx])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    return loss.item()


def accuracy(model, x, y):
    model.eval()
    with torch.no_grad():
        return (model(x).argmax(dim=-1) == y).float().mean().item()


def main():
    torch.manual_seed(SEED)
    x, y = make_pool()
    pool = Pool(x[:300], y[:300], start=QUERY)
    x_test, y_test = x[300:], y[300:]
    model = Classifier()
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    for r in range(ROUNDS):
        loss = fit(model, optimizer, *pool.train_set())
        acc = accuracy(model, x_test, y_test)
        print(f"round {r}: labels {int(pool.labelled.sum())} loss {loss:.4f} test accuracy {acc:.3f}")
        rest = pool.unlabelled()
        scores = entropy_scores(model, pool.x[rest])
        pool.ask(rest[scores.topk(QUERY).indices])


if __name__ == "__main__":
    main()
