"""Calibrate a planar robot arm: find link lengths and joint offsets from
measured tool positions.  The offsets' rotation is asked for by several
functions, so it is memoised.
"""
import torch
import torch.nn as nn


def memo(method):
    """Remember a method's result per argument."""
    store = {}

    def wrapper(self, key):
        if (id(self), key) not in store:
            store[id(self), key] = method(self, key)
        return store[id(self), key]

    return wrapper


class Arm(nn.Module):
    def __init__(self, joints=3):
        super().__init__()
        self.joints = joints
        self.length = nn.Parameter(torch.ones(joints))
        self.offset = nn.Parameter(torch.zeros(joints))

    def mount(self, j):
        c, s = self.offset[j].cos(), self.offset[j].sin()
        return torch.stack([torch.stack([c, -s]), torch.stack([s, c])])

    def forward(self, angles):
        heading = torch.eye(2).expand(len(angles), 2, 2)
        tool = torch.zeros(len(angles), 2)
        for j in range(self.joints):
            c, s = angles[:, j].cos(), angles[:, j].sin()
            turn = torch.stack([torch.stack([c, -s], -1), torch.stack([s, c], -1)], -2)
            heading = heading @ self.mount(j) @ turn
            tool = tool + heading[:, :, 0] * self.length[j]
        return tool

    def crookedness(self):
        return sum((self.mount(j) - torch.eye(2)).pow(2).sum() for j in range(self.joints))


def measure(n=50):
    real = Arm()
    with torch.no_grad():
        real.length.copy_(torch.tensor([1.2, 0.8, 0.5]))
        real.offset.copy_(torch.tensor([0.10, -0.05, 0.2]))
        angles = (torch.rand(n, 3) - 0.5) * 3
        return real, angles, real(angles) + 0.003 * torch.randn(n, 2)


def calibrate(arm, angles, tool, steps=30):
    opt = torch.optim.Adam(arm.parameters(), lr=0.02)
    for step in range(steps):
        opt.zero_grad()
        miss = (arm(angles) - tool).pow(2).sum(-1).mean()
        loss = miss + 1e-3 * arm.crookedness()
        loss.backward()
        opt.step()
        if step % 10 == 0:
            print(step, f"{miss.item():.5f}")
    return arm


if __name__ == "__main__":
    torch.manual_seed(17)
    real, angles, tool = measure()
    arm = calibrate(Arm(), angles, tool)
    print("lengths", [round(v, 3) for v in arm.length.tolist()])
    print("offsets", [round(v, 3) for v in arm.offset.tolist()])
