"""Self-distillation of leaf outlines without labels (a small DINO).

Student and teacher have the same shape.  The teacher is the slow average of the
student; its outputs, centred and sharpened, are the student's targets.
"""
import copy
import math

import torch
from torch import nn
from torch.nn import functional as F

torch.manual_seed(66)

RAYS, CODES = 32, 10


def leaves(count):
    """Radius of the outline along 32 rays; lobes and pointedness vary."""
    angle = torch.linspace(0, 2 * math.pi, RAYS + 1)[:-1]
    lobes = torch.randint(1, 5, (count, 1)).float()
    depth = 0.1 + 0.4 * torch.rand(count, 1)
    return 1 + depth * torch.cos(lobes * angle)


def look(outline):
    """A view: turned, resized and a bit noisy."""
    turn = int(torch.randint(RAYS, (1,)))
    size = 0.8 + 0.4 * torch.rand(len(outline), 1)
    return size * outline.roll(turn, dims=1) + 0.05 * torch.randn_like(outline)


class Viewer(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv1d(1, 12, 5, padding=2, padding_mode="circular")
        self.code = nn.Linear(12, CODES)

    def forward(self, outline):
        x = F.gelu(self.conv(outline.unsqueeze(1)))
        return self.code(F.layer_norm(x.amax(-1), (12,)))


class Distiller(nn.Module):
    def __init__(self, keep=0.9):
        super().__init__()
        self.student = Viewer()
        self.teacher = copy.deepcopy(self.student)
        for p in self.teacher.parameters():
            p.requires_grad = False
        self.keep = keep
        self.register_buffer("centre", torch.zeros(CODES))

    def forward(self, one, two):
        cost = 0
        spoken = []
        for mine, other in ((one, two), (two, one)):
            said = self.teacher(other)
            target = F.softmax((said - self.centre) / 0.1, dim=1)
            guess = F.log_softmax(self.student(mine) / 0.2, dim=1)
            cost = cost - (target * guess).sum(1).mean() / 2
            spoken.append(said)
        self.centre.lerp_(torch.cat(spoken).mean(0), 0.1)
        return cost

    @torch.no_grad()
    def follow(self):
        for slow, fast in zip(self.teacher.parameters(), self.student.parameters()):
            slow.mul_(self.keep).add_(fast, alpha=1 - self.keep)


def main():
    distiller = Distiller()
    opt = torch.optim.AdamW(distiller.student.parameters(), lr=1e-3)
    for step in range(30):
        outline = leaves(48)
        cost = distiller(look(outline), look(outline))
        opt.zero_grad(set_to_none=True)
        cost.backward()
        opt.step()
        distiller.follow()
        if step % 10 == 9:
            used = distiller.teacher(leaves(100)).argmax(1).unique().numel()
            print(f"step {step + 1}: cost {cost.item():.3f}, codes in use {used}")


if __name__ == "__main__":
    main()
