"""GFlowNet with trajectory balance on short bit strings.

Strings are built bit by bit from left to right; the sampler is trained so that
a finished string is drawn in proportion to its reward. The moving average of
the loss is only there for the progress report.
"""
import torch
import torch.nn as nn

torch.manual_seed(17)

LENGTH = 8
MODES = torch.tensor([[1, 0, 1, 0, 1, 0, 1, 0], [1, 1, 1, 1, 0, 0, 0, 0], [0, 0, 1, 1, 0, 0, 1, 1]]).float()


def log_reward(strings):
    distance = (strings.unsqueeze(1) - MODES).abs().sum(-1).min(dim=1).values
    return 2.0 - distance


class ForwardPolicy(nn.Module):
    def __init__(self, width=64):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(2 * LENGTH, width), nn.ReLU(), nn.Linear(width, 1))
        self.log_z = nn.Parameter(torch.tensor(1.0))

    def sample(self, n):
        bits = torch.zeros(n, LENGTH)
        filled = torch.zeros(n, LENGTH)
        log_pf = torch.zeros(n)
        for t in range(LENGTH):
            logit = self.net(torch.cat([bits, filled], dim=-1)).squeeze(-1)
            dist = torch.distributions.Bernoulli(logits=logit)
            bit = dist.sample()
            log_pf = log_pf + dist.log_prob(bit)
            bits, filled = bits.clone(), filled.clone()
            bits[:, t] = bit
            filled[:, t] = 1.0
        return bits, log_pf


class GFlowNetAgent:
    def __init__(self, policy, lr=5e-3, lr_z=5e-2, ema_alpha=0.1):
        self.policy = policy
        self.optimizer = torch.optim.Adam([
            {"params": policy.net.parameters()},
            {"params": [policy.log_z], "lr": lr_z},
        ], lr=lr)
        self.ema_alpha = ema_alpha
        self.loss_ema = None

    def train_step(self, batch_size):
        strings, log_pf = self.policy.sample(batch_size)
        loss = (self.policy.log_z + log_pf - log_reward(strings)).pow(2).mean()
        self.optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(self.policy.parameters(), 10.0)
        self.optimizer.step()
        self.update_ema(loss.item())

    def update_ema(self, loss):
        if self.loss_ema is None:
            self.loss_ema = loss
        else:
            self.loss_ema = (1 - self.ema_alpha) * self.loss_ema + self.ema_alpha * loss


agent = GFlowNetAgent(ForwardPolicy())
for it in range(1, 151):
    agent.train_step(64)
    if it % 25 == 0:
        print(f"it {it:4d}  loss(ema) {agent.loss_ema:.3f}  log Z {agent.policy.log_z.item():.3f}")
