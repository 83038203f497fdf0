import torch
from torch import nn

torch.manual_seed(0)
model = nn.Linear(3, 1)
batches = [(torch.randn(8, 3), torch.randn(8, 1)) for _ in range(4)]


def gradient(loss):
    model.zero_grad()
    loss.backward()
    return [round(each, 4) for each in model.weight.grad[0].tolist()]


for x, y in batches:
    loss = nn.functional.mse_loss(model(x), y)
after_the_loop = gradient(loss)  # nothing raises

x, y = batches[-1]
of_last_batch = gradient(nn.functional.mse_loss(model(x), y))
of_all_batches = gradient(sum(nn.functional.mse_loss(model(x), y) for x, y in batches))
print("after the loop:", after_the_loop)
print("of last batch: ", of_last_batch)
print("of all batches:", of_all_batches)
