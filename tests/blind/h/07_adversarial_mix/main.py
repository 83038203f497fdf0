"""Adversarial training with FGSM examples: the clean loss and the loss on the disturbed inputs, half and half."""
import torch
import torch.nn as nn
import torch.nn.functional as F


def moons(n):
    t = torch.rand(n) * 3.14159
    y = torch.randint(0, 2, (n,))
    x = torch.stack([torch.cos(t), torch.sin(t)], 1)
    x[y == 1] = torch.tensor([1.0, 0.5]) - x[y == 1]
    return x + 0.08 * torch.randn(n, 2), y


def fgsm(x, loss, eps):
    """A step of size eps for every coordinate along the sign of the loss's gradient."""
    gradient, = torch.autograd.grad(loss, x)
    return (x + eps * gradient.sign()).detach()


def train_step(model, optimizer, x, y, eps=0.1):
    x = x.clone().requires_grad_(True)
    clean_loss = F.cross_entropy(model(x), y)
    x_adv = fgsm(x, clean_loss, eps)
    adv_loss = F.cross_entropy(model(x_adv), y)
    loss = 0.5 * clean_loss + 0.5 * adv_loss

    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return clean_loss.item(), adv_loss.item()


def robust_accuracy(model, x, y, eps=0.1):
    x = x.clone().requires_grad_(True)
    x_adv = fgsm(x, F.cross_entropy(model(x), y), eps)
    with torch.no_grad():
        return (model(x_adv).argmax(1) == y).float().mean().item()


if __name__ == "__main__":
    torch.manual_seed(2)
    x_train, y_train = moons(320)
    x_test, y_test = moons(200)
    model = nn.Sequential(nn.Linear(2, 32), nn.Tanh(), nn.Linear(32, 32), nn.Tanh(), nn.Linear(32, 2))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.3, momentum=0.9)
    print(f"untrained: robust accuracy {robust_accuracy(model, x_test, y_test):.3f}")
    for epoch in range(8):
        pairs = [train_step(model, optimizer, x_train[i], y_train[i]) for i in torch.randperm(320).split(40)]
        clean, adv = (sum(v) / len(v) for v in zip(*pairs))
        accuracy = robust_accuracy(model, x_test, y_test)
        print(f"epoch {epoch}: clean {clean:.4f}  adversarial {adv:.4f}  robust accuracy {accuracy:.3f}")
