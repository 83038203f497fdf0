import torch
from torch import nn


def gradients(*, retain, detach):
    torch.manual_seed(0)
    first, second = nn.Linear(4, 1), nn.Linear(4, 1)
    x = torch.randn(8, 4)
    loss_first, loss_second = first(x).pow(2).mean(), second(x).pow(2).mean()
    loss_first.backward(retain_graph=retain)
    if detach:
        loss_first = loss_first.detach()
    loss_second.backward()
    return [round(each.weight.grad.norm().item(), 6) for each in (first, second)]


print("as it is:    ", gradients(retain=False, detach=False))
print("with retain: ", gradients(retain=True, detach=False))
print("with detach: ", gradients(retain=False, detach=True))
