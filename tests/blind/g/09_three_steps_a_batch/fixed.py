"""Identify mass, damping and stiffness of an oscillator from short noisy recordings, three gradient steps on each."""
import torch


def simulate(params, force, dt=0.05):
    mass, damping, stiffness = params.exp()
    x = v = torch.zeros(len(force))
    path = []
    for f in force.T:
        a = (f - damping * v - stiffness * x) / mass
        v = v + dt * a
        x = x + dt * v
        path.append(x)
    return torch.stack(path, 1)


class Recordings:
    """Responses of the true system to random pushes."""

    def __init__(self, count, length=40):
        self.truth = torch.tensor([1.5, 0.6, 4.0]).log()
        self.force = torch.randn(count, length // 8).repeat_interleave(8, 1)
        self.response = simulate(self.truth, self.force) + 0.002 * torch.randn(count, length)

    def batches(self, size):
        for rows in torch.randperm(len(self.force)).split(size):
            yield self.force[rows], self.response[rows]


def identify(recordings, repeats=3, epochs=4):
    log_params = torch.zeros(3, requires_grad=True)
    optimizer = torch.optim.Adam([log_params], lr=0.04)
    for epoch in range(epochs):
        for force, response in recordings.batches(16):
            for _ in range(repeats):
                predicted = simulate(log_params, force)
                loss = 1e3 * (predicted - response).pow(2).mean()
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
        shown = ", ".join(f"{value:.3f}" for value in log_params.exp().tolist())
        print(f"epoch {epoch}: loss {loss.item():.4f}, mass/damping/stiffness {shown}")
    return log_params.detach()


if __name__ == "__main__":
    torch.manual_seed(36)
    recordings = Recordings(96)
    found = identify(recordings)
    print("relative error", ((found - recordings.truth).exp() - 1).abs().max().item())
