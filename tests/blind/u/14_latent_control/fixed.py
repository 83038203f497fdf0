"""Control by imagination: a world model fitted to rollouts, an actor and a value trained inside it."""
import argparse

import torch
import torch.nn.functional as F

from models import Actor, Value, WorldModel
from world import PointMass, rollout


class Learner:
    """The world model learns from data only; actor and value learn from imagined futures."""

    def __init__(self, env, args):
        self.args = args
        self.model = WorldModel(env.n_obs, env.n_act)
        self.actor = Actor(12, env.n_act)
        self.value = Value(12)
        self.model_opt = torch.optim.Adam(self.model.parameters(), lr=args.model_lr)
        self.actor_opt = torch.optim.Adam(self.actor.parameters(), lr=args.lr)
        self.value_opt = torch.optim.Adam(self.value.parameters(), lr=args.lr)

    def policy(self, obs):
        return self.actor(self.model.encode(obs))

    def fit_model(self, obs, act, rew):
        loss = self.model.loss(obs, act, rew)
        self.model_opt.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(self.model.parameters(), 10.0)
        self.model_opt.step()
        return loss.item()

    def dream(self, obs):
        with torch.no_grad():
            z = self.model.encode(obs)
        latents, rewards = [z], []
        for _ in range(self.args.horizon):
            z, r = self.model.imagine(z, self.actor(z))
            latents.append(z)
            rewards.append(r)
        return torch.stack(latents), torch.stack(rewards)

    def returns(self, latents, rewards):
        out, running = [], self.value(latents[-1])
        for r in rewards.flip(0):
            running = r + self.args.gamma * running
            out.append(running)
        return torch.stack(out[::-1])

    def fit_behaviour(self, obs):
        latents, rewards = self.dream(obs)
        targets = self.returns(latents, rewards)

        actor_loss = -targets[0].mean()
        self.actor_opt.zero_grad()
        actor_loss.backward()
        self.actor_opt.step()

        value_loss = F.mse_loss(self.value(latents[:-1].detach()), targets.detach())
        self.value_opt.zero_grad()
        value_loss.backward()
        self.value_opt.step()
        return actor_loss.item(), value_loss.item()


def main(args):
    torch.manual_seed(args.seed)
    gen = torch.Generator().manual_seed(args.seed)
    env = PointMass(32, gen)
    learner = Learner(env, args)
    for epoch in range(args.epochs):
        obs, act, rew = rollout(env, learner.policy, args.steps, args.noise, gen)
        stats = []
        for _ in range(args.updates):
            start = torch.randint(0, args.steps - args.window + 1, (1,), generator=gen).item()
            end = start + args.window
            model_loss = learner.fit_model(obs[start:end + 1], act[start:end], rew[start:end])
            stats.append((model_loss, *learner.fit_behaviour(obs[start])))
        m, a, v = (sum(s) / len(s) for s in zip(*stats))
        print(f"epoch {epoch} reward {rew.mean():.3f} model {m:.4f} actor {a:.4f} value {v:.4f}")


if __name__ == "__main__":
    p = argparse.ArgumentParser()
    p.add_argument("--epochs", type=int, default=6)
    p.add_argument("--updates", type=int, default=3)
    p.add_argument("--steps", type=int, default=12)
    p.add_argument("--window", type=int, default=6)
    p.add_argument("--horizon", type=int, default=5)
    p.add_argument("--gamma", type=float, default=0.9)
    p.add_argument("--noise", type=float, default=0.4)
    p.add_argument("--model-lr", type=float, default=1e-2)
    p.add_argument("--lr", type=float, default=2e-3)
    p.add_argument("--seed", type=int, default=13)
    main(p.parse_args())
