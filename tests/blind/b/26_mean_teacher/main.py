"""Mean teacher: consistency between a student and the average of its past weights."""
import copy
import math

import torch
from torch import nn
from torch.nn import functional as F


class AveragedTeacher:
    def __init__(self, student, decay=0.95):
        self.net = copy.deepcopy(student)
        for p in self.net.parameters():
            p.requires_grad_(False)
        self.decay = decay

    def update(self, student):
        for t, s in zip(self.net.parameters(), student.parameters()):
            t.data = self.decay * t.data + (1 - self.decay) * s.data

    def __call__(self, x):
        return self.net(x)


def rampup(step, length=20):
    return math.exp(-5 * (1 - min(step / length, 1.0)) ** 2)


def main():
    torch.manual_seed(26)
    student = nn.Sequential(nn.Linear(6, 16), nn.ReLU(), nn.Linear(16, 3))
    teacher = AveragedTeacher(student)
    opt = torch.optim.SGD(student.parameters(), lr=0.05, momentum=0.9, nesterov=True)
    centre = torch.zeros(3)
    running = 0.0
    for step in range(30):
        y = torch.randint(0, 3, (6,))
        labelled = torch.randn(6, 6) + y.unsqueeze(1)
        unlabelled = torch.randn(12, 6) + 1.0
        supervised = F.cross_entropy(student(labelled), y)
        soft = F.softmax(teacher(unlabelled + 0.05 * torch.randn_like(unlabelled)) - centre, dim=1)
        consistency = F.mse_loss(F.softmax(student(unlabelled), dim=1), soft)
        loss = supervised + rampup(step) * consistency
        opt.zero_grad()
        loss.backward()
        opt.step()
        teacher.update(student)
        centre = 0.9 * centre + 0.1 * teacher(unlabelled).mean(0)
        running = 0.9 * running + 0.1 * loss.item()
        if step % 10 == 0:
            print(f"step {step}: loss {loss.item():.4f} running {running:.4f}")
    print("centre", [round(v, 3) for v in centre.tolist()])


if __name__ == "__main__":
    main()
