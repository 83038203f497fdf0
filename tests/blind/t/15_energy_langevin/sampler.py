import torch


def langevin(energy, start, steps, step_size=0.05, noise=0.05):
    """A short chain downhill in energy; returns points that carry no history."""
    x = start.clone().requires_grad_(True)
    for _ in range(steps):
        slope, = torch.autograd.grad(energy(x).sum(), x)
        with torch.no_grad():
            x -= step_size * slope.clamp(-3, 3)
            x += noise * torch.randn_like(x)
    return x.detach()


class NegativeBank:
    """Chains that persist from one batch to the next, restarted now and then."""

    def __init__(self, size, dim, restart=0.05):
        self.points = 4 * torch.rand(size, dim) - 2
        self.restart = restart

    def draw(self, n):
        slots = torch.randperm(len(self.points))[:n]
        start = self.points[slots]
        fresh = torch.rand(n) < self.restart
        start[fresh] = 4 * torch.rand(int(fresh.sum()), start.size(1)) - 2
        return slots, start

    def store(self, slots, points):
        self.points[slots] = points
