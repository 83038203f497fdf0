"""Rigid registration of two scans: find the rotation and the shift that map the
moving image onto the fixed one, by gradient descent on their difference."""
import math

import torch
import torch.nn.functional as F

torch.manual_seed(17)

SIZE = 48


def gaussian_phantom():
    ys, xs = torch.meshgrid(torch.linspace(-1, 1, SIZE), torch.linspace(-1, 1, SIZE), indexing="ij")
    img = torch.zeros(SIZE, SIZE)
    for cx, cy, s in [(0.3, 0.1, 0.25), (-0.35, 0.3, 0.2), (0.0, -0.4, 0.15)]:
        img = img + torch.exp(-((xs - cx) ** 2 + (ys - cy) ** 2) / (2 * s ** 2))
    return img[None, None]


def rigid_warp(img, angle, tx, ty):
    theta = torch.tensor([
        [torch.cos(angle), -torch.sin(angle), tx],
        [torch.sin(angle), torch.cos(angle), ty],
    ])
    grid = F.affine_grid(theta[None], img.shape, align_corners=False)
    return F.grid_sample(img, grid, align_corners=False)


moving = gaussian_phantom()
with torch.no_grad():
    fixed = rigid_warp(moving, torch.tensor(0.35), torch.tensor(0.12), torch.tensor(-0.08))
    fixed = fixed + 0.01 * torch.randn_like(fixed)

angle = torch.zeros((), requires_grad=True)
tx = torch.zeros((), requires_grad=True)
ty = torch.zeros((), requires_grad=True)
optimizer = torch.optim.Adam([angle, tx, ty], lr=0.02)

for it in range(60):
    optimizer.zero_grad()
    warped = rigid_warp(moving, angle, tx, ty)
    loss = F.mse_loss(warped, fixed)
    loss.backward()
    optimizer.step()
    if it % 10 == 0:
        print(f"{it:3d}  mse {loss.item():.6f}  angle {math.degrees(angle.item()):6.2f}"
              f"  shift ({tx.item():.3f}, {ty.item():.3f})")
