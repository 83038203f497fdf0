"""REINFORCE with a learned baseline on a windy grid."""
import torch
from torch import nn
from torch.distributions import Categorical

WIDTH = 5
MOVES = torch.tensor([[0, 1], [0, -1], [1, 0], [-1, 0]])


class WindyGrid:
    def __init__(self, generator):
        self.generator = generator

    def reset(self):
        self.at = torch.tensor([0, 0])
        return self.observation()

    def observation(self):
        return torch.cat([self.at.float() / WIDTH, (torch.tensor([WIDTH - 1, WIDTH - 1]) - self.at).float() / WIDTH])

    def step(self, move):
        self.at = self.at + MOVES[move]
        if torch.rand((), generator=self.generator) < 0.1:
            self.at = self.at + MOVES[1]
        self.at = self.at.clamp(0, WIDTH - 1)
        done = bool((self.at == WIDTH - 1).all())
        return self.observation(), (1.0 if done else -0.05), done


class Agent(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(4, 32), nn.Tanh())
        self.policy = nn.Linear(32, 4)
        self.value = nn.Linear(32, 1)

    def forward(self, observation):
        h = self.body(observation)
        return Categorical(logits=self.policy(h)), self.value(h).squeeze(-1)


def play(env, agent, limit=25):
    observation, rewards, log_probs, values = env.reset(), [], [], []
    for _ in range(limit):
        choice, value = agent(observation)
        move = choice.sample()
        log_probs.append(choice.log_prob(move))
        values.append(value)
        observation, reward, done = env.step(move)
        rewards.append(reward)
        if done:
            break
    return rewards, torch.stack(log_probs), torch.stack(values)


def returns(rewards, gamma=0.97):
    total, found = 0.0, []
    for reward in reversed(rewards):
        total = reward + gamma * total
        found.insert(0, total)
    return torch.tensor(found)


torch.manual_seed(71)
env, agent = WindyGrid(torch.Generator().manual_seed(4)), Agent()
optimizer = torch.optim.Adam(agent.parameters(), lr=1e-2)
recent = []
for episode in range(1, 61):
    rewards, log_probs, values = play(env, agent)
    wanted = returns(rewards)
    advantage = wanted - values
    policy_loss = -(log_probs * advantage.detach()).mean()
    value_loss = advantage.pow(2).mean()
    optimizer.zero_grad()
    (policy_loss + 0.5 * value_loss).backward()
    optimizer.step()
    recent.append(sum(rewards))
    if episode % 15 == 0:
        print(f"episode {episode}: mean return of the last 15 {sum(recent[-15:]) / 15:.3f}, value loss {value_loss.item():.4f}")
