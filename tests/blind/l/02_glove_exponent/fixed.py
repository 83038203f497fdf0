"""GloVe on a toy corpus, with the weighting exponent learned along.

The paper fixes f(x) = min(1, (x / x_max) ** 0.75); here the exponent is a
parameter (a softplus keeps it positive, a small prior keeps it near 0.75).
"""
import torch
import torch.nn.functional as F

torch.manual_seed(2)
VOCAB, DIM, X_MAX = 30, 8, 20.0

counts = torch.poisson(torch.rand(VOCAB, VOCAB) * 12)
counts = counts + counts.t()
rows, cols = counts.nonzero(as_tuple=True)
x_ij = counts[rows, cols]

word = torch.nn.Embedding(VOCAB, DIM)
context = torch.nn.Embedding(VOCAB, DIM)
word_bias = torch.nn.Embedding(VOCAB, 1)
context_bias = torch.nn.Embedding(VOCAB, 1)
raw_exponent = torch.nn.Parameter(torch.tensor(0.1))

modules = [word, context, word_bias, context_bias]
params = [p for m in modules for p in m.parameters()] + [raw_exponent]
optimizer = torch.optim.Adagrad(params, lr=0.05)


def weighting(x):
    exponent = F.softplus(raw_exponent)
    return (x / X_MAX).clamp(max=1.0) ** exponent


def glove_score(i, j):
    dot = (word(i) * context(j)).sum(-1)
    return dot + word_bias(i).squeeze(-1) + context_bias(j).squeeze(-1)


log_x = x_ij.log()

for epoch in range(3):
    order = torch.randperm(len(rows))
    for batch in order.split(256):
        error = glove_score(rows[batch], cols[batch]) - log_x[batch]
        fit = (weighting(x_ij[batch]) * error ** 2).mean()
        prior = (F.softplus(raw_exponent) - 0.75) ** 2
        loss = fit + prior
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    print(epoch, round(loss.item(), 4), round(F.softplus(raw_exponent).item(), 4))
