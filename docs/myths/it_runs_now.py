import torch
from torch import nn

torch.manual_seed(0)
neighbours = torch.rand(6, 6).softmax(dim=1)


def train(*, once):
    torch.manual_seed(1)
    nodes = nn.Embedding(6, 8)
    optimizer = torch.optim.SGD(nodes.parameters(), lr=0.2)
    losses = []
    propagated = neighbours @ nodes.weight
    for _ in range(8):
        if not once:
            propagated = neighbours @ nodes.weight
        user, liked = propagated[0], propagated[3]
        loss = (user @ liked - 3) ** 2
        optimizer.zero_grad()
        loss.backward(retain_graph=once)
        optimizer.step()
        losses.append(round(loss.item(), 3))
    user, liked = (neighbours @ nodes.weight)[[0, 3]]
    return losses, round((user @ liked).item(), 3)


for once in (False, True):
    losses, learnt = train(once=once)
    print("propagated once, retained:" if once else "propagated in every step:")
    print("  losses", losses)
    print("  the score that should be 3 is", learnt)
