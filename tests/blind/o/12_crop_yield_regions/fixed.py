"""Crop yield from weather, one model for all regions; the report at the end says the mean
training loss in every region over the whole run."""
from collections import defaultdict
import torch
from torch import nn

torch.manual_seed(5)

REGIONS = ["north", "coast", "valley"]
model = nn.Sequential(nn.Linear(6, 24), nn.ReLU(), nn.Linear(24, 1))
opt = torch.optim.AdamW(model.parameters(), lr=5e-3)
mse = nn.MSELoss()

w = torch.randn(6)
data = {}
for k, region in enumerate(REGIONS):
    x = torch.randn(120, 6)
    data[region] = (x, (x @ w + 0.3 * k + 0.1 * torch.randn(120)).unsqueeze(1))

loss_sum = defaultdict(float)
count = defaultdict(int)

for epoch in range(3):
    for i in range(0, 120, 30):
        for region in REGIONS:
            x, y = data[region]
            pred = model(x[i:i + 30])
            loss = mse(pred, y[i:i + 30])
            opt.zero_grad()
            loss.backward()
            opt.step()
            # for the report
            loss_sum[region] += loss.item()
            count[region] += 1
    print(f"epoch {epoch} done")

for region in REGIONS:
    print(f"{region:8s} mean loss {loss_sum[region] / count[region]:.4f}")
