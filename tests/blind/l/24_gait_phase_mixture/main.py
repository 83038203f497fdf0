"""Gait analysis: a gated mixture of linear experts over the phases of a stride.

The phase profile (how strongly each expert is on at each phase) is the softmax of
trained logits.  It was moved out of the loop because it "does not depend on x";
retain_graph was added when that raised.
"""
import torch
import torch.nn as nn

torch.manual_seed(22)
PHASES, EXPERTS = 10, 3


class Profile(nn.Module):
    def __init__(self):
        super().__init__()
        self.logits = nn.Parameter(0.1 * torch.randn(PHASES, EXPERTS))

    def forward(self):
        return torch.softmax(self.logits, dim=-1)


class Experts(nn.Module):
    def __init__(self, sensors=4):
        super().__init__()
        self.weight = nn.Parameter(torch.randn(EXPERTS, sensors) * 0.3)

    def forward(self, x):
        return x @ self.weight.t()


def strides(n=64):
    phase = torch.randint(0, PHASES, (n,))
    x = torch.randn(n, 4)
    knee = torch.where(phase < 4, x[:, 0], x[:, 1] - x[:, 2])
    return phase, x, knee


profile, experts = Profile(), Experts()
optimizer = torch.optim.Adam([*profile.parameters(), *experts.parameters()], lr=0.05)
on = profile()

for step in range(20):
    phase, x, knee = strides()
    estimate = (on[phase] * experts(x)).sum(-1)
    loss = (estimate - knee).pow(2).mean()
    optimizer.zero_grad()
    loss.backward(retain_graph=True)
    optimizer.step()
    if step % 5 == 0:
        print(step, f"{loss.item():.4f}")

with torch.no_grad():
    print("profile at phase 0:", [round(v, 3) for v in profile()[0].tolist()])
