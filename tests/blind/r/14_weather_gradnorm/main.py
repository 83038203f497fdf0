"""Three weather targets from one recurrent encoder, balanced with GradNorm.

The encoder keeps its hidden state along the long station record; gradients are
cut at the borders of windows of WINDOW steps.
"""
import torch
import torch.nn as nn
import torch.nn.functional as F

TASKS = ("temperature", "pressure", "wind")
WINDOW, N_WINDOWS, EPOCHS = 16, 12, 5
STATIONS, FEATURES, HIDDEN = 16, 5, 24
ALPHA = 1.0


def make_records():
    length = WINDOW * N_WINDOWS + 1
    t = torch.arange(length).float()
    phase = 6.283 * torch.rand(STATIONS, 1)
    daily = torch.sin(0.26 * t + phase)
    front = torch.randn(STATIONS, length).cumsum(dim=1)
    front = front - F.avg_pool1d(front.unsqueeze(1), 25, 1, 12, count_include_pad=False).squeeze(1)
    temperature = 3 * daily + 0.5 * front
    pressure = -0.3 * front
    wind = front.diff(dim=1, prepend=front[:, :1]).abs() + 0.1 * daily
    noise = 0.1 * torch.randn(STATIONS, length, 2)
    base = torch.stack([temperature, pressure, wind], dim=-1)
    return torch.cat([base, noise], dim=-1)


class Forecaster(nn.Module):
    def __init__(self):
        super().__init__()
        self.rnn = nn.GRU(FEATURES, HIDDEN, batch_first=True)
        self.shared = nn.Linear(HIDDEN, HIDDEN)
        self.heads = nn.ModuleDict({name: nn.Linear(HIDDEN, 1) for name in TASKS})

    def forward(self, x, state):
        h, state = self.rnn(x, state)
        h = torch.relu(self.shared(h))
        return {name: head(h).squeeze(-1) for name, head in self.heads.items()}, state


class GradNorm:
    """Task weights that pull the gradient norms at the shared layer together."""

    def __init__(self, shared_weight, lr=0.02):
        self.shared_weight = shared_weight
        self.weights = nn.Parameter(torch.ones(len(TASKS)))
        self.optimizer = torch.optim.Adam([self.weights], lr=lr)
        self.initial = None

    def step(self, losses):
        norms = []
        for w, loss in zip(self.weights, losses):
            (g,) = torch.autograd.grad(loss, self.shared_weight, retain_graph=True)
            norms.append(w * g.norm())
        norms = torch.stack(norms)

        values = losses.detach()
        if self.initial is None:
            self.initial = values
        ratio = values / self.initial
        target = norms.detach().mean() * (ratio / ratio.mean()) ** ALPHA

        self.optimizer.zero_grad()
        (norms - target).abs().sum().backward()
        self.optimizer.step()
        with torch.no_grad():
            self.weights.clamp_(min=0.05)
            self.weights.mul_(len(TASKS) / self.weights.sum())


def train():
    torch.manual_seed(8)
    records = make_records()
    model = Forecaster()
    balancer = GradNorm(model.shared.weight)
    optimizer = torch.optim.Adam(model.parameters(), lr=4e-3)

    for epoch in range(EPOCHS):
        state = None
        sums = torch.zeros(len(TASKS))
        for k in range(N_WINDOWS):
            x = records[:, k * WINDOW:(k + 1) * WINDOW]
            y = records[:, k * WINDOW + 1:(k + 1) * WINDOW + 1]
            pred, state = model(x, state)
            state = state.detach()
            losses = torch.stack([F.mse_loss(pred[name], y[..., i]) for i, name in enumerate(TASKS)])

            current = balancer.weights.detach().clone()
            balancer.step(losses)

            optimizer.zero_grad()
            (current * losses).sum().backward()
            optimizer.step()
            sums += losses.detach()
        shown = "  ".join(f"{n} {v:.3f}" for n, v in zip(TASKS, (sums / N_WINDOWS).tolist()))
        weights = [round(w, 2) for w in balancer.weights.tolist()]
        print(f"epoch {epoch}: {shown}  weights {weights}")


if __name__ == "__main__":
    train()
