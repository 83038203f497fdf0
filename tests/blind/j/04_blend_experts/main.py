"""Learn how to blend five weather models into one temperature forecast.

Each weather model gets a share; shares are positive and sum to one. A small bias
correction is learned with them. We train on one day after another.
"""
import torch

torch.manual_seed(4)

days = 60
truth = 15 + 8 * torch.sin(torch.arange(days) / 9.0)
noise = torch.tensor([0.3, 1.0, 2.0, 4.0, 6.0])
experts = truth[:, None] + noise * torch.randn(days, 5) + torch.tensor([0.5, 0.0, -0.5, 1.0, -2.0])

logits = torch.zeros(5, requires_grad=True)
bias = torch.zeros(1, requires_grad=True)
optimizer = torch.optim.Adam([logits, bias], lr=0.05)

shares = torch.softmax(logits, dim=0)

total = 0.0
for day in range(days):
    forecast = (shares * experts[day]).sum() + bias
    loss = (forecast - truth[day]).abs().sum()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    total += loss.item()

print("mean absolute error", round(total / days, 3))
print("shares", [round(s, 3) for s in torch.softmax(logits, 0).tolist()], "bias", round(bias.item(), 3))
