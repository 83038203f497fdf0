import torch


class Spirals:
    """Two interleaved spirals."""

    def __init__(self, n=160, noise=0.05):
        t = torch.rand(n) * 2.5 + 0.3
        label = torch.arange(n) % 2
        angle = 2 * t + label * 3.14159
        self.x = torch.stack([t * angle.cos(), t * angle.sin()], dim=1) + noise * torch.randn(n, 2)
        self.y = label

    def __len__(self):
        return len(self.y)

    def loader(self, size):
        for idx in torch.randperm(len(self)).split(size):
            yield self.x[idx], self.y[idx]


REGISTRY = {"spirals": Spirals}


def build(name, **kwargs):
    return REGISTRY[name](**kwargs)
