import torch
from torch import nn

torch.manual_seed(0)
neighbours = torch.rand(6, 6).softmax(dim=1)  # of three users and three items
nodes = nn.Embedding(6, 8)
optimizer = torch.optim.Adam(nodes.parameters(), lr=0.05)


def propagate():
    return (neighbours @ nodes.weight).tanh()


def step(propagated):
    user, liked, other = propagated[0], propagated[3], propagated[4]
    loss = -nn.functional.logsigmoid(user @ liked - user @ other)  # the BPR loss
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    return round(loss.item(), 3)


print("in every step:", [step(propagate()) for _ in range(5)])
once = propagate()
print("once for all: ", [step(once) for _ in range(5)])
