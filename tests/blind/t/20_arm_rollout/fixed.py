"""System identification of a two-link arm: roll a learned model out and match recorded motions."""
import argparse
from dataclasses import dataclass

import torch
import torch.nn as nn


@dataclass
class Recording:
    start: torch.Tensor      # (episodes, 4)  joint angles and speeds
    torques: torch.Tensor    # (episodes, steps, 2)
    motion: torch.Tensor     # (episodes, steps + 1, 4)


def true_acceleration(state, torque):
    q, v = state[..., :2], state[..., 2:]
    coupling = torch.stack([torch.sin(q[..., 0] - q[..., 1]), torch.sin(q[..., 1] - q[..., 0])], -1)
    return torque - 0.3 * v - 1.5 * torch.sin(q) - 0.4 * coupling


def record(episodes, steps, dt, seed):
    g = torch.Generator().manual_seed(seed)
    start = 0.5 * torch.randn(episodes, 4, generator=g)
    torques = torch.randn(episodes, steps, 2, generator=g)
    frames, state = [start], start
    for t in range(steps):
        acc = true_acceleration(state, torques[:, t])
        state = state + dt * torch.cat([state[:, 2:], acc], -1)
        frames.append(state)
    return Recording(start, torques, torch.stack(frames, 1))


class ArmModel(nn.Module):
    def __init__(self, hidden=32, dt=0.1):
        super().__init__()
        self.dt = dt
        self.net = nn.Sequential(nn.Linear(8, hidden), nn.Tanh(), nn.Linear(hidden, 2))

    def derivative(self, state, torque):
        angles, speeds = state[..., :2], state[..., 2:]
        acc = self.net(torch.cat([angles.sin(), angles.cos(), speeds, torque], dim=-1))
        return torch.cat([speeds, acc], dim=-1)

    def rollout(self, start, torques):
        steps = torques.shape[1]
        motion = [start]
        for t in range(steps):
            step = self.derivative(motion[t], torques[:, t])
            motion.append(motion[t] + self.dt * step)
        return torch.stack(motion, dim=1)


def run_epoch(model, data, optimizer, batch_size):
    total = 0.0
    order = torch.randperm(len(data.start))
    for idx in order.split(batch_size):
        predicted = model.rollout(data.start[idx], data.torques[idx])
        error = predicted - data.motion[idx]
        loss = error[..., :2].pow(2).mean() + 0.1 * error[..., 2:].pow(2).mean()
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        total += loss.item() * len(idx)
    return total / len(order)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--epochs", type=int, default=8)
    parser.add_argument("--steps", type=int, default=12)
    parser.add_argument("--batch-size", type=int, default=16)
    args = parser.parse_args()
    torch.manual_seed(0)
    data = record(64, args.steps, dt=0.1, seed=4)
    model = ArmModel()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-2)
    scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, args.epochs)
    for epoch in range(args.epochs):
        loss = run_epoch(model, data, optimizer, args.batch_size)
        scheduler.step()
        print(f"epoch {epoch:2d}  rollout error {loss:.5f}")


if __name__ == "__main__":
    main()
