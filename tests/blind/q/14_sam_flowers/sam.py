"""Sharpness-aware minimisation around any base optimizer."""
import torch


class SAM:
    def __init__(self, base_optimizer, rho=0.05):
        self.base = base_optimizer
        self.rho = rho
        self.perturbations = []

    @property
    def params(self):
        return [p for group in self.base.param_groups for p in group["params"]]

    def zero_grad(self):
        self.base.zero_grad()

    @torch.no_grad()
    def ascend(self):
        grads = [p.grad for p in self.params]
        norm = torch.stack([g.norm() for g in grads]).norm() + 1e-12
        self.perturbations = [self.rho * g / norm for g in grads]
        for p, e in zip(self.params, self.perturbations):
            p.add_(e)
        self.zero_grad()

    @torch.no_grad()
    def step(self):
        for p, e in zip(self.params, self.perturbations):
            p.sub_(e)
        self.perturbations.clear()
        self.base.step()
