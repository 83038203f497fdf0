"""Robust ground plane from a lidar sweep, by iteratively reweighted least squares.

IRLS: with the weights w_i = 1 / max(|r_i|, eps) held FIXED, minimise sum w_i r_i^2 for a
few steps; then compute new weights from the residuals of the current plane; repeat.
This reaches the L1 plane, which does not care about cars and trees (the outliers).
"""
import torch
from torch import nn


def sweep(n=300, outliers=0.25):
    xy = torch.rand(n, 2) * 20 - 10
    z = 0.08 * xy[:, 0] - 0.03 * xy[:, 1] + 0.5 + 0.02 * torch.randn(n)
    hit = torch.rand(n) < outliers
    z = z + hit.float() * torch.rand(n) * 4
    return xy / 10.0, z


class Plane(nn.Module):
    def __init__(self):
        super().__init__()
        self.coef = nn.Linear(2, 1)

    def residual(self, xy, z):
        return self.coef(xy).squeeze(1) - z


class IRLS:
    def __init__(self, plane, inner=5, outer=6, eps=1e-2):
        self.plane, self.inner, self.outer, self.eps = plane, inner, outer, eps
        self.opt = torch.optim.SGD(plane.parameters(), lr=0.2)

    def new_weights(self, xy, z):
        r = self.plane.residual(xy, z)
        w = 1.0 / r.abs().clamp(min=self.eps)
        return (w / w.sum()).detach()

    def run(self, xy, z):
        w = torch.full_like(z, 1.0 / len(z))        # first round: ordinary least squares
        for o in range(self.outer):
            for _ in range(self.inner):
                r = self.plane.residual(xy, z)
                objective = (w * r ** 2).sum()
                self.opt.zero_grad()
                objective.backward()
                self.opt.step()
            w = self.new_weights(xy, z)
            print(f"round {o}: objective {objective.item():.5f}  L1 {r.abs().mean().item():.4f}")


torch.manual_seed(13)
xy, z = sweep()
plane = Plane()
IRLS(plane).run(xy, z)
print("plane:", [round(v, 3) for v in plane.coef.weight[0].tolist()], round(plane.coef.bias.item(), 3))
