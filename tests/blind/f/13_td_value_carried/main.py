"""TD(0) evaluation of a random policy on a noisy corridor."""
import torch
import torch.nn as nn

LENGTH = 9
GAMMA = 0.9


class Corridor:
    def __init__(self, seed):
        self.generator = torch.Generator().manual_seed(seed)

    def observe(self):
        where = torch.zeros(LENGTH)
        where[self.position] = 1.0
        return where + 0.01 * torch.randn(LENGTH, generator=self.generator)

    def reset(self):
        self.position = LENGTH // 2
        return self.observe()

    def step(self):
        move = 1 if torch.rand((), generator=self.generator) < 0.6 else -1
        self.position += move
        done = self.position in (0, LENGTH - 1)
        reward = 1.0 if self.position == LENGTH - 1 else 0.0
        return self.observe(), reward, done


def evaluate(env, critic, optimizer, episodes=30):
    for episode in range(episodes):
        state, done = env.reset(), False
        value = critic(state)
        errors = []
        while not done:
            state, reward, done = env.step()
            next_value = critic(state)
            target = reward + (0.0 if done else GAMMA * next_value.detach())
            td_error = target - value
            loss = 0.5 * td_error.pow(2).mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            errors.append(loss.item())
            value = next_value  # no need to evaluate the state again
        if episode % 6 == 5:
            print(f"episode {episode}: {len(errors)} steps, mean squared TD error {sum(errors) / len(errors):.5f}")


torch.manual_seed(13)
critic = nn.Sequential(nn.Linear(LENGTH, 32), nn.Tanh(), nn.Linear(32, 1))
optimizer = torch.optim.SGD(critic.parameters(), lr=0.05)
evaluate(Corridor(seed=5), critic, optimizer)
with torch.no_grad():
    print("values", [round(v, 2) for v in critic(torch.eye(LENGTH)[1:-1]).squeeze(1).tolist()])
