"""Class-incremental learning: two new classes arrive in each session.

The classifier grows when new classes arrive, keeping the rows of the old ones;
backbone and classifier are trained in every session, with a few stored
examples of the old classes mixed in.
"""
import torch
from torch import nn
import torch.nn.functional as F


class GrowingNet(nn.Module):
    def __init__(self, in_dim, feat_dim=32):
        super().__init__()
        self.backbone = nn.Sequential(nn.Linear(in_dim, 64), nn.ReLU(), nn.Linear(64, feat_dim), nn.ReLU())
        self.feat_dim = feat_dim
        self.classifier = nn.Linear(feat_dim, 2)

    @property
    def num_classes(self):
        return self.classifier.out_features

    def add_classes(self, n):
        old = self.classifier
        new = nn.Linear(self.feat_dim, old.out_features + n)
        with torch.no_grad():
            new.weight[:old.out_features] = old.weight
            new.bias[:old.out_features] = old.bias
        self.classifier = new

    def forward(self, x):
        return self.classifier(self.backbone(x))


class Learner:
    def __init__(self, model, lr=0.05):
        self.model = model
        self.optimizer = torch.optim.SGD(model.parameters(), lr=lr)
        self.memory_x = []
        self.memory_y = []

    def before_session(self, session):
        if session > 0:
            self.model.add_classes(2)

    def train_session(self, x, y, epochs=20):
        all_x = torch.cat([x] + self.memory_x)
        all_y = torch.cat([y] + self.memory_y)
        for epoch in range(epochs):
            perm = torch.randperm(len(all_x))
            for idx in perm.split(32):
                loss = F.cross_entropy(self.model(all_x[idx]), all_y[idx])
                self.optimizer.zero_grad()
                loss.backward()
                self.optimizer.step()
        return loss.item()

    def after_session(self, x, y, per_class=30):
        for c in y.unique():
            keep = (y == c).nonzero().flatten()[:per_class]
            self.memory_x.append(x[keep])
            self.memory_y.append(y[keep])

    @torch.no_grad()
    def accuracy(self, x, y):
        return (self.model(x).argmax(1) == y).float().mean().item()


def main():
    torch.manual_seed(906)
    in_dim, sessions = 16, 3
    centers = 0.9 * torch.randn(2 * sessions, in_dim)

    def sample(classes, n):
        y = torch.tensor(classes).repeat(n)
        return centers[y] + 0.8 * torch.randn(len(y), in_dim), y

    learner = Learner(GrowingNet(in_dim))
    for session in range(sessions):
        learner.before_session(session)
        x, y = sample([2 * session, 2 * session + 1], 60)
        loss = learner.train_session(x, y)
        learner.after_session(x, y)
        test_x, test_y = sample(list(range(learner.model.num_classes)), 50)
        print(f"session {session}  classes {learner.model.num_classes}  loss {loss:.4f}"
              f"  acc {learner.accuracy(test_x, test_y):.3f}")


if __name__ == "__main__":
    main()
