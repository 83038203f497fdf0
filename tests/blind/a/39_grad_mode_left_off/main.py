"""Train / validate / early stop; two stages (head only, then everything)."""
import copy
import os

import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


class Net(nn.Module):
    def __init__(self, d=10, width=16):
        super().__init__()
        self.backbone = nn.Sequential(nn.Linear(d, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU())
        self.head = nn.Linear(width, 1)

    def forward(self, x, frozen):
        if frozen:
            with torch.no_grad():
                h = self.backbone(x)
        else:
            h = self.backbone(x)
        return self.head(h).squeeze(1)


def train_epoch(model, loader, opt, frozen):
    model.train()
    total = 0.0
    for x, y in loader:
        opt.zero_grad()
        loss = nn.functional.mse_loss(model(x, frozen), y)
        loss.backward()
        opt.step()
        total += loss.item()
    return total / len(loader)


def validate(model, loader):
    model.eval()
    torch.set_grad_enabled(False)
    total = 0.0
    for x, y in loader:
        total += nn.functional.mse_loss(model(x, frozen=True), y).item()
    return total / len(loader)


def main():
    torch.manual_seed(39)
    x = torch.randn(72, 10)
    y = (x[:, 0] * x[:, 1]).tanh() + 0.3 * x[:, 2]
    train_loader = DataLoader(TensorDataset(x[:56], y[:56]), batch_size=14, shuffle=True)
    valid_loader = DataLoader(TensorDataset(x[56:], y[56:]), batch_size=16)
    model = Net()
    opt = torch.optim.Adam([{"params": model.head.parameters(), "lr": 2e-2},
                            {"params": model.backbone.parameters(), "lr": 5e-3}])
    best, best_state, patience = float("inf"), None, 0
    for epoch in range(7):
        frozen = epoch < 2
        train_loss = train_epoch(model, train_loader, opt, frozen)
        valid_loss = validate(model, valid_loader)
        if valid_loss < best:
            best, best_state, patience = valid_loss, copy.deepcopy(model.state_dict()), 0
        else:
            patience += 1
        print(f"epoch {epoch} {'head' if frozen else 'full'}: train {train_loss:.4f} valid {valid_loss:.4f}")
        if patience == 4:
            break
    os.makedirs("out", exist_ok=True)
    torch.save(best_state, "out/best.pt")


if __name__ == "__main__":
    main()
