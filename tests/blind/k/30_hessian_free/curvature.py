"""Matrix-free curvature: Hessian-vector products and conjugate gradients."""
import torch


def flatten(tensors):
    return torch.cat([t.reshape(-1) for t in tensors])


class Curvature:
    """Damped Hessian of a loss at the current parameters."""

    def __init__(self, loss, params, damping):
        self.params = list(params)
        self.damping = damping
        self.gradient = flatten(torch.autograd.grad(loss, self.params, create_graph=True))
        self.products = 0

    def __matmul__(self, v):
        return self.product(v, keep=True)

    def product(self, v, keep):
        hv = torch.autograd.grad(self.gradient @ v, self.params, retain_graph=keep)
        self.products += 1
        return flatten(hv) + self.damping * v

    def model_reduction(self, step):
        """Change that the quadratic model predicts; the last use of the graph."""
        g = self.gradient.detach()
        return (g @ step + 0.5 * step @ self.product(step, keep=False)).item()


def conjugate_gradient(A, b, iterations, tol=1e-6):
    x = torch.zeros_like(b)
    r = b.clone()
    p = r.clone()
    rr = r @ r
    for _ in range(iterations):
        Ap = A @ p
        curvature = p @ Ap
        if curvature <= 0:
            break
        alpha = rr / curvature
        x += alpha * p
        r -= alpha * Ap
        new = r @ r
        if new < tol:
            break
        p = r + (new / rr) * p
        rr = new
    return x
