"""Traffic forecasting with an adjacency matrix learned from node embeddings."""
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset, random_split

from graph import adaptive_adjacency, diffuse


class Forecaster(nn.Module):
    def __init__(self, nodes=6, lags=4, width=10):
        super().__init__()
        self.source = nn.Parameter(torch.randn(nodes, 3))
        self.target = nn.Parameter(torch.randn(nodes, 3))
        self.inp = nn.Linear(lags, width)
        self.mid = nn.Linear(3 * width, width)
        self.out = nn.Linear(width, 1)

    def forward(self, x, adj):
        h = torch.relu(self.inp(x))
        h = torch.relu(self.mid(diffuse(h, adj, hops=2)))
        return self.out(h).squeeze(-1)


def make_data(nodes=6, lags=4, n=70):
    series = torch.zeros(n + lags + 1, nodes)
    series[0] = torch.randn(nodes)
    for t in range(n + lags):
        series[t + 1] = 0.6 * series[t] + 0.4 * series[t].roll(1) + 0.2 * torch.randn(nodes)
    x = torch.stack([series[t:t + lags].t() for t in range(n)])
    y = torch.stack([series[t + lags] for t in range(n)])
    return TensorDataset(x, y)


def validate(model, loader, adj):
    model.eval()
    with torch.no_grad():
        err = [(model(x, adj) - y).abs().mean().item() for x, y in loader]
    model.train()
    return sum(err) / len(err)


def main():
    torch.manual_seed(13)
    train_set, valid_set = random_split(make_data(), [56, 14])
    train_loader = DataLoader(train_set, batch_size=14, shuffle=True)
    valid_loader = DataLoader(valid_set, batch_size=14)
    model = Forecaster()
    opt = torch.optim.Adam(model.parameters(), lr=0.01)
    plateau = torch.optim.lr_scheduler.ReduceLROnPlateau(opt, patience=1)
    adj = adaptive_adjacency(model.source, model.target)
    for epoch in range(6):
        total = 0.0
        for x, y in train_loader:
            loss = nn.functional.l1_loss(model(x, adj), y)
            opt.zero_grad()
            loss.backward()
            opt.step()
            total += loss.item()
        mae = validate(model, valid_loader, adj)
        plateau.step(mae)
        print(f"epoch {epoch}: train {total / len(train_loader):.4f} valid {mae:.4f}")


if __name__ == "__main__":
    main()
