"""Federated averaging of an activity classifier over wearable devices.

Each round every client starts from the server weights, runs a few local SGD
steps on its own data and sends its weights back; the server averages them in
proportion to the number of samples.
"""
from dataclasses import dataclass

import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.func import functional_call

torch.manual_seed(21)


@dataclass
class Client:
    name: str
    x: torch.Tensor
    y: torch.Tensor
    lr: float = 0.1
    local_steps: int = 5

    def train(self, net, server_weights):
        local = {name: w.clone().requires_grad_() for name, w in server_weights.items()}
        optimizer = torch.optim.SGD(local.values(), lr=self.lr)
        for _ in range(self.local_steps):
            idx = torch.randperm(len(self.x))[:32]
            logits = functional_call(net, local, (self.x[idx],))
            loss = F.cross_entropy(logits, self.y[idx])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
        return {name: w.detach() for name, w in local.items()}, loss.item()


class Server:
    def __init__(self, net, clients):
        self.net = net
        self.clients = clients
        self.weights = {name: p.detach().clone() for name, p in net.named_parameters()}

    def average(self, updates, sizes):
        total = sum(sizes)
        return {
            name: sum(u[name] * (n / total) for u, n in zip(updates, sizes))
            for name in self.weights
        }

    def round(self):
        updates, sizes, losses = [], [], []
        for client in self.clients:
            weights, loss = client.train(self.net, self.weights)
            updates.append(weights)
            sizes.append(len(client.x))
            losses.append(loss)
        self.weights = self.average(updates, sizes)
        return sum(losses) / len(losses)


def make_clients(n_clients=4, classes=3):
    centers = 1.5 * torch.randn(classes, 6)
    clients = []
    for c in range(n_clients):
        n = 60 + 30 * c
        y = torch.randint(0, classes, (n,))
        x = centers[y] + torch.randn(n, 6) + 0.3 * torch.randn(6)
        clients.append(Client(f"watch-{c}", x, y))
    return clients


if __name__ == "__main__":
    net = nn.Sequential(nn.Linear(6, 24), nn.ReLU(), nn.Linear(24, 3))
    server = Server(net, make_clients())
    for r in range(6):
        print(f"round {r}: mean client loss {server.round():.4f}")
