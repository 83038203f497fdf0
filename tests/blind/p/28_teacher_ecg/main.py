"""Semi-supervised heartbeat classifier with a mean teacher.

Few beats have labels. On the unlabelled ones the student has to agree with the
teacher, which is the same network with moving-average weights and which sees
another noisy copy of the beat. The teacher's output is a fixed target.
"""
import torch
import torch.nn as nn
import torch.nn.functional as F

from ema import WeightAverage

torch.manual_seed(23)

LENGTH, CLASSES = 48, 3


def beats(n):
    y = torch.randint(0, CLASSES, (n,))
    t = torch.linspace(-1, 1, LENGTH)
    width = torch.tensor([0.05, 0.12, 0.3])[y].unsqueeze(1)
    x = torch.exp(-((t - 0.2 * torch.randn(n, 1)) / width) ** 2)
    return x + 0.1 * torch.randn(n, LENGTH), y


def jitter(x):
    return x * (1 + 0.1 * torch.randn(len(x), 1)) + 0.1 * torch.randn_like(x)


class MeanTeacher:
    def __init__(self, net, lr=3e-3, ramp=30, weight=2.0):
        self.net = net
        self.ema = WeightAverage(net)
        self.optimizer = torch.optim.Adam(net.parameters(), lr=lr)
        self.ramp = ramp
        self.weight = weight
        self.steps = 0

    def consistency_weight(self):
        return self.weight * min(1.0, self.steps / self.ramp)

    def step(self, x_labelled, y, x_unlabelled):
        student_view = jitter(x_unlabelled)
        teacher_view = jitter(x_unlabelled)

        supervised = F.cross_entropy(self.net(jitter(x_labelled)), y)
        student = self.net(student_view).softmax(-1)

        with self.ema.average_parameters() as teacher, torch.no_grad():
            target = teacher(teacher_view).softmax(-1)

        loss = supervised + self.consistency_weight() * F.mse_loss(student, target)
        self.optimizer.zero_grad()
        loss.backward()
        self.optimizer.step()
        self.ema.update()
        self.steps += 1
        return supervised.item()


x_labelled, y_labelled = beats(24)
x_unlabelled, _ = beats(240)
x_test, y_test = beats(200)
net = nn.Sequential(nn.Linear(LENGTH, 64), nn.ReLU(), nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, CLASSES))
trainer = MeanTeacher(net)

for epoch in range(12):
    for idx in torch.randperm(len(x_unlabelled)).split(48):
        supervised = trainer.step(x_labelled, y_labelled, x_unlabelled[idx])
    with trainer.ema.average_parameters() as teacher, torch.no_grad():
        accuracy = (teacher(x_test).argmax(-1) == y_test).float().mean().item()
    print(f"epoch {epoch:2d}  supervised {supervised:.4f}  teacher accuracy {accuracy:.3f}")
