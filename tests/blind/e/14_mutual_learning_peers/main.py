"""Deep mutual learning: two students of different width teach each other while they learn the labels."""
import torch
import torch.nn as nn
import torch.nn.functional as F


def spirals(count, classes=3):
    labels = torch.arange(count) % classes
    r = torch.rand(count) * 2
    angle = 1.5 * r + labels * (2 * torch.pi / classes) + 0.1 * torch.randn(count)
    return torch.stack([r * angle.cos(), r * angle.sin()], dim=1), labels


def student(width):
    return nn.Sequential(nn.Linear(2, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU(), nn.Linear(width, 3))


def mimicry(logits, peer_logits, temperature):
    """How far a student is from what its peer believes."""
    log_p = F.log_softmax(logits / temperature, dim=1)
    q = F.softmax(peer_logits / temperature, dim=1)
    return F.kl_div(log_p, q, reduction="batchmean") * temperature ** 2


class MutualTrainer:
    def __init__(self, students, lr=1e-2, temperature=2.0, weight=0.5):
        self.students = students
        self.optimizers = [torch.optim.Adam(s.parameters(), lr=lr) for s in students]
        self.temperature = temperature
        self.weight = weight

    def step(self, x, y):
        outputs = [s(x) for s in self.students]
        losses = []
        for i, logits in enumerate(outputs):
            supervised = F.cross_entropy(logits, y)
            social = mimicry(logits, outputs[1 - i], self.temperature)
            losses.append(supervised + self.weight * social)
        for optimizer, loss in zip(self.optimizers, losses):
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        return [loss.item() for loss in losses]

    @torch.no_grad()
    def accuracies(self, x, y):
        return [(s(x).argmax(1) == y).float().mean().item() for s in self.students]

    def fit(self, train, test, epochs, batch_size=50):
        x, y = train
        for epoch in range(epochs):
            sums = torch.zeros(2)
            for index in torch.randperm(len(x)).split(batch_size):
                sums += torch.tensor(self.step(x[index], y[index]))
            means = (sums * batch_size / len(x)).tolist()
            first, second = self.accuracies(*test)
            print(f"epoch {epoch}: losses {means[0]:.4f} {means[1]:.4f}  accuracy {first:.2f} {second:.2f}")


if __name__ == "__main__":
    torch.manual_seed(64)
    x, y = spirals(500)
    MutualTrainer([student(32), student(12)]).fit((x[:400], y[:400]), (x[400:], y[400:]), epochs=6)
