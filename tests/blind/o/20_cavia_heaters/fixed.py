"""CAVIA (fast context adaptation) on step responses of electric heaters.

The network is shared by all heaters and is what the meta optimizer trains. A heater is
described only by a small context vector, an extra input. It starts from zero for
every heater, takes two gradient steps on that heater's support points, and the
adapted context is used for the query points. Gradients go through the inner steps.
"""
import torch
import torch.nn as nn
import torch.nn.functional as F

torch.manual_seed(20)
N_CONTEXT, INNER_STEPS, INNER_LR, TASKS = 4, 2, 0.5, 3


class ResponseNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.inp = nn.Linear(1 + N_CONTEXT, 32)
        self.mid = nn.Linear(32, 32)
        self.out = nn.Linear(32, 1)

    def forward(self, t, context):
        z = torch.cat([t, context.expand(t.shape[0], -1)], dim=1)
        return self.out(torch.tanh(self.mid(torch.tanh(self.inp(z)))))


def sample_heater(n=10):
    gain = 0.5 + torch.rand(1)
    tau = 0.3 + torch.rand(1)

    def measure():
        t = 3 * torch.rand(n, 1)
        return t, gain * (1 - torch.exp(-t / tau))

    return measure(), measure()


def adapt(net, context, support):
    t, y = support
    for _ in range(INNER_STEPS):
        loss = F.mse_loss(net(t, context), y)
        grad, = torch.autograd.grad(loss, context, create_graph=True)
        context = context - INNER_LR * grad
    return context


def main():
    net = ResponseNet()
    meta_opt = torch.optim.Adam(net.parameters(), lr=1e-3)

    for it in range(15):
        meta_loss = 0.0
        for _ in range(TASKS):
            support, query = sample_heater()
            context = torch.zeros(1, N_CONTEXT, requires_grad=True)
            context = adapt(net, context, support)
            t, y = query
            meta_loss = meta_loss + F.mse_loss(net(t, context), y) / TASKS
        meta_opt.zero_grad()
        meta_loss.backward()
        meta_opt.step()
        if it % 5 == 0:
            print(f"iteration {it} query mse {meta_loss.item():.4f}")


main()
