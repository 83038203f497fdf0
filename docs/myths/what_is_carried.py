import torch
from torch import nn

torch.manual_seed(0)
cell = nn.RNNCell(2, 4)
optimizer = torch.optim.SGD(cell.parameters(), lr=0.1)


def train(*, detach):
    state = torch.zeros(1, 4)
    for _ in range(3):
        state = cell(torch.ones(1, 2), state.detach() if detach else state)
        state.sum().backward(retain_graph=not detach)
        optimizer.step()
    return "runs"


print("a state, detached:", train(detach=True))
try:
    print("a state, retained:", train(detach=False))
except RuntimeError as error:
    print("a state, retained:", str(error).partition(":")[0])

rate = torch.tensor(0.1, requires_grad=True)  # of an inner step, to be learnt by the outer loop
weight = torch.tensor(1.0, requires_grad=True)
for detach in (True, False):
    (inner,) = torch.autograd.grad((weight * rate) ** 2, weight, create_graph=not detach)
    outer = (weight - inner) ** 2
    (to_rate,) = torch.autograd.grad(outer, rate, allow_unused=True)
    print("an inner gradient,", "detached:" if detach else "with its graph:", "the outer loop learns from", to_rate)
