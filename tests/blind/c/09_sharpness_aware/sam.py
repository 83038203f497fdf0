import torch


class SAM:
    """Climb to the worst point nearby, take the gradient there, step from where we were."""

    def __init__(self, parameters, rho, lr):
        self.parameters = list(parameters)
        self.rho = rho
        self.base = torch.optim.SGD(self.parameters, lr=lr)
        self.climb = []

    @torch.no_grad()
    def ascend(self):
        norm = torch.stack([each.grad.norm() for each in self.parameters]).norm()
        self.climb = [each.grad * (self.rho / (norm + 1e-12)) for each in self.parameters]
        for each, by in zip(self.parameters, self.climb):
            each.add_(by)
        self.base.zero_grad()

    @torch.no_grad()
    def descend(self):
        for each, by in zip(self.parameters, self.climb):
            each.sub_(by)
        self.base.step()
        self.base.zero_grad()
