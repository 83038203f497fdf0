import torch


class PointMass:
    """Batch of point masses in the plane; the goal is the origin."""

    n_obs, n_act = 4, 2

    def __init__(self, batch, gen):
        self.batch, self.gen = batch, gen

    def reset(self):
        pos = torch.empty(self.batch, 2).uniform_(-1, 1, generator=self.gen)
        self.state = torch.cat([pos, torch.zeros(self.batch, 2)], 1)
        return self.state

    def step(self, action):
        pos, vel = self.state.split(2, dim=1)
        vel = 0.8 * vel + 0.2 * action
        pos = pos + 0.3 * vel
        self.state = torch.cat([pos, vel], 1)
        return self.state, -pos.norm(dim=1)


@torch.no_grad()
def rollout(env, policy, steps, noise, gen):
    obs = [env.reset()]
    acts, rews = [], []
    for _ in range(steps):
        a = policy(obs[-1])
        a = (a + noise * torch.randn(a.shape, generator=gen)).clamp(-1, 1)
        o, r = env.step(a)
        obs.append(o)
        acts.append(a)
        rews.append(r)
    return torch.stack(obs), torch.stack(acts), torch.stack(rews)
