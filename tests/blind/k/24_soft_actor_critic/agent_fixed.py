"""Soft actor-critic with a tuned temperature (Haarnoja et al., 2018b)."""
import copy

import torch
import torch.nn.functional as F

from networks import GaussianPolicy, TwinQ


class SAC:
    def __init__(self, obs, act, gamma=0.98, tau=0.01, lr=1e-3):
        self.gamma, self.tau = gamma, tau
        self.critic = TwinQ(obs, act)
        self.critic_target = copy.deepcopy(self.critic).requires_grad_(False)
        self.policy = GaussianPolicy(obs, act)
        self.log_alpha = torch.zeros(1, requires_grad=True)
        self.target_entropy = -float(act)
        self.critic_optim = torch.optim.Adam(self.critic.parameters(), lr=lr)
        self.policy_optim = torch.optim.Adam(self.policy.parameters(), lr=lr)
        self.alpha_optim = torch.optim.Adam([self.log_alpha], lr=lr)

    @property
    def alpha(self):
        return self.log_alpha.exp()

    @torch.no_grad()
    def select_action(self, s):
        return self.policy.sample(s.unsqueeze(0))[0].squeeze(0)

    def update_critic(self, s, a, r, s2, done):
        with torch.no_grad():
            a2, log_pi2 = self.policy.sample(s2)
            q_next = torch.min(*self.critic_target(s2, a2)) - self.alpha * log_pi2
            target = r + (1 - done) * self.gamma * q_next
        q1, q2 = self.critic(s, a)
        loss = F.mse_loss(q1, target) + F.mse_loss(q2, target)
        self.critic_optim.zero_grad()
        loss.backward()
        self.critic_optim.step()
        return loss.item()

    def update_policy_and_temperature(self, s):
        pi, log_pi = self.policy.sample(s)
        q = torch.min(*self.critic(s, pi))

        # the policy: high value and high entropy at the current temperature
        policy_loss = (self.alpha.detach() * log_pi - q).mean()
        self.policy_optim.zero_grad()
        policy_loss.backward()
        self.policy_optim.step()

        # the temperature: a dual variable, moved towards the target entropy
        alpha_loss = -(self.log_alpha * (log_pi.detach() + self.target_entropy)).mean()
        self.alpha_optim.zero_grad()
        alpha_loss.backward()
        self.alpha_optim.step()
        return policy_loss.item(), alpha_loss.item()

    @torch.no_grad()
    def update_target(self):
        for t, p in zip(self.critic_target.parameters(), self.critic.parameters()):
            t.mul_(1 - self.tau).add_(p, alpha=self.tau)

    def update(self, batch):
        critic_loss = self.update_critic(*batch)
        policy_loss, alpha_loss = self.update_policy_and_temperature(batch[0])
        self.update_target()
        return {"critic": critic_loss, "policy": policy_loss, "alpha": alpha_loss}
