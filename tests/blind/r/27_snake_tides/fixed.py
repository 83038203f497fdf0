# Tide heights with the periodic "snake" activation: x + sin^2(a x) / a,
# with one trainable frequency a per feature
import math

import torch
from torch import nn, optim

torch.manual_seed(17)


class Snake(nn.Module):
    """Snake activation with a trainable frequency for each feature."""

    def __init__(self, in_features, a=None):
        super().__init__()
        self.in_features = in_features
        if a is not None:
            init = torch.full((1, in_features), float(a))
        else:
            init = torch.empty(1, in_features).exponential_(0.5)
        self.a = nn.Parameter((init + 1e-2).squeeze())

    def forward(self, x):
        return x + torch.sin(x * self.a) ** 2 / self.a


class TideNet(nn.Module):
    def __init__(self, width=32):
        super().__init__()
        self.inp = nn.Linear(1, width)
        self.act1 = Snake(width, a=1.0)
        self.mid = nn.Linear(width, width)
        self.act2 = Snake(width)
        self.out = nn.Linear(width, 1)

    def forward(self, hours):
        x = self.act1(self.inp(hours))
        x = self.act2(self.mid(x))
        return self.out(x)


# two constituents (M2 and K1) and some noise, over ten days
hours = torch.linspace(0, 240, 480).unsqueeze(1)
height = (1.2 * torch.cos(2 * math.pi * hours / 12.42)
          + 0.4 * torch.cos(2 * math.pi * hours / 23.93 + 0.7))
height = height + 0.05 * torch.randn_like(height)

scaled = hours / 6.0
train_x, train_y = scaled[:360], height[:360]
test_x, test_y = scaled[360:], height[360:]

model = TideNet()
criterion = nn.MSELoss()
optimizer = optim.Adam(model.parameters(), lr=1e-2)
scheduler = optim.lr_scheduler.StepLR(optimizer, step_size=60, gamma=0.5)

for epoch in range(140):
    model.train()
    optimizer.zero_grad()
    pred = model(train_x)
    loss = criterion(pred, train_y)
    loss.backward()
    optimizer.step()
    scheduler.step()

    if epoch % 20 == 0 or epoch == 139:
        model.eval()
        with torch.no_grad():
            test_loss = criterion(model(test_x), test_y)
        print(f"epoch {epoch:3d}  train {loss.item():.4f}  test {test_loss.item():.4f}  "
              f"mean a {model.act1.a.mean().item():.3f} / {model.act2.a.mean().item():.3f}")
