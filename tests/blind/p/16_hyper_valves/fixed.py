"""Hypernetwork for the flow curves of a family of valves.

A valve is described by a code; the hypernetwork turns the code into the
weights of a small network that maps the opening to the flow. The hypernetwork
is updated after every mini-batch of measurements of a valve.
"""
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(14)

N_VALVES, CODE, HIDDEN = 6, 4, 12


class HyperNetwork(nn.Module):
    def __init__(self, width=48):
        super().__init__()
        self.shapes = {"w1": (HIDDEN, 1), "b1": (HIDDEN,), "w2": (1, HIDDEN), "b2": (1,)}
        self.sizes = [torch.Size(s).numel() for s in self.shapes.values()]
        self.net = nn.Sequential(nn.Linear(CODE, width), nn.ReLU(), nn.Linear(width, sum(self.sizes)))

    def forward(self, code):
        flat = self.net(code)
        chunks = flat.split(self.sizes)
        return {k: c.view(s) for (k, s), c in zip(self.shapes.items(), chunks)}


def flow_net(opening, weights):
    h = torch.tanh(F.linear(opening, weights["w1"], weights["b1"]))
    return F.linear(h, weights["w2"], weights["b2"])


def measure(code, n=64):
    opening = torch.rand(n, 1)
    flow = torch.sigmoid(6 * (opening - 0.5) * (1 + code[0].abs())) + 0.2 * code[1]
    return opening, flow + 0.02 * torch.randn(n, 1)


codes = torch.randn(N_VALVES, CODE)
measurements = [measure(code) for code in codes]
hyper = HyperNetwork()
optimizer = torch.optim.Adam(hyper.parameters(), lr=1e-3)

for epoch in range(12):
    total, batches = 0.0, 0
    for v in torch.randperm(N_VALVES).tolist():
        opening, flow = measurements[v]
        for idx in torch.randperm(len(opening)).split(16):
            weights = hyper(codes[v])
            loss = F.mse_loss(flow_net(opening[idx], weights), flow[idx])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item()
            batches += 1
    print(f"epoch {epoch}: mse {total / batches:.5f}")
