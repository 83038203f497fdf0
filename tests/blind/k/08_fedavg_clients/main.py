"""Federated averaging on four clients.

Every round the server hands its weights out, each client runs plain local SGD
(one update per mini-batch, on that mini-batch), and the server averages.
"""
import copy

import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(13)
CLIENTS, ROUNDS, BATCH = 4, 3, 16


def make_client(shift):
    x = torch.randn(64, 8) + shift
    y = (x.sum(dim=1) > 8 * shift).long()
    return x, y


clients = [make_client(0.2 * k) for k in range(CLIENTS)]
server = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 2))


def local_training(weights, x, y):
    model = copy.deepcopy(server)
    model.load_state_dict(weights)
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
    optimizer.zero_grad()
    for i in range(0, len(x), BATCH):
        loss = F.cross_entropy(model(x[i:i + BATCH]), y[i:i + BATCH])
        loss.backward()
        optimizer.step()
    return model.state_dict(), loss.item()


for rnd in range(ROUNDS):
    results = [local_training(server.state_dict(), x, y) for x, y in clients]
    average = {name: torch.stack([w[name] for w, _ in results]).mean(dim=0)
               for name in server.state_dict()}
    server.load_state_dict(average)
    print("round", rnd, "loss", round(sum(l for _, l in results) / CLIENTS, 4))
