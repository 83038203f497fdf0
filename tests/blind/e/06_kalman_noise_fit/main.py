"""Identify the noise levels and the damping of a Kalman filter by maximum likelihood."""
import torch
import torch.nn as nn


class KalmanFilter(nn.Module):
    def __init__(self, dt=0.1):
        super().__init__()
        self.dt = dt
        self.damping = nn.Parameter(torch.tensor(0.0))
        self.log_process = nn.Parameter(torch.tensor(-1.0))
        self.log_measure = nn.Parameter(torch.tensor(1.0))
        self.register_buffer("H", torch.tensor([[1.0, 0.0]]))

    def transition(self):
        top = torch.tensor([1.0, self.dt])
        bottom = torch.stack([torch.zeros(()), 1 - self.damping * self.dt])
        return torch.stack([top, bottom])

    def predict(self, mean, cov):
        A = self.transition()
        Q = torch.diag(torch.tensor([1e-4, 1.0])) * self.log_process.exp()
        return A @ mean, A @ cov @ A.T + Q

    def correct(self, mean, cov, z):
        innovation = z - self.H @ mean
        S = self.H @ cov @ self.H.T + self.log_measure.exp()
        gain = cov @ self.H.T / S
        mean = mean + gain @ innovation
        cov -= gain @ self.H @ cov
        nll = 0.5 * (innovation.pow(2) / S + S.log()).sum()
        return mean, cov, nll

    def forward(self, track):
        mean, cov = torch.zeros(2), torch.eye(2)
        nll, means = 0.0, []
        for z in track:
            mean, cov = self.predict(mean, cov)
            mean, cov, step_nll = self.correct(mean, cov, z.view(1))
            nll = nll + step_nll
            means.append(mean)
        return nll / len(track), torch.stack(means)


def simulate(length, dt=0.1, damping=0.5, process=0.09, measure=0.04):
    position, velocity, truth = 0.0, 1.0, []
    for _ in range(length):
        position += dt * velocity
        velocity += -damping * dt * velocity + process ** 0.5 * torch.randn(()).item()
        truth.append(position)
    truth = torch.tensor(truth)
    return truth, truth + measure ** 0.5 * torch.randn(length)


def main():
    torch.manual_seed(42)
    tracks = [simulate(30) for _ in range(6)]
    model = KalmanFilter()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
    for epoch in range(8):
        total, rmse = 0.0, 0.0
        for truth, measured in tracks:
            optimizer.zero_grad()
            nll, means = model(measured)
            nll.backward()
            optimizer.step()
            total += nll.item()
            rmse += (means[:, 0].detach() - truth).pow(2).mean().sqrt().item()
        print(f"epoch {epoch}: nll {total / len(tracks):.4f} rmse {rmse / len(tracks):.4f} "
              f"q {model.log_process.exp().item():.3f} r {model.log_measure.exp().item():.3f}")


if __name__ == "__main__":
    main()
