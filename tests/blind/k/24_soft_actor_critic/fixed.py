"""SAC on a point-mass task."""
import torch

from agent_fixed import SAC
from replay import ReplayMemory


class PointMass:
    """Drive a point to the goal; observation is (position, goal)."""

    obs, act = 4, 2

    def reset(self):
        self.pos, self.goal, self.t = torch.zeros(2), torch.randn(2), 0
        return torch.cat([self.pos, self.goal])

    def step(self, a):
        self.pos = self.pos + 0.2 * a
        self.t += 1
        distance = (self.pos - self.goal).norm()
        return torch.cat([self.pos, self.goal]), -distance, bool(distance < 0.1 or self.t >= 15)


def main():
    torch.manual_seed(59)
    env = PointMass()
    agent = SAC(env.obs, env.act)
    memory = ReplayMemory(env.obs, env.act)

    s = env.reset()
    for t in range(52):
        a = agent.select_action(s) if t > 16 else torch.rand(2) * 2 - 1
        s2, r, done = env.step(a)
        memory.push(s, a, r, s2, done)
        s = env.reset() if done else s2
        if t >= 32:
            stats = agent.update(memory.sample(24))
            if t % 5 == 0:
                print(t, {k: round(v, 4) for k, v in stats.items()}, "alpha", round(agent.alpha.item(), 4))


if __name__ == "__main__":
    main()
