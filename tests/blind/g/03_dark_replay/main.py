"""Continual learning on three tasks with dark experience replay: remember what the network answered, not only the labels."""
import torch
import torch.nn as nn
import torch.nn.functional as F

from memory import Reservoir


def rotated_task(angle, n=300):
    x = torch.randn(n, 8)
    w = torch.stack([torch.tensor([torch.cos(angle + k), torch.sin(angle + k)]) for k in (0.0, 2.1, 4.2)])
    return x, (x[:, :2] @ w.T + 0.3 * x[:, 2:5]).argmax(1)


class Learner:
    def __init__(self, alpha=0.5, memory=120):
        self.net = nn.Sequential(nn.Linear(8, 48), nn.ReLU(), nn.Linear(48, 3))
        self.optimizer = torch.optim.SGD(self.net.parameters(), lr=0.1)
        self.memory = Reservoir(memory)
        self.alpha = alpha

    def observe(self, x, y):
        self.optimizer.zero_grad()
        logits = self.net(x)
        loss = F.cross_entropy(logits, y)
        if len(self.memory):
            old_x, old_logits = self.memory.draw(32)
            loss = loss + self.alpha * F.mse_loss(self.net(old_x), old_logits)
        loss.backward()
        self.optimizer.step()
        self.memory.add(x, logits)
        return loss.item()

    @torch.no_grad()
    def accuracy(self, x, y):
        return (self.net(x).argmax(1) == y).float().mean().item()


def main():
    torch.manual_seed(15)
    tasks = [rotated_task(torch.tensor(angle)) for angle in (0.0, 0.6, 1.2)]
    learner = Learner()
    for number, (x, y) in enumerate(tasks):
        for epoch in range(3):
            losses = [learner.observe(x[rows], y[rows]) for rows in torch.randperm(len(x)).split(30)]
            print(f"task {number} epoch {epoch}: loss {sum(losses) / len(losses):.4f}")
        print("  accuracy on all so far:", [round(learner.accuracy(*task), 2) for task in tasks[:number + 1]])


if __name__ == "__main__":
    main()
