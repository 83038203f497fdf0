"""A vacuum robot that explores by random network distillation (RND).

A predictor imitates a frozen random network; where it fails the place is new, and
its error is the bonus. The policy is trained by REINFORCE with the scaled bonus as
its reward. As usual the reward is a number: the policy's loss trains the policy,
the predictor is trained by its own error and by nothing else.
"""
import torch
import torch.nn as nn

torch.manual_seed(3)
OBS, ACTIONS, HORIZON = 6, 4, 24


class RunningScale:
    """Divides by a running standard deviation."""

    def __init__(self, momentum=0.9):
        self.momentum = momentum
        self.var = torch.tensor(1.0)

    def __call__(self, x):
        self.var = self.momentum * self.var + (1 - self.momentum) * x.var()
        return x / (self.var.sqrt() + 1e-5)


class Room:
    MOVES = torch.tensor([[1.0, 0.0], [-1.0, 0.0], [0.0, 1.0], [0.0, -1.0]])

    def reset(self):
        self.pos = torch.zeros(2)
        return self.observe()

    def step(self, action):
        self.pos = (self.pos + self.MOVES[action] * 0.2).clamp(-1, 1)
        return self.observe()

    def observe(self):
        x, y = self.pos
        return torch.stack([x, y, x * y, x ** 2, y ** 2, torch.tensor(1.0)])


def mlp(n_in, n_out):
    return nn.Sequential(nn.Linear(n_in, 32), nn.Tanh(), nn.Linear(32, n_out))


policy = mlp(OBS, ACTIONS)
predictor = mlp(OBS, 8)
target = mlp(OBS, 8)
target.requires_grad_(False)

policy_opt = torch.optim.Adam(policy.parameters(), lr=3e-3)
predictor_opt = torch.optim.Adam(predictor.parameters(), lr=1e-3)
scale = RunningScale()
room = Room()

for episode in range(20):
    seen, logps = [], []
    obs = room.reset()
    for _ in range(HORIZON):
        dist = torch.distributions.Categorical(logits=policy(obs))
        action = dist.sample()
        logps.append(dist.log_prob(action))
        obs = room.step(action.item())
        seen.append(obs)
    seen = torch.stack(seen)

    error = (predictor(seen) - target(seen)).pow(2).mean(dim=1)
    reward = scale(error)
    advantage = reward - reward.mean()

    policy_loss = -(torch.stack(logps) * advantage).mean()
    policy_opt.zero_grad()
    policy_loss.backward()
    policy_opt.step()

    predictor_loss = error.mean()
    predictor_opt.zero_grad()
    predictor_loss.backward()
    predictor_opt.step()

    if episode % 5 == 0:
        print(f"episode {episode} bonus {predictor_loss.item():.4f}")
