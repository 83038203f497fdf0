"""Autoencoder and classifier on one code, each with an optimizer of its own."""
import torch
import torch.nn as nn
import torch.nn.functional as F


class Pipeline:
    def __init__(self, inputs=12, code=5, classes=3):
        self.encoder = nn.Sequential(nn.Linear(inputs, 24), nn.Tanh(), nn.Linear(24, code))
        self.decoder = nn.Sequential(nn.Linear(code, 24), nn.Tanh(), nn.Linear(24, inputs))
        self.classifier = nn.Linear(code, classes)
        auto = list(self.encoder.parameters()) + list(self.decoder.parameters())
        self.opt_auto = torch.optim.SGD(auto, lr=0.1)
        self.opt_cls = torch.optim.SGD(self.classifier.parameters(), lr=0.25)

    def step(self, x, y):
        code = self.encoder(x)
        reconstruction = F.mse_loss(self.decoder(code), x)
        classification = F.cross_entropy(self.classifier(code), y)
        loss = reconstruction + 0.3 * classification

        self.opt_auto.zero_grad()
        loss.backward()
        self.opt_auto.step()
        self.opt_cls.step()
        return {"reconstruction": reconstruction.item(), "classification": classification.item()}


def batches(x, y, size=30):
    for rows in torch.randperm(len(x)).split(size):
        yield x[rows], y[rows]


def clusters(n, classes=3, d=12):
    centers = torch.randn(classes, d)
    y = torch.randint(classes, (n,))
    return centers[y] + 0.6 * torch.randn(n, d), y


def main():
    torch.manual_seed(77)
    x, y = clusters(300)
    pipeline = Pipeline()
    for epoch in range(10):
        logs = [pipeline.step(*batch) for batch in batches(x, y)]
        line = "  ".join(f"{key} {sum(log[key] for log in logs) / len(logs):.4f}" for key in logs[0])
        if epoch % 2 == 1:
            print(f"epoch {epoch}: {line}")


if __name__ == "__main__":
    main()
