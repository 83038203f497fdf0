"""Mean teacher: a moving average of the student's weights labels the unlabelled points."""
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.func import functional_call


class WeightAverage:
    """Exponential moving average of the parameters of a module."""

    def __init__(self, module, decay):
        self.module = module
        self.decay = decay
        self.weights = {name: p.detach().clone() for name, p in module.named_parameters()}

    def update(self):
        for name, p in self.module.named_parameters():
            self.weights[name] = torch.lerp(self.weights[name], p.detach(), 1 - self.decay)

    def __call__(self, x):
        return functional_call(self.module, self.weights, (x,))


def rings(count):
    labels = torch.randint(0, 2, (count,))
    radius = 1.0 + labels + 0.15 * torch.randn(count)
    angle = torch.rand(count) * 2 * torch.pi
    return torch.stack([radius * angle.cos(), radius * angle.sin()], dim=1), labels


def augment(x, strength=0.1):
    return x + strength * torch.randn_like(x)


def ramp_up(step, length):
    return min(1.0, step / length)


def main(labelled=40, unlabelled=300, steps=80, batch_size=60, consistency_weight=4.0):
    torch.manual_seed(13)
    x_l, y_l = rings(labelled)
    x_u, _ = rings(unlabelled)
    x_test, y_test = rings(200)
    student = nn.Sequential(nn.Linear(2, 32), nn.ReLU(), nn.Linear(32, 32), nn.ReLU(), nn.Linear(32, 2))
    teacher = WeightAverage(student, decay=0.9)
    optimizer = torch.optim.Adam(student.parameters(), lr=5e-3)
    for step in range(steps):
        batch = x_u[torch.randint(0, unlabelled, (batch_size,))]
        supervised = F.cross_entropy(student(augment(x_l)), y_l)
        believed = F.softmax(teacher(augment(batch)), dim=1)
        consistency = F.mse_loss(F.softmax(student(augment(batch)), dim=1), believed)
        loss = supervised + consistency_weight * ramp_up(step, 30) * consistency
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        teacher.update()
        if step % 20 == 19:
            with torch.no_grad():
                accuracy = (teacher(x_test).argmax(1) == y_test).float().mean().item()
            print(f"step {step + 1}: supervised {supervised.item():.4f} consistency {consistency.item():.5f} teacher {accuracy:.3f}")


if __name__ == "__main__":
    main()
