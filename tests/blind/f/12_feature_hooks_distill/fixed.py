"""Distil a wide network into a narrow one by its intermediate features, taken with forward hooks."""
import torch
import torch.nn as nn
import torch.nn.functional as F


def mlp(width):
    return nn.Sequential(
        nn.Linear(24, width), nn.ReLU(),
        nn.Linear(width, width), nn.ReLU(),
        nn.Linear(width, width), nn.ReLU(),
        nn.Linear(width, 5),
    )


class Tap:
    """Keeps what some layers of a network give out."""

    def __init__(self, net, layers):
        self.features = []
        self.handles = [net[i].register_forward_hook(self._keep) for i in layers]

    def _keep(self, module, args, output):
        self.features.append(output)


def pretrain(teacher, x, y):
    optimizer = torch.optim.Adam(teacher.parameters(), lr=3e-3)
    for _ in range(30):
        optimizer.zero_grad()
        F.cross_entropy(teacher(x), y).backward()
        optimizer.step()
    return teacher.eval().requires_grad_(False)


def main():
    torch.manual_seed(6)
    x = torch.randn(400, 24)
    y = (x[:, :5] + 0.5 * x[:, 5:10] ** 2).argmax(1)
    teacher, student = pretrain(mlp(96), x, y), mlp(24)
    layers = [1, 3, 5]
    taught, learned = Tap(teacher, layers), Tap(student, layers)
    project = nn.ModuleList(nn.Linear(24, 96) for _ in layers)
    optimizer = torch.optim.Adam([*student.parameters(), *project.parameters()], lr=3e-3)

    for epoch in range(6):
        sums = {"label": 0.0, "soft": 0.0, "feature": 0.0}
        for rows in torch.randperm(400).split(50):
            taught.features.clear()
            learned.features.clear()
            with torch.no_grad():
                soft = F.softmax(teacher(x[rows]) / 2, dim=1)
            logits = student(x[rows])

            label = F.cross_entropy(logits, y[rows])
            kl = F.kl_div(F.log_softmax(logits / 2, dim=1), soft, reduction="batchmean")
            pairs = zip(learned.features, taught.features)
            gaps = [F.mse_loss(project[i % 3](s), t) for i, (s, t) in enumerate(pairs)]
            feature = sum(gaps) / len(gaps)

            loss = label + kl + feature
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            for name, value in (("label", label), ("soft", kl), ("feature", feature)):
                sums[name] += value.item() / 8
        print(f"epoch {epoch}: " + ", ".join(f"{name} {value:.4f}" for name, value in sums.items()))


main()
