"""GFlowNet that builds binary strings, trained with trajectory balance."""
import torch
import torch.nn as nn


class StringReward:
    """High for strings with long runs; strictly positive."""

    def __init__(self, length):
        self.length = length

    def log_reward(self, strings):
        same = (strings[:, 1:] == strings[:, :-1]).float().sum(dim=1)
        return 2.0 * same - self.length


class ForwardPolicy(nn.Module):
    def __init__(self, length, hidden=64):
        super().__init__()
        self.length = length
        self.net = nn.Sequential(
            nn.Linear(2 * length, hidden), nn.ReLU(),
            nn.Linear(hidden, hidden), nn.ReLU(),
            nn.Linear(hidden, 2),
        )

    def forward(self, partial, mask):
        return torch.log_softmax(self.net(torch.cat([partial, mask], dim=1)), dim=1)


class RunningStats:
    """Exponential averages of what the agent reports."""

    def __init__(self, decay=0.95):
        self.decay = decay
        self.values = {}

    def update(self, **stats):
        for name, value in stats.items():
            old = self.values.get(name)
            self.values[name] = value if old is None else self.decay * old + (1 - self.decay) * value

    def line(self):
        return "  ".join(f"{k} {v:.4f}" for k, v in self.values.items())


class GFlowNetAgent:
    def __init__(self, length=8, batch=32, lr=2e-3, lr_z=5e-2, explore=0.05, seed=21):
        torch.manual_seed(seed)
        self.length, self.batch, self.explore = length, batch, explore
        self.reward = StringReward(length)
        self.policy = ForwardPolicy(length)
        self.log_z = nn.Parameter(torch.zeros(()))
        self.opt = torch.optim.Adam([
            {"params": self.policy.parameters(), "lr": lr},
            {"params": [self.log_z], "lr": lr_z},
        ])
        self.stats = RunningStats()

    def sample(self):
        """Trajectories of the exploring policy and their log-probabilities."""
        partial = torch.zeros(self.batch, self.length)
        mask = torch.zeros(self.batch, self.length)
        log_pf = torch.zeros(self.batch)
        for t in range(self.length):
            log_probs = self.policy(partial, mask)
            probs = (1 - self.explore) * log_probs.detach().exp() + self.explore / 2
            bit = torch.multinomial(probs, 1)
            log_pf = log_pf + log_probs.gather(1, bit).squeeze(1)
            position = torch.zeros(self.length)
            position[t] = 1.0
            partial = partial + bit.float() * position
            mask = mask + position
        return partial, log_pf

    def train_step(self):
        strings, log_pf = self.sample()
        log_r = self.reward.log_reward(strings)
        loss = (self.log_z + log_pf - log_r).pow(2).mean()
        self.opt.zero_grad()
        loss.backward()
        self.opt.step()
        self.stats.update(loss=loss.item(), log_reward=log_r.mean(), log_pf=log_pf.mean().item())

    def train(self, steps):
        for step in range(steps):
            self.train_step()
            if (step + 1) % 20 == 0:
                print(f"step {step + 1:4d}  {self.stats.line()}  log_z {self.log_z.item():.3f}")


if __name__ == "__main__":
    GFlowNetAgent().train(120)
