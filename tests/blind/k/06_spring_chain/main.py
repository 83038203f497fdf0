"""System identification: stiffness and drag of a chain of masses.

The chain is simulated with semi-implicit Euler and the whole simulated
trajectory is matched to the measured one (gradients through the simulator).
"""
import torch

torch.manual_seed(2)
N, DT, STEPS = 6, 0.05, 30


def accelerations(pos, vel, stiffness, drag):
    left = torch.cat([torch.zeros(1), pos[:-1]])
    right = torch.cat([pos[1:], torch.zeros(1)])
    return stiffness * (left + right - 2 * pos) - drag * vel


def simulate(pos, vel, stiffness, drag):
    trajectory = []
    pos, vel = pos.clone(), vel.clone()
    for _ in range(STEPS):
        vel += DT * accelerations(pos, vel, stiffness, drag)
        pos = pos + DT * vel
        trajectory.append(pos)
    return torch.stack(trajectory)


pos0, vel0 = torch.randn(N) * 0.5, torch.randn(N) * 0.1
with torch.no_grad():
    measured = simulate(pos0, vel0, torch.tensor(4.0), torch.tensor(0.6))
    measured = measured + 0.002 * torch.randn_like(measured)

stiffness = torch.tensor(2.5, requires_grad=True)
drag = torch.tensor(0.1, requires_grad=True)
optimizer = torch.optim.Adam([stiffness, drag], lr=0.05)

for epoch in range(40):
    optimizer.zero_grad()
    simulated = simulate(pos0, vel0, stiffness, drag)
    loss = ((simulated - measured) ** 2).mean()
    loss.backward()
    optimizer.step()

print("loss", round(loss.item(), 6), "k", round(stiffness.item(), 3), "c", round(drag.item(), 3))
