"""Deterministic actor-critic for a tank-level controller, trained from logged transitions."""
import copy
from dataclasses import dataclass

import torch
import torch.nn as nn
import torch.nn.functional as F

from engine import Engine, Phase


@dataclass
class Config:
    transitions: int = 512
    batch: int = 64
    epochs: int = 3
    gamma: float = 0.9
    tau: float = 0.1
    actor_lr: float = 2e-3
    critic_lr: float = 4e-3
    seed: int = 13


class Actor(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(2, 32), nn.ReLU(), nn.Linear(32, 1), nn.Tanh())

    def forward(self, state):
        return self.net(state)


class Critic(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(3, 48), nn.ReLU(), nn.Linear(48, 48), nn.ReLU(), nn.Linear(48, 1))

    def forward(self, state, action):
        return self.net(torch.cat([state, action], dim=1))


def logged_transitions(cfg):
    gen = torch.Generator().manual_seed(cfg.seed)
    level = 2 * torch.rand(cfg.transitions, 1, generator=gen) - 1
    inflow = 0.5 * torch.randn(cfg.transitions, 1, generator=gen)
    valve = 2 * torch.rand(cfg.transitions, 1, generator=gen) - 1
    new_level = level + 0.3 * inflow - 0.4 * valve
    new_inflow = 0.8 * inflow + 0.1 * torch.randn(cfg.transitions, 1, generator=gen)
    reward = -(new_level ** 2) - 0.02 * valve ** 2
    return {
        "state": torch.cat([level, inflow], 1), "action": valve, "reward": reward,
        "next_state": torch.cat([new_level, new_inflow], 1),
    }


class TankController:
    def __init__(self, cfg):
        self.cfg = cfg
        self.actor, self.critic = Actor(), Critic()
        self.actor_target, self.critic_target = copy.deepcopy(self.actor), copy.deepcopy(self.critic)

    def phases(self):
        return [
            Phase("actor", self.actor_loss, torch.optim.Adam(self.actor.parameters(), lr=self.cfg.actor_lr)),
            Phase("critic", self.critic_loss, torch.optim.Adam(self.critic.parameters(), lr=self.cfg.critic_lr)),
        ]

    def actor_loss(self, batch):
        return -self.critic(batch["state"], self.actor(batch["state"])).mean()

    def critic_loss(self, batch):
        with torch.no_grad():
            next_action = self.actor_target(batch["next_state"])
            backup = batch["reward"] + self.cfg.gamma * self.critic_target(batch["next_state"], next_action)
        return F.mse_loss(self.critic(batch["state"], batch["action"]), backup)

    @torch.no_grad()
    def track(self):
        for net, target in ((self.actor, self.actor_target), (self.critic, self.critic_target)):
            for p, q in zip(net.parameters(), target.parameters()):
                q.lerp_(p, self.cfg.tau)


def main():
    cfg = Config()
    torch.manual_seed(cfg.seed)
    data = logged_transitions(cfg)
    controller = TankController(cfg)
    engine = Engine(controller.phases(), after_step=controller.track)
    for epoch in range(cfg.epochs):
        order = torch.randperm(cfg.transitions)
        logs = [engine.step({k: v[idx] for k, v in data.items()}) for idx in order.split(cfg.batch)]
        summary = {name: sum(entry[name] for entry in logs) / len(logs) for name in logs[0]}
        print(f"epoch {epoch}: " + "  ".join(f"{k} loss {v:.4f}" for k, v in summary.items()))


if __name__ == "__main__":
    main()
