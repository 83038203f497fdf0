"""Fill the gaps of a table of vegetable prices."""
import torch
import torch.nn as nn

torch.manual_seed(81)

prices = torch.rand(180, 1) * 3 + torch.randn(180, 9) * 0.2
missing = torch.rand(180, 9) < 0.25


class Filler(nn.Module):
    def __init__(self):
        super().__init__()
        self.inward = nn.Linear(18, 32)
        self.outward = nn.Linear(32, 9)
        self.level = nn.Parameter(torch.zeros(9))

    def forward(self, table, gaps):
        known = table.masked_fill(gaps, 0.0)
        x = self.inward(torch.cat([known, gaps.float()], dim=1))
        x.relu_()
        guess = self.outward(x)
        guess += self.level
        return guess


model = Filler()
opt = torch.optim.Adam(model.parameters(), lr=0.01)

for epoch in range(6):
    for rows in torch.randperm(180).split(45):
        table = prices[rows]
        gaps = missing[rows]
        hide = torch.rand(table.shape) < 0.2  # hide some known prices and ask for them
        guess = model(table, gaps | hide)
        off = guess - table
        off.masked_fill_(~hide | gaps, 0.0)
        error = off.square().sum() / (hide & ~gaps).sum()
        opt.zero_grad()
        error.backward()
        opt.step()
    print(epoch, round(error.item(), 4))

with torch.no_grad():
    filled = prices.clone()
    filled[missing] = model(prices, missing)[missing]
print("mean price", round(filled.mean().item(), 3))
