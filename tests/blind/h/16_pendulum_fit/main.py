"""System identification: fit length and damping of a pendulum by simulating it and comparing angles."""
import torch

DT, STEPS = 0.05, 60
GRAVITY = 9.81


class Pendulum:
    """Semi-implicit Euler. State: angle and angular velocity of a batch of runs."""

    def __init__(self, log_length, damping):
        self.log_length = log_length
        self.damping = damping

    def acceleration(self, angle, velocity):
        pull = GRAVITY / self.log_length.exp() * torch.sin(angle)
        return -pull - self.damping * velocity

    def simulate(self, angle0, velocity0):
        angle = angle0.clone()
        velocity = velocity0.clone()
        trace = []
        for _ in range(STEPS):
            velocity += DT * self.acceleration(angle, velocity)
            angle += DT * velocity
            trace.append(angle.clone())
        return torch.stack(trace)


def measure(noise=0.01):
    truth = Pendulum(torch.tensor(0.8).log(), torch.tensor(0.35))
    angle0 = torch.linspace(0.3, 2.0, 6)
    velocity0 = torch.zeros(6)
    clean = truth.simulate(angle0, velocity0)
    return angle0, velocity0, clean + noise * torch.randn_like(clean)


def main():
    torch.manual_seed(1)
    angle0, velocity0, measured = measure()
    log_length = torch.tensor(0.1, requires_grad=True)
    damping = torch.tensor(0.1, requires_grad=True)
    model = Pendulum(log_length, damping)
    optimizer = torch.optim.Adam([log_length, damping], lr=0.02)
    for it in range(60):
        optimizer.zero_grad()
        predicted = model.simulate(angle0, velocity0)
        loss = (predicted - measured).square().mean()
        loss.backward()
        optimizer.step()
        if it % 12 == 0:
            print(f"iteration {it:2d}: loss {loss.item():.5f}  length {log_length.exp().item():.3f}  damping {damping.item():.3f}")
    print(f"found length {log_length.exp().item():.3f} (0.800), damping {damping.item():.3f} (0.350)")


if __name__ == "__main__":
    main()
