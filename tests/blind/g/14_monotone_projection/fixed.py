"""A dose-response model that must be monotone: the weights are projected onto the non-negative numbers."""
import torch
import torch.nn as nn
import torch.nn.functional as F


class MonotoneNet(nn.Module):
    def __init__(self, width=24):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(2, width), nn.Linear(width, width), nn.Linear(width, 1)])
        for layer in self.layers:
            layer.weight.data.abs_()

    def forward(self, x):
        for layer in self.layers[:-1]:
            x = torch.tanh(layer(x))
        return self.layers[-1](x)

    @torch.no_grad()
    def project(self):
        """Called once for each update; the weights never become negative."""
        for layer in self.layers:
            layer.weight.clamp_(min=0.0)

    @torch.no_grad()
    def violations(self):
        return sum(int((layer.weight < 0).sum()) for layer in self.layers)


def doses(count):
    x = torch.rand(count, 2) * 4
    response = torch.sigmoid(2 * x[:, :1] - 4) + 0.5 * torch.sigmoid(3 * x[:, 1:] - 5)
    return x, response + 0.05 * torch.randn_like(response)


def main():
    torch.manual_seed(47)
    x, y = doses(400)
    x = (x - x.mean(0)) / x.std(0)
    net = MonotoneNet()
    optimizer = torch.optim.Adam(net.parameters(), lr=1e-2)
    for epoch in range(8):
        total = 0.0
        for rows in torch.randperm(len(x)).split(50):
            loss = F.mse_loss(net(x[rows]), y[rows])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            net.project()
            total += loss.item() / 8
        print(f"epoch {epoch}: mse {total:.5f}, negative weights {net.violations()}")


if __name__ == "__main__":
    main()
