"""Domain-adversarial training with a gradient reversal layer: features that tell the class, but not the domain."""
import math

import torch
import torch.nn as nn
import torch.nn.functional as F


class Reverse(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, strength):
        ctx.strength = strength
        return x.view_as(x)

    @staticmethod
    def backward(ctx, grad):
        return -ctx.strength * grad, None


class DANN(nn.Module):
    def __init__(self, inputs, classes, width=24):
        super().__init__()
        self.features = nn.Sequential(nn.Linear(inputs, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU())
        self.label = nn.Linear(width, classes)
        self.domain = nn.Sequential(nn.Linear(width, 16), nn.ReLU(), nn.Linear(16, 2))

    def forward(self, x, strength):
        f = self.features(x)
        return self.label(f), self.domain(Reverse.apply(f, strength))


def domains(n, shift):
    y = torch.randint(3, (n,))
    angle = y * 2 * math.pi / 3
    x = torch.stack([angle.cos(), angle.sin()], 1) + 0.25 * torch.randn(n, 2)
    return torch.cat([x, shift + 0.2 * torch.randn(n, 2)], 1), y


def main(steps=120):
    torch.manual_seed(51)
    model = DANN(4, 3)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    source_domain, target_domain = torch.zeros(48, dtype=torch.long), torch.ones(48, dtype=torch.long)
    for step in range(steps):
        strength = 2 / (1 + math.exp(-5 * step / steps)) - 1
        xs, ys = domains(48, shift=0.0)
        xt, _ = domains(48, shift=1.0)

        optimizer.zero_grad()
        label_logits, source_logits = model(xs, strength)
        loss = F.cross_entropy(label_logits, ys) + F.cross_entropy(source_logits, source_domain)
        loss.backward()
        _, target_logits = model(xt, strength)
        target_loss = F.cross_entropy(target_logits, target_domain)
        target_loss.backward()
        optimizer.step()

        if step % 30 == 29:
            x, y = domains(300, shift=1.0)
            with torch.no_grad():
                accuracy = (model(x, 0.0)[0].argmax(1) == y).float().mean().item()
            print(f"step {step}: source {loss.item():.4f}  target domain {target_loss.item():.4f}  target accuracy {accuracy:.3f}")


if __name__ == "__main__":
    main()
