import torch


class Quadratic:
    """|W theta - y|^2 with random W and y."""

    def __init__(self, n=8):
        self.n = n
        self.W = torch.randn(n, n) / n ** 0.5
        self.y = torch.randn(n)

    def start(self):
        return torch.randn(self.n)

    def loss(self, theta):
        return ((self.W @ theta - self.y) ** 2).sum()


class Rosenbrock:
    def __init__(self, n=6):
        self.n = n

    def start(self):
        return 0.5 * torch.randn(self.n)

    def loss(self, theta):
        a, b = theta[:-1], theta[1:]
        return (1.0 * (b - a ** 2) ** 2 + (1 - a) ** 2).sum()


def sample_problem(index):
    return Rosenbrock() if index % 3 == 2 else Quadratic()
