"""Mixture of experts with a load-balancing term so that the gate does not send everything to one expert."""
import torch
import torch.nn as nn
import torch.nn.functional as F


class MoE(nn.Module):
    def __init__(self, inputs, experts=4, width=16):
        super().__init__()
        self.gate = nn.Linear(inputs, experts)
        self.experts = nn.ModuleList(
            nn.Sequential(nn.Linear(inputs, width), nn.ReLU(), nn.Linear(width, 1)) for _ in range(experts))

    def forward(self, x):
        probs = self.gate(x).softmax(-1)
        outputs = torch.cat([expert(x) for expert in self.experts], 1)
        return (probs * outputs).sum(1), probs


def balance_loss(probs):
    """Squared coefficient of variation of the experts' shares; zero if all are used alike."""
    share = probs.mean(0)
    return share.var() / share.mean().square()


def make_batch(n, d=6):
    x = torch.randn(n, d)
    region = (x[:, 0] > 0).long() * 2 + (x[:, 1] > 0).long()
    slope = torch.tensor([1.0, -1.0, 2.0, -0.5])[region]
    return x, slope * x[:, 2] + 0.05 * torch.randn(n)


def train(steps=161, balance=0.5):
    torch.manual_seed(19)
    model = MoE(6)
    with torch.no_grad():
        model.gate.bias.copy_(torch.tensor([1.5, 0.0, 0.0, -1.0]))
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    for step in range(steps):
        x, y = make_batch(64)
        prediction, probs = model(x)
        task_loss = F.mse_loss(prediction, y)
        aux_loss = balance_loss(probs)
        loss = task_loss + balance * aux_loss
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if step % 40 == 0:
            shares = [round(s, 2) for s in probs.mean(0).tolist()]
            print(f"step {step:3d}  loss {loss.item():.4f}  task {task_loss.item():.4f}  shares {shares}")


if __name__ == "__main__":
    train()
