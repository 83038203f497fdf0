from torch import nn


def mlp(*sizes, act=nn.LeakyReLU):
    layers = []
    for a, b in zip(sizes[:-2], sizes[1:-1]):
        layers += [nn.Linear(a, b), act(0.2)]
    layers.append(nn.Linear(sizes[-2], sizes[-1]))
    return nn.Sequential(*layers)


class OrderGenerator(nn.Module):
    """Noise -> (log price, log quantity, hour)."""

    def __init__(self, noise_dim=6):
        super().__init__()
        self.noise_dim = noise_dim
        self.net = mlp(noise_dim, 32, 32, 3)

    def forward(self, z):
        return self.net(z)


class OrderCritic(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = mlp(3, 32, 32, 1)

    def forward(self, x):
        return self.net(x).squeeze(1)
