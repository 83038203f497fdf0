"""Free adversarial training: each batch is replayed, and one backward serves the weights and the disturbance at once."""
import torch
import torch.nn as nn
import torch.nn.functional as F

EPS, REPLAYS = 0.08, 3


def spheres(n, d=6):
    y = torch.randint(2, (n,))
    x = F.normalize(torch.randn(n, d), dim=1) * (1.0 + 0.9 * y[:, None])
    return x + 0.05 * torch.randn(n, d), y


class FreeTrainer:
    def __init__(self, model, batch, d=6):
        self.model = model
        self.optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
        self.delta = torch.zeros(batch, d, requires_grad=True)

    def train_batch(self, x, y):
        for _ in range(REPLAYS):
            loss = F.cross_entropy(self.model(x + self.delta), y)
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            with torch.no_grad():
                self.delta += EPS * self.delta.grad.sign()
                self.delta.clamp_(-EPS, EPS)
            self.delta.grad.zero_()
        return loss.item()


def pgd_accuracy(model, x, y, steps=5):
    delta = torch.zeros_like(x)
    for _ in range(steps):
        delta.requires_grad_(True)
        gradient, = torch.autograd.grad(F.cross_entropy(model(x + delta), y), delta)
        delta = (delta.detach() + 0.03 * gradient.sign()).clamp(-EPS, EPS)
    with torch.no_grad():
        return (model(x + delta).argmax(1) == y).float().mean().item()


def main():
    torch.manual_seed(57)
    x, y = spheres(384)
    model = nn.Sequential(nn.Linear(6, 48), nn.ReLU(), nn.Linear(48, 48), nn.ReLU(), nn.Linear(48, 2))
    trainer = FreeTrainer(model, batch=48)
    test = spheres(300)
    for epoch in range(8):
        losses = [trainer.train_batch(x[rows], y[rows]) for rows in torch.randperm(384).split(48)]
        if epoch % 2 == 1:
            print(f"epoch {epoch}: loss {sum(losses) / len(losses):.4f}  accuracy under attack {pgd_accuracy(model, *test):.3f}")


if __name__ == "__main__":
    main()
