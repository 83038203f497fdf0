import copy

import torch
import torch.nn as nn
import torch.nn.functional as F


def mlp(n_in, n_out, width=32):
    return nn.Sequential(nn.Linear(n_in, width), nn.ReLU(), nn.Linear(width, width), nn.ReLU(), nn.Linear(width, n_out))


class Actor(nn.Module):
    def __init__(self, n_state, n_action):
        super().__init__()
        self.net = mlp(n_state, 2 * n_action)

    def sample(self, state):
        mean, log_std = self.net(state).chunk(2, dim=1)
        dist = torch.distributions.Normal(mean, log_std.clamp(-4, 1).exp())
        raw = dist.rsample()
        action = torch.tanh(raw)
        log_prob = dist.log_prob(raw) - torch.log(1 - action.pow(2) + 1e-6)
        return action, log_prob.sum(1, keepdim=True)


class TwinCritic(nn.Module):
    def __init__(self, n_state, n_action):
        super().__init__()
        self.q1, self.q2 = mlp(n_state + n_action, 1), mlp(n_state + n_action, 1)

    def forward(self, state, action):
        sa = torch.cat([state, action], 1)
        return self.q1(sa), self.q2(sa)


class SoftActorCritic:
    def __init__(self, n_state, n_action, args):
        self.gamma, self.tau = args.gamma, args.tau
        self.actor = Actor(n_state, n_action)
        self.critic = TwinCritic(n_state, n_action)
        self.target = copy.deepcopy(self.critic).requires_grad_(False)
        self.log_alpha = torch.zeros(1, requires_grad=True)
        self.target_entropy = -float(n_action)
        self.actor_opt = torch.optim.Adam(self.actor.parameters(), lr=args.lr)
        self.critic_opt = torch.optim.Adam(self.critic.parameters(), lr=args.lr)
        self.alpha_opt = torch.optim.Adam([self.log_alpha], lr=args.lr)

    def update(self, batch):
        s, a, r, s2 = (batch[k] for k in ("state", "action", "reward", "next_state"))
        alpha = self.log_alpha.exp()

        with torch.no_grad():
            a2, logp2 = self.actor.sample(s2)
            backup = r + self.gamma * (torch.min(*self.target(s2, a2)) - alpha * logp2)
        q1, q2 = self.critic(s, a)
        critic_loss = F.mse_loss(q1, backup) + F.mse_loss(q2, backup)
        self._step(self.critic_opt, critic_loss)

        new_a, logp = self.actor.sample(s)
        alpha_loss = -(alpha * (logp + self.target_entropy).detach()).mean()
        self._step(self.alpha_opt, alpha_loss)

        q = torch.min(*self.critic(s, new_a))
        actor_loss = (alpha.detach() * logp - q).mean()
        self._step(self.actor_opt, actor_loss)

        self._track()
        return {"critic": critic_loss.item(), "actor": actor_loss.item(),
                "alpha": alpha.item(), "entropy": -logp.mean().item()}

    @staticmethod
    def _step(optimizer, loss):
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()

    @torch.no_grad()
    def _track(self):
        for target, source in zip(self.target.parameters(), self.critic.parameters()):
            target.lerp_(source, self.tau)
