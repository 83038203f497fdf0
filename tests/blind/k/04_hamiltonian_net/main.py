"""Hamiltonian neural network for a pendulum.

The network gives one number, the energy H(q, p); its symplectic gradient
(dH/dp, -dH/dq) is fitted to the observed time derivatives.
"""
import torch
import torch.nn as nn

torch.manual_seed(5)

energy = nn.Sequential(nn.Linear(2, 32), nn.Tanh(), nn.Linear(32, 1, bias=False))
optimizer = torch.optim.Adam(energy.parameters(), lr=1e-2)

state = torch.rand(128, 2) * 4 - 2
velocity = torch.stack([state[:, 1], -torch.sin(state[:, 0])], dim=1)
velocity = velocity + 0.01 * torch.randn_like(velocity)


def time_derivative(x):
    x = x.clone().requires_grad_(True)
    H = energy(x)
    dH = torch.autograd.grad(H.sum(), x)[0]
    dHdq, dHdp = dH[:, 0], dH[:, 1]
    return torch.stack([dHdp, -dHdq], dim=1)


for step in range(50):
    idx = torch.randint(0, 128, (32,))
    predicted = time_derivative(state[idx])
    loss = ((predicted - velocity[idx]) ** 2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 10 == 0:
        print(step, round(loss.item(), 5))
