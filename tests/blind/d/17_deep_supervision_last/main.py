"""Depth from little pictures, with supervision at every level of the decoder."""
import torch
import torch.nn.functional as F
from torch import nn


class DepthNet(nn.Module):
    def __init__(self, ch=6):
        super().__init__()
        self.down1 = nn.Conv2d(3, ch, 3, stride=2, padding=1)
        self.down2 = nn.Conv2d(ch, ch * 2, 3, stride=2, padding=1)
        self.up1 = nn.Conv2d(ch * 2, ch, 3, padding=1)
        self.up2 = nn.Conv2d(ch, ch, 3, padding=1)
        self.disp4 = nn.Conv2d(ch * 2, 1, 1)
        self.disp2 = nn.Conv2d(ch, 1, 1)
        self.disp1 = nn.Conv2d(ch, 1, 1)

    def forward(self, x):
        d1 = F.elu(self.down1(x))
        d2 = F.elu(self.down2(d1))
        u1 = F.elu(self.up1(F.interpolate(d2, scale_factor=2))) + d1
        u2 = F.elu(self.up2(F.interpolate(u1, scale_factor=2)))
        return [self.disp4(d2), self.disp2(u1), self.disp1(u2)]


def multiscale_loss(outputs, depth, weights=(0.25, 0.5, 1.0)):
    for output, weight in zip(outputs, weights):
        target = F.adaptive_avg_pool2d(depth, output.shape[-2:])
        loss = weight * F.smooth_l1_loss(output, target)
    return loss


def scenes(n, side=8):
    ramp = torch.linspace(0, 1, side).view(1, 1, side, 1).expand(n, 1, side, side)
    depth = ramp * (0.5 + torch.rand(n, 1, 1, 1))
    picture = torch.cat([depth, 1 - depth, depth ** 2], dim=1)
    return picture + 0.05 * torch.randn(n, 3, side, side), depth


def run(epochs=5):
    torch.manual_seed(55)
    pictures, depths = scenes(24)
    model = DepthNet()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.01)
    for epoch in range(epochs):
        for picture, depth in zip(pictures.split(8), depths.split(8)):
            optimizer.zero_grad()
            outputs = model(picture)
            loss = multiscale_loss(outputs, depth)
            loss.backward()
            optimizer.step()
        coarse = F.l1_loss(outputs[0], F.adaptive_avg_pool2d(depth, outputs[0].shape[-2:]))
        print(f"epoch {epoch}: loss {loss.item():.4f}, coarse error {coarse.item():.4f}")


if __name__ == "__main__":
    run()
