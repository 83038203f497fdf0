"""Hand key points and per-joint visibility from one backbone.

The two heads have optimizers of their own; the backbone belongs to a third one
and is to learn from both tasks.
"""
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(7)
JOINTS = 5


class Backbone(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 6, 3, padding=1)
        self.conv2 = nn.Conv2d(6, 8, 3, stride=2, padding=1)

    def forward(self, image):
        h = torch.relu(self.conv1(image))
        h = torch.relu(self.conv2(h))
        return h.mean(dim=(2, 3))


def fake_batch(n=16):
    image = torch.rand(n, 1, 12, 12)
    where = torch.rand(n, JOINTS, 2)
    seen = (torch.rand(n, JOINTS) > 0.3).float()
    return image, where, seen


backbone = Backbone()
pose_head = nn.Linear(8, JOINTS * 2)
seen_head = nn.Linear(8, JOINTS)

opts = {
    "backbone": torch.optim.Adam(backbone.parameters(), lr=1e-3),
    "pose": torch.optim.Adam(pose_head.parameters(), lr=5e-3),
    "seen": torch.optim.Adam(seen_head.parameters(), lr=5e-3),
}

for step in range(8):
    image, where, seen = fake_batch()
    code = backbone(image)
    pose = pose_head(code).view(-1, JOINTS, 2)
    visible = seen_head(code)

    pose_loss = ((pose - where).pow(2).sum(-1) * seen).mean()
    seen_loss = F.binary_cross_entropy_with_logits(visible, seen)

    for opt in opts.values():
        opt.zero_grad()
    pose_loss.backward()
    seen_loss.backward()
    for opt in opts.values():
        opt.step()

    if step % 2 == 0:
        print(step, f"pose {pose_loss.item():.4f}", f"seen {seen_loss.item():.4f}")
