"""Multi-task gait model trained with sharpness-aware minimization (SAM).

Every batch is used twice: the first gradient gives the direction of the
perturbation of the weights, the second, taken at the perturbed weights, is the
one that the optimizer applies to the original weights.
"""
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(11)

TASKS = {"speed": 1.0, "age_group": 0.5, "fall_risk": 0.5}
STEPS = 60
RHO = 0.05


class GaitNet(nn.Module):
    def __init__(self, channels=6, hidden=32):
        super().__init__()
        self.encoder = nn.Sequential(
            nn.Conv1d(channels, 16, 5, stride=2), nn.ReLU(),
            nn.Conv1d(16, hidden, 5, stride=2), nn.ReLU(),
            nn.AdaptiveAvgPool1d(1), nn.Flatten(),
        )
        self.heads = nn.ModuleDict({
            "speed": nn.Linear(hidden, 1),
            "age_group": nn.Linear(hidden, 4),
            "fall_risk": nn.Linear(hidden, 1),
        })

    def forward(self, x):
        h = self.encoder(x)
        return {name: head(h) for name, head in self.heads.items()}


def get_loss(output, target, task):
    if task == "speed":
        return F.smooth_l1_loss(output[task].squeeze(1), target[task])
    if task == "age_group":
        return F.cross_entropy(output[task], target[task])
    return F.binary_cross_entropy_with_logits(output[task].squeeze(1), target[task])


def make_batch(n=24):
    signal = torch.randn(n, 6, 64)
    energy = signal.pow(2).mean(dim=(1, 2))
    drift = signal[:, 0, :32].mean(1) - signal[:, 0, 32:].mean(1)
    return signal, {
        "speed": energy + 0.5 * drift,
        "age_group": ((drift * 4).round().long() + 2).clamp(0, 3),
        "fall_risk": (drift > 0).float(),
    }


@torch.no_grad()
def climb(model, rho):
    """Moves the weights along their gradient; returns the moves."""
    grads = [p.grad for p in model.parameters()]
    norm = torch.stack([g.norm() for g in grads]).norm()
    moves = []
    for p, g in zip(model.parameters(), grads):
        move = g * (rho / (norm + 1e-12))
        p.add_(move)
        moves.append(move)
    return moves


@torch.no_grad()
def climb_back(model, moves):
    for p, move in zip(model.parameters(), moves):
        p.sub_(move)


def main():
    model = GaitNet()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)

    for step in range(STEPS):
        signal, target = make_batch()

        # first pass
        output = model(signal)
        loss = 0
        for task, weight in TASKS.items():
            loss += weight * get_loss(output, target, task)
        optimizer.zero_grad()
        loss.backward()
        first = loss.item()
        moves = climb(model, RHO)

        # second pass
        output = model(signal)
        for task, weight in TASKS.items():
            loss += weight * get_loss(output, target, task)
        optimizer.zero_grad()
        loss.backward()
        climb_back(model, moves)
        optimizer.step()

        if step % 10 == 0:
            print(f"step {step:3d}  loss {first:.4f}  at the perturbed weights {loss.item():.4f}")


if __name__ == "__main__":
    main()
