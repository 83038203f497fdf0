"""Anomaly scores for a stream of sensor windows."""
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from fixed_encoder import Backbone
from engine import fit_window, reset


class SensorNet(nn.Module):
    def __init__(self, n_channels=3, width=10):
        super().__init__()
        self.backbone = Backbone(n_channels, width)
        self.head = nn.Sequential(nn.Linear(width, width), nn.GELU(), nn.Linear(width, n_channels))

    def forward(self, window):
        return self.head(self.backbone(window))


def make_stream(n_windows=8, batch=4, length=9):
    t = torch.arange(n_windows * length).float()
    phase = torch.rand(batch, 1, 3) * 3
    signal = torch.sin(0.2 * t[None, :, None] + phase) + 0.05 * torch.randn(batch, len(t), 3)
    windows = signal.view(batch, n_windows, length, 3).transpose(0, 1).flatten(0, 1)
    return TensorDataset(windows[:, :-1], windows[:, 1:])


def main():
    torch.manual_seed(2)
    # batch i holds window i of every sensor, in order
    loader = DataLoader(make_stream(), batch_size=4, shuffle=False)
    model = SensorNet()
    opt = torch.optim.AdamW(model.parameters(), lr=0.01)
    sched = torch.optim.lr_scheduler.StepLR(opt, step_size=2, gamma=0.5)
    for epoch in range(4):
        reset(model)
        total = 0.0
        for window, target in loader:
            total += fit_window(model, opt, window, target)
        sched.step()
        print(f"epoch {epoch}  mse {total / len(loader):.4f}  lr {sched.get_last_lr()[0]:.4f}")


if __name__ == "__main__":
    main()
