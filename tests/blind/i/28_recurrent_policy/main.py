"""Recurrent policy in parallel memory games: the state is carried over updates and zeroed where a game has ended."""
import torch
import torch.nn as nn
import torch.nn.functional as F
from torch.distributions import Categorical

GAMES, ROLLOUT, DELAY = 24, 8, 4


class MemoryGames:
    """A cue is shown at the start; after DELAY steps the agent must answer with it. Then a new game begins."""

    def __init__(self):
        self.clock = torch.randint(0, DELAY, (GAMES,))
        self.cue = torch.randint(0, 2, (GAMES,))

    def observe(self):
        shown = F.one_hot(self.cue, 2) * (self.clock == 0)[:, None]
        asked = (self.clock == DELAY).float()[:, None]
        return torch.cat([shown.float(), asked], 1)

    def step(self, action):
        asked = self.clock == DELAY
        reward = torch.where(asked, (action == self.cue).float() * 2 - 1, torch.zeros(GAMES))
        self.clock = torch.where(asked, 0, self.clock + 1)
        self.cue = torch.where(asked, torch.randint(0, 2, (GAMES,)), self.cue)
        return reward, asked


class Policy(nn.Module):
    def __init__(self, hidden=24):
        super().__init__()
        self.rnn = nn.GRUCell(3, hidden)
        self.actor = nn.Linear(hidden, 2)

    def forward(self, observation, h):
        h = self.rnn(observation, h)
        return Categorical(logits=self.actor(h)), h


torch.manual_seed(62)
games, policy = MemoryGames(), Policy()
optimizer = torch.optim.Adam(policy.parameters(), lr=1e-2)
h = torch.zeros(GAMES, 24)
scores = []

for update in range(1, 76):
    log_probs, rewards = [], []
    h = h.detach()
    for _ in range(ROLLOUT):
        dist, h = policy(games.observe(), h)
        action = dist.sample()
        reward, ended = games.step(action)
        log_probs.append(dist.log_prob(action))
        rewards.append(reward)
        h = h * (~ended).float()[:, None]
    rewards = torch.stack(rewards)
    loss = -(torch.stack(log_probs) * rewards).sum() / GAMES
    optimizer.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(policy.parameters(), 1.0)
    optimizer.step()
    answered = rewards[rewards != 0]
    scores.append(answered.mean().item())
    if update % 15 == 0:
        print(f"update {update}: mean score of the answers {sum(scores[-15:]) / 15:.3f}")
