"""Self-distillation without labels: student, moving-average teacher, centred outputs."""
import copy

import torch
from torch import nn

from dino import DINOLoss


class Backbone(nn.Module):
    def __init__(self, n_in, n_out):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(n_in, 24), nn.GELU(), nn.Linear(24, 24), nn.GELU())
        self.last = nn.Linear(24, n_out, bias=False)

    def forward(self, x):
        return self.last(nn.functional.normalize(self.body(x), dim=-1))


def augment(x, gen):
    noise = 0.2 * torch.randn(x.shape, generator=gen)
    keep = (torch.rand(x.shape, generator=gen) > 0.1).float()
    return (x + noise) * keep


@torch.no_grad()
def update_teacher(student, teacher, momentum):
    for ps, pt in zip(student.parameters(), teacher.parameters()):
        pt.mul_(momentum).add_(ps, alpha=1 - momentum)


def train_one_epoch(student, teacher, dino_loss, loader, optimizer, gen):
    total = 0.0
    for x in loader:
        views = [augment(x, gen) for _ in range(2)]
        teacher_output = teacher(torch.cat(views))
        student_output = student(torch.cat(views))
        loss = dino_loss(student_output, teacher_output)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        update_teacher(student, teacher, momentum=0.95)
        total += loss.item()
    return total / len(loader)


def main():
    torch.manual_seed(64)
    gen = torch.Generator().manual_seed(65)
    data = torch.randn(6, 10).repeat_interleave(8, dim=0) + 0.1 * torch.randn(48, 10)
    loader = data[torch.randperm(48)].split(12)
    student = Backbone(10, 8)
    teacher = copy.deepcopy(student)
    dino_loss = DINOLoss(8, student_temp=0.2, teacher_temp=0.1)
    optimizer = torch.optim.AdamW(student.parameters(), lr=3e-3)
    for epoch in range(4):
        loss = train_one_epoch(student, teacher, dino_loss, loader, optimizer, gen)
        print(f"epoch {epoch} loss {loss:.4f} centre {dino_loss.center.norm().item():.4f}")


if __name__ == "__main__":
    main()
