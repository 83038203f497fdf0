import torch

from curvature import Curvature, conjugate_gradient


class HessianFree:
    """Truncated Newton steps, applied through a plain optimizer of rate one."""

    def __init__(self, params, damping=10.0, cg_iterations=6):
        self.params = list(params)
        self.damping = damping
        self.cg_iterations = cg_iterations
        self.base = torch.optim.SGD(self.params, lr=1.0)

    def _assign(self, direction):
        offset = 0
        for p in self.params:
            n = p.numel()
            p.grad = -direction[offset:offset + n].view_as(p)
            offset += n

    def step(self, closure):
        loss = closure()
        quad = Curvature(loss, self.params, self.damping)
        direction = conjugate_gradient(quad, -quad.gradient.detach(), self.cg_iterations)
        predicted = quad.model_reduction(direction)
        self._assign(direction)
        self.base.step()
        with torch.no_grad():
            actual = (closure() - loss).item()
            if actual > 0:          # rejected: back to where we were
                for p in self.params:
                    p.add_(p.grad)
        self._adapt(actual / predicted if predicted < 0 else 0.0)
        return loss.item(), quad.products

    def _adapt(self, ratio):
        """Levenberg-Marquardt rule."""
        if ratio < 0.25:
            self.damping *= 1.5
        elif ratio > 0.75:
            self.damping /= 1.5
