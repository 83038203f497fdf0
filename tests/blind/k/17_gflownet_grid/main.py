"""GFlowNet on a small hyper-grid, trained with trajectory balance.

The sampler walks from the origin and learns to stop at a cell in proportion to
the cell's reward.  A smoothed loss is kept for the progress line.
"""
import torch
import torch.nn as nn

SIDE = 5
STOP = 2          # actions: 0 = right, 1 = up, 2 = stop


def reward(cell):
    x, y = cell
    corner = abs(x / (SIDE - 1) - 0.5) > 0.25 and abs(y / (SIDE - 1) - 0.5) > 0.25
    return 0.1 + (1.0 if corner else 0.0)


def encode(cell):
    out = torch.zeros(2 * SIDE)
    out[cell[0]] = 1
    out[SIDE + cell[1]] = 1
    return out


class Sampler(nn.Module):
    def __init__(self):
        super().__init__()
        self.policy = nn.Sequential(nn.Linear(2 * SIDE, 24), nn.LeakyReLU(), nn.Linear(24, 3))
        self.log_z = nn.Parameter(torch.zeros(()))

    def log_probs(self, cell):
        logits = self.policy(encode(cell))
        blocked = torch.tensor([cell[0] == SIDE - 1, cell[1] == SIDE - 1, False])
        return torch.log_softmax(logits.masked_fill(blocked, -1e9), dim=0)

    def trajectory(self):
        cell, log_pf, log_pb = (0, 0), torch.zeros(()), 0.0
        while True:
            lp = self.log_probs(cell)
            action = int(torch.multinomial(lp.detach().exp(), 1))
            log_pf = log_pf + lp[action]
            if action == STOP:
                return cell, log_pf, log_pb
            cell = (cell[0] + 1, cell[1]) if action == 0 else (cell[0], cell[1] + 1)
            parents = int(cell[0] > 0) + int(cell[1] > 0)
            log_pb += float(torch.log(torch.tensor(1.0 / parents)))


class Progress:
    """Exponentially smoothed numbers for the log, by name."""

    def __init__(self, decay=0.95):
        self.decay = decay
        self.values = {}

    def update(self, **numbers):
        for name, value in numbers.items():
            old = self.values.get(name, value)
            self.values[name] = self.decay * old + (1 - self.decay) * value

    def line(self):
        return "  ".join(f"{name} {v:.4f}" for name, v in self.values.items())


def tb_loss(sampler, n=6):
    losses, visited = [], []
    for _ in range(n):
        cell, log_pf, log_pb = sampler.trajectory()
        log_r = torch.log(torch.tensor(reward(cell)))
        losses.append((sampler.log_z + log_pf - log_r - log_pb) ** 2)
        visited.append(cell)
    return torch.stack(losses).mean(), visited


def main():
    torch.manual_seed(23)
    sampler = Sampler()
    optimizer = torch.optim.Adam([
        {"params": sampler.policy.parameters(), "lr": 5e-3},
        {"params": [sampler.log_z], "lr": 5e-2},
    ])
    progress = Progress()
    for step in range(40):
        loss, visited = tb_loss(sampler)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        hits = sum(reward(c) > 1 for c in visited) / len(visited)
        progress.update(loss=loss, corner=hits)
        if step % 10 == 9:
            print(f"step {step + 1:3d}  {progress.line()}")
    print("log Z", round(sampler.log_z.item(), 3))


if __name__ == "__main__":
    main()
