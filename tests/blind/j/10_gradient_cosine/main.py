"""Do two tasks pull a shared network the same way?

Age and income are predicted from the same hidden layer. At every step the gradient of each
task is taken alone, their cosine is printed, and the network is updated with their sum.
"""
import torch
import torch.nn.functional as F
from torch import nn

torch.manual_seed(10)
x = torch.randn(200, 8)
age = x[:, :1] + 0.5 * x[:, 1:2] ** 2
income = x[:, 2:3] * 1.5 - x[:, :1]

shared = nn.Sequential(nn.Linear(8, 16), nn.Tanh())
head_age = nn.Linear(16, 1)
head_income = nn.Linear(16, 1)
params = [*shared.parameters(), *head_age.parameters(), *head_income.parameters()]
opt = torch.optim.SGD(params, lr=0.05)

for step in range(40):
    hidden = shared(x)
    loss_age = F.mse_loss(head_age(hidden), age)
    loss_income = F.mse_loss(head_income(hidden), income)

    opt.zero_grad()
    loss_age.backward(retain_graph=True)
    from_age = torch.cat([p.grad.flatten().clone() for p in shared.parameters()])
    loss_income.backward()
    both = torch.cat([p.grad.flatten() for p in shared.parameters()])
    cosine = F.cosine_similarity(from_age, both - from_age, dim=0).item()
    opt.step()
    if step % 8 == 0:
        print(f"step {step:2d} age {loss_age.item():.3f} income {loss_income.item():.3f} cosine {cosine:+.2f}")
