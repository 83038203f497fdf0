"""Recurrent Q-learning on a corridor where the cue for the exit is only shown at the start."""
import argparse
import copy

import torch
import torch.nn as nn
import torch.nn.functional as F


def options():
    p = argparse.ArgumentParser()
    p.add_argument("--rounds", type=int, default=10)
    p.add_argument("--envs", type=int, default=64)
    p.add_argument("--chunk", type=int, default=4)
    p.add_argument("--length", type=int, default=12)
    p.add_argument("--gamma", type=float, default=0.9)
    p.add_argument("--sync", type=int, default=5)
    p.add_argument("--lr", type=float, default=5e-3)
    return p.parse_args()


class CueCorridor:
    """Cue at t=0; at every t a left/right choice; reward when the choice agrees with the cue and clock."""

    def __init__(self, n, length, generator):
        self.n, self.length, self.g = n, length, generator

    def reset(self):
        self.cue = torch.randint(2, (self.n,), generator=self.g)
        self.t = 0
        return self.observe()

    def observe(self):
        shown = F.one_hot(self.cue, 2).float() * float(self.t == 0)
        clock = torch.full((self.n, 1), self.t / self.length)
        return torch.cat([shown, clock, 0.1 * torch.randn(self.n, 1, generator=self.g)], dim=1)

    def step(self, action):
        reward = (action == self.cue).float() - 0.5
        self.t += 1
        done = float(self.t >= self.length)
        return self.observe(), reward, done


class RecurrentQ(nn.Module):
    def __init__(self, obs, hidden=32, actions=2):
        super().__init__()
        self.hidden = hidden
        self.cell = nn.GRUCell(obs, hidden)
        self.q = nn.Linear(hidden, actions)

    def start(self, n):
        return torch.zeros(n, self.hidden)

    def forward(self, obs, h):
        h = self.cell(obs, h)
        return self.q(h), h


class Learner:
    def __init__(self, args):
        self.args = args
        self.online = RecurrentQ(4)
        self.target = copy.deepcopy(self.online).requires_grad_(False)
        self.opt = torch.optim.Adam(self.online.parameters(), lr=args.lr)
        self.updates = 0

    def learn(self, terms):
        loss = torch.stack(terms).mean()
        self.opt.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(self.online.parameters(), 5.0)
        self.opt.step()
        self.updates += 1
        if self.updates % self.args.sync == 0:
            self.target.load_state_dict(self.online.state_dict())
        return loss.item()

    def play(self, env, eps, gen):
        h, h_target = self.online.start(env.n), self.target.start(env.n)
        obs, done, total, losses, terms = env.reset(), 0.0, 0.0, [], []
        _, h_target = self.target(obs, h_target)
        while not done:
            q, h = self.online(obs, h)
            random = torch.rand(env.n, generator=gen) < eps
            action = torch.where(random, torch.randint(2, (env.n,), generator=gen), q.argmax(1))
            obs, reward, done = env.step(action)
            q_next, h_target = self.target(obs, h_target)
            goal = reward + self.args.gamma * (1 - done) * q_next.max(1).values
            chosen = q.gather(1, action.unsqueeze(1)).squeeze(1)
            terms.append(F.smooth_l1_loss(chosen, goal))
            total += reward.mean().item()
            if len(terms) == self.args.chunk or done:
                losses.append(self.learn(terms))
                h, terms = h.detach(), []
        return sum(losses) / len(losses), total


def main():
    args = options()
    torch.manual_seed(2)
    gen = torch.Generator().manual_seed(3)
    env = CueCorridor(args.envs, args.length, gen)
    learner = Learner(args)
    for r in range(args.rounds):
        eps = max(0.05, 0.6 * 0.75 ** r)
        loss, total = learner.play(env, eps, gen)
        print(f"round {r + 1:2d}  eps {eps:.2f}  td loss {loss:.4f}  return {total:.3f}")


if __name__ == "__main__":
    main()
