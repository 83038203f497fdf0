"""Adversarial training with projected gradient descent on synthetic digits-like vectors."""
import torch
import torch.nn as nn
import torch.nn.functional as F


class PGD:
    def __init__(self, model, eps=0.15, alpha=0.05, steps=4):
        self.model = model
        self.eps = eps
        self.alpha = alpha
        self.steps = steps

    def __call__(self, x, y):
        was_training = self.model.training
        self.model.eval()
        noise = torch.empty_like(x).uniform_(-self.eps, self.eps)
        x_adv = (x + noise).clamp(0, 1)
        for _ in range(self.steps):
            x_adv.requires_grad_(True)
            loss = F.cross_entropy(self.model(x_adv), y)
            (grad,) = torch.autograd.grad(loss, x_adv)
            x_adv = x_adv.detach() + self.alpha * grad.sign()
            x_adv = torch.max(torch.min(x_adv, x + self.eps), x - self.eps).clamp(0, 1)
        self.model.train(was_training)
        return x_adv


def templates(count, classes=4, dim=36):
    base = (torch.rand(classes, dim) > 0.5).float()
    y = torch.randint(0, classes, (count,))
    return (base[y] * 0.6 + 0.2 + 0.15 * torch.randn(count, dim)).clamp(0, 1), y


def build_model(dim=36, classes=4):
    return nn.Sequential(nn.Linear(dim, 48), nn.BatchNorm1d(48), nn.ReLU(), nn.Linear(48, classes))


@torch.no_grad()
def clean_accuracy(model, x, y):
    model.eval()
    return (model(x).argmax(1) == y).float().mean().item()


def train(model, attack, x, y, epochs, lr=0.05, batch_size=64, clean_weight=0.5):
    optimizer = torch.optim.SGD(model.parameters(), lr=lr, momentum=0.9, weight_decay=5e-4)
    for epoch in range(epochs):
        model.train()
        clean_sum = robust_sum = 0.0
        for index in torch.randperm(len(x)).split(batch_size):
            xb, yb = x[index], y[index]
            adversarial = attack(xb, yb)
            optimizer.zero_grad()
            clean = F.cross_entropy(model(xb), yb)
            robust = F.cross_entropy(model(adversarial), yb)
            (clean_weight * clean + (1 - clean_weight) * robust).backward()
            optimizer.step()
            clean_sum += clean.item() * len(index)
            robust_sum += robust.item() * len(index)
        print(f"epoch {epoch}: clean {clean_sum / len(x):.4f} robust {robust_sum / len(x):.4f}")


if __name__ == "__main__":
    torch.manual_seed(17)
    x, y = templates(480)
    model = build_model()
    train(model, PGD(model), x[:384], y[:384], epochs=4)
    print(f"test accuracy {clean_accuracy(model, x[384:], y[384:]):.3f}")
