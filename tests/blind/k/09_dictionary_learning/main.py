"""Sparse coding with a learned dictionary.

Objective per batch:  |x - D c|^2  +  0.05 |c|_1  +  0.5 |D'D - I|^2,
codes c from a small encoder; the last term keeps the atoms incoherent.
"""
import torch
import torch.nn as nn

torch.manual_seed(4)
ATOMS, DIM = 12, 20

encoder = nn.Sequential(nn.Linear(DIM, 32), nn.ReLU(), nn.Linear(32, ATOMS))
dictionary = nn.Parameter(torch.randn(DIM, ATOMS) * 0.3)
optimizer = torch.optim.Adam(list(encoder.parameters()) + [dictionary], lr=1e-2)

true_atoms = torch.randn(DIM, ATOMS)
true_codes = torch.relu(torch.randn(200, ATOMS) - 0.8)
signals = true_codes @ true_atoms.t()


def incoherence(D):
    gram = D.t() @ D
    return ((gram - torch.eye(ATOMS)) ** 2).mean()


for step in range(50):
    x = signals[torch.randint(0, 200, (32,))]
    codes = encoder(x)
    fit = ((x - codes @ dictionary.t()) ** 2).mean()
    sparsity = codes.abs().mean()

    optimizer.zero_grad()
    (fit + 0.05 * sparsity).backward()
    optimizer.step()
    penalty = 0.5 * incoherence(dictionary)
    penalty.backward()

    if step % 10 == 0:
        print(step, round(fit.item(), 4), round(penalty.item(), 4))
