"""Federated training of a linear-plus-hidden model with FedProx on clients with different data."""
import copy

import torch
from torch import nn


def client_data(clients, generator):
    """Every client sees another part of the input space and a slightly different relation."""
    for k in range(clients):
        centre = torch.randn(6, generator=generator)
        x = centre + torch.randn(80, 6, generator=generator)
        y = torch.sin(x[:, :1]) + 0.5 * x[:, 1:2] * x[:, 2:3] + 0.4 * k
        yield x, y


class Client:
    def __init__(self, data, mu):
        self.x, self.y = data
        self.mu = mu

    def local_update(self, global_model, epochs=3, lr=0.03):
        model = copy.deepcopy(global_model)
        anchor = [p.detach().clone() for p in model.parameters()]
        optimizer = torch.optim.SGD(model.parameters(), lr=lr, momentum=0.5)
        for _ in range(epochs):
            for rows in torch.randperm(len(self.x)).split(20):
                fit = nn.functional.mse_loss(model(self.x[rows]), self.y[rows])
                proximal = sum((p - a).pow(2).sum() for p, a in zip(model.parameters(), anchor))
                loss = fit + 0.5 * self.mu * proximal
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
        drift = sum((p - a).pow(2).sum().item() for p, a in zip(model.parameters(), anchor)) ** 0.5
        return model.state_dict(), fit.item(), drift


def average(states):
    return {name: torch.stack([state[name] for state in states]).mean(0) for name in states[0]}


def main(rounds=6, mu=2.0):
    torch.manual_seed(9)
    clients = [Client(data, mu) for data in client_data(5, torch.Generator().manual_seed(3))]
    server = nn.Sequential(nn.Linear(6, 24), nn.Tanh(), nn.Linear(24, 1))
    for number in range(rounds):
        states, fits, drifts = zip(*(client.local_update(server) for client in clients))
        server.load_state_dict(average(states))
        with torch.no_grad():
            overall = sum(nn.functional.mse_loss(server(c.x), c.y).item() for c in clients) / len(clients)
        print(f"round {number}: local fit {sum(fits) / 5:.4f} drift {sum(drifts) / 5:.4f} server's error {overall:.4f}")


main()
