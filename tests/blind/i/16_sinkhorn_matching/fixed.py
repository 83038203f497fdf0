"""Learning to sort with a Sinkhorn layer: a network gives costs, Sinkhorn turns them into a soft permutation."""
import torch
import torch.nn as nn

N = 6


def sinkhorn(scores, rounds=8, temperature=0.3):
    """Rows and columns are normalised in turn until the matrix is doubly stochastic."""
    plan = torch.exp(scores / temperature)
    for _ in range(rounds):
        for dim in (2, 1):
            plan = plan / plan.sum(dim=dim, keepdim=True)
    return plan


class Sorter(nn.Module):
    def __init__(self, hidden=32):
        super().__init__()
        self.score = nn.Sequential(nn.Linear(1, hidden), nn.ReLU(), nn.Linear(hidden, N))

    def forward(self, numbers):
        scores = self.score(numbers[:, :, None])      # batch, number, place
        return sinkhorn(torch.tanh(scores).transpose(1, 2))


def loss_of(plan, numbers):
    soft_sorted = (plan @ numbers[:, :, None]).squeeze(2)
    truth = numbers.sort(dim=1).values
    return (soft_sorted - truth).abs().mean()


def fraction_right(plan, numbers):
    hard = numbers.gather(1, plan.argmax(2))
    return (hard == numbers.sort(dim=1).values).float().mean().item()


torch.manual_seed(23)
net = Sorter()
optimizer = torch.optim.Adam(net.parameters(), lr=5e-3)
for step in range(150):
    numbers = torch.rand(64, N)
    plan = net(numbers)
    loss = loss_of(plan, numbers)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 30 == 29:
        print(f"step {step}: loss {loss.item():.4f}  in the right place {fraction_right(plan, numbers):.3f}")
