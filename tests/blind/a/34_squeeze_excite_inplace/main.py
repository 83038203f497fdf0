"""Small residual CNN with squeeze-and-excitation on synthetic textures."""
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

from blocks import SEBlock


class SENet(nn.Module):
    def __init__(self, classes=3, width=8):
        super().__init__()
        self.stem = nn.Conv2d(1, width, 3, padding=1)
        self.stages = nn.ModuleList([SEBlock(width), SEBlock(width)])
        self.head = nn.Linear(width, classes)

    def forward(self, x):
        x = self.stem(x)
        for stage in self.stages:
            x = stage(x)
        return self.head(x.mean(dim=(2, 3)))


def textures(n=48, size=8):
    y = torch.arange(n) % 3
    grid = torch.arange(size).float()
    rows = torch.sin(1.6 * grid)[:, None].expand(size, size)
    base = torch.stack([rows, rows.t(), (rows + rows.t()) / 2])
    return TensorDataset(base[y][:, None] + 0.4 * torch.randn(n, 1, size, size), y)


def accuracy(model, data):
    model.eval()
    with torch.no_grad():
        x, y = data.tensors
        return (model(x).argmax(1) == y).float().mean().item()


def main():
    torch.manual_seed(34)
    data = textures()
    loader = DataLoader(data, batch_size=12, shuffle=True)
    model = SENet()
    opt = torch.optim.AdamW(model.parameters(), lr=0.01, weight_decay=1e-3)
    sched = torch.optim.lr_scheduler.OneCycleLR(opt, max_lr=0.02, total_steps=6 * len(loader))
    for epoch in range(6):
        model.train()
        total = 0.0
        for x, y in loader:
            loss = nn.functional.cross_entropy(model(x), y)
            opt.zero_grad()
            loss.backward()
            opt.step()
            sched.step()
            total += loss.item()
        print(f"epoch {epoch}: loss {total / len(loader):.4f} acc {accuracy(model, data):.3f}")


if __name__ == "__main__":
    main()
