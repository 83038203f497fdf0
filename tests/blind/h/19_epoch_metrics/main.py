"""Binary classifier with a metrics object that collects the scores of the training batches."""
import torch
import torch.nn as nn


class Metrics:
    """Scores and labels of all batches; auc() works on the last `window` batches."""

    def __init__(self, window=10):
        self.window = window
        self.scores = []
        self.labels = []

    def update(self, scores, labels):
        self.scores.append(scores)
        self.labels.append(labels)

    def auc(self):
        scores = torch.cat(self.scores[-self.window:])
        labels = torch.cat(self.labels[-self.window:])
        positive, negative = scores[labels == 1], scores[labels == 0]
        return (positive[:, None] > negative[None, :]).float().mean().item()


class ClickModel(nn.Module):
    def __init__(self, users=30, items=40, dim=8):
        super().__init__()
        self.user = nn.Embedding(users, dim)
        self.item = nn.Embedding(items, dim)
        self.tower = nn.Sequential(nn.Linear(2 * dim, 24), nn.ReLU(), nn.Linear(24, 1))

    def forward(self, user, item):
        return self.tower(torch.cat([self.user(user), self.item(item)], 1)).squeeze(1)


def clicks(n, taste, appeal):
    user, item = torch.randint(30, (n,)), torch.randint(40, (n,))
    p = torch.sigmoid((taste[user] * appeal[item]).sum(1))
    return user, item, torch.bernoulli(p)


def main():
    torch.manual_seed(90)
    taste, appeal = 1.5 * torch.randn(30, 3), 1.5 * torch.randn(40, 3)
    model = ClickModel()
    optimizer = torch.optim.Adam(model.parameters(), lr=3e-2)
    criterion = nn.BCEWithLogitsLoss()
    metrics = Metrics()
    for step in range(1, 101):
        user, item, clicked = clicks(64, taste, appeal)
        scores = model(user, item)
        loss = criterion(scores, clicked)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        metrics.update(scores, clicked)
        if step % 20 == 0:
            print(f"step {step:3d}  loss {loss.item():.4f}  auc {metrics.auc():.3f}")


if __name__ == "__main__":
    main()
