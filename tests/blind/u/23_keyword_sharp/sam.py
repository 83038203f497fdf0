import torch


class SAM(torch.optim.Optimizer):
    """Sharpness-aware minimization around a base optimizer."""

    def __init__(self, params, base_cls, rho=0.05, **kwargs):
        super().__init__(params, dict(rho=rho, **kwargs))
        self.base = base_cls(self.param_groups, **kwargs)
        self.param_groups = self.base.param_groups

    @torch.no_grad()
    def first_step(self, zero_grad=False):
        norm = torch.stack([
            p.grad.norm() for g in self.param_groups for p in g["params"] if p.grad is not None
        ]).norm()
        for group in self.param_groups:
            scale = group["rho"] / (norm + 1e-12)
            for p in group["params"]:
                if p.grad is None:
                    continue
                self.state[p]["old"] = p.detach().clone()
                p.add_(p.grad * scale)
        if zero_grad:
            self.zero_grad()

    @torch.no_grad()
    def second_step(self, zero_grad=False):
        for group in self.param_groups:
            for p in group["params"]:
                if p.grad is None:
                    continue
                p.copy_(self.state[p]["old"])
        self.base.step()
        if zero_grad:
            self.zero_grad()
