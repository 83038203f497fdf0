"""Recover the stiffness along a clamped bar from measured displacements, with L-BFGS."""
import torch

ELEMENTS = 20


def difference():
    d = torch.eye(ELEMENTS)
    d[1:, :-1] -= torch.eye(ELEMENTS - 1)
    return d


D = difference()


def assemble(log_modulus):
    """Stiffness matrix of springs in a row, the first one clamped."""
    return ELEMENTS * (D.T * log_modulus.exp()) @ D


def true_modulus():
    place = torch.linspace(0, 1, ELEMENTS)
    return 0.6 * torch.sin(5 * place) - 0.8 * ((place - 0.6).abs() < 0.1).float()


def experiment(generator, cases=3):
    loads = torch.rand(ELEMENTS, cases, generator=generator)
    displacement = torch.linalg.solve(assemble(true_modulus()), loads)
    return loads, displacement * (1 + 0.002 * torch.randn(displacement.shape, generator=generator))


class Inversion:
    def __init__(self, loads, measured, smooth=1e-4):
        self.loads, self.measured, self.smooth = loads, measured, smooth
        self.log_modulus = torch.zeros(ELEMENTS, requires_grad=True)
        self.optimizer = torch.optim.LBFGS([self.log_modulus], lr=0.5, max_iter=6, history_size=10)

    def iterate(self):
        stiffness = assemble(self.log_modulus)

        def closure():
            self.optimizer.zero_grad()
            displacement = torch.linalg.solve(stiffness, self.loads)
            misfit = ((displacement - self.measured) / self.measured).pow(2).mean()
            rough = self.log_modulus.diff().pow(2).mean()
            loss = misfit + self.smooth * rough
            loss.backward()
            return loss

        return float(self.optimizer.step(closure))


torch.manual_seed(0)
inversion = Inversion(*experiment(torch.Generator().manual_seed(40)))
for iteration in range(8):
    loss = inversion.iterate()
    error = (inversion.log_modulus.detach() - true_modulus()).abs().mean().item()
    print(f"iteration {iteration}: loss {loss:.6f}, mean error of log-modulus {error:.4f}")
