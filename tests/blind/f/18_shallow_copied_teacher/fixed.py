"""Semi-supervised training with a slowly moving teacher."""
import copy

import torch
import torch.nn as nn
import torch.nn.functional as F


class Net(nn.Module):
    def __init__(self, width=48):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(2, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU())
        self.head = nn.Linear(width, 2)

    def forward(self, x):
        return self.head(self.body(x))


def make_teacher(student):
    """A copy that nobody trains; it follows the student by `follow`."""
    teacher = copy.deepcopy(student)
    for p in teacher.parameters():
        p.requires_grad_(False)
    return teacher.eval()


@torch.no_grad()
def follow(teacher, student, decay):
    for slow, fast in zip(teacher.parameters(), student.parameters()):
        slow.mul_(decay).add_(fast, alpha=1 - decay)


def moons(count):
    angle = torch.pi * torch.rand(count)
    label = torch.arange(count) % 2
    x = torch.where(label == 0, angle.cos(), 1 - angle.cos())
    y = torch.where(label == 0, angle.sin(), 0.5 - angle.sin())
    return torch.stack([x, y], 1) + 0.1 * torch.randn(count, 2), label


torch.manual_seed(20)
points, labels = moons(500)
known = torch.arange(0, 20)
student = Net()
teacher = make_teacher(student)
optimizer = torch.optim.Adam(student.parameters(), lr=5e-3)

for epoch in range(8):
    sums = [0.0, 0.0]
    for rows in torch.randperm(500).split(100):
        supervised = F.cross_entropy(student(points[known]), labels[known])
        noisy = points[rows] + 0.1 * torch.randn(len(rows), 2)
        wanted = teacher(points[rows]).softmax(1)
        consistency = F.mse_loss(student(noisy).softmax(1), wanted)
        loss = supervised + min(1.0, epoch / 4) * consistency
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        follow(teacher, student, decay=0.9)
        sums[0] += supervised.item() / 5
        sums[1] += consistency.item() / 5
    accuracy = (teacher(points).argmax(1) == labels).float().mean().item()
    print(f"epoch {epoch}: supervised {sums[0]:.4f} consistency {sums[1]:.5f} teacher's accuracy {accuracy:.3f}")
