"""Two losses of one distribution, whose logits are computed once and kept: the question of pytorch/pytorch#11192."""

import torch

probability = torch.tensor(0.2, requires_grad=True)
coin = torch.distributions.Bernoulli(probability)
heads = 2 * coin.log_prob(torch.tensor(1.0))
tails = 3 * coin.log_prob(torch.tensor(0.0))
heads.backward()
try:
    tails.backward()
except RuntimeError as error:
    print(str(error).replace(". ", ".\n"))
