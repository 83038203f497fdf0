import torch


class SAM(torch.optim.Optimizer):
    """Two-pass optimizer: climb to the worst point within rho, take its gradient, step from where we were."""

    def __init__(self, params, base_optimizer, rho=0.05, **kwargs):
        super().__init__(params, dict(rho=rho, **kwargs))
        self.base_optimizer = base_optimizer(self.param_groups, **kwargs)
        self.param_groups = self.base_optimizer.param_groups

    @torch.no_grad()
    def first_step(self, zero_grad=False):
        norms = [p.grad.norm() for g in self.param_groups for p in g["params"] if p.grad is not None]
        total = torch.stack(norms).norm() + 1e-12
        for group in self.param_groups:
            for p in group["params"]:
                if p.grad is None:
                    continue
                climb = p.grad * (group["rho"] / total)
                p.add_(climb)
                self.state[p]["climb"] = climb
        if zero_grad:
            self.zero_grad()

    @torch.no_grad()
    def second_step(self, zero_grad=False):
        for group in self.param_groups:
            for p in group["params"]:
                if p.grad is not None:
                    p.sub_(self.state[p].pop("climb"))
        self.base_optimizer.step()
        if zero_grad:
            self.zero_grad()
