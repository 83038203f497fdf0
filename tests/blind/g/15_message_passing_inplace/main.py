"""Predict a molecule's polarity from its atoms and bonds."""
import torch
import torch.nn.functional as F

from mpnn import MessagePassing


def molecules(count, generator):
    """Rings of atoms with random substituents; the target counts polar bonds."""
    for _ in range(count):
        atoms = int(torch.randint(5, 9, (), generator=generator))
        kinds = torch.randint(3, (atoms,), generator=generator)
        ring = torch.arange(atoms)
        src = torch.cat([ring, ring.roll(-1)])
        dst = torch.cat([ring.roll(-1), ring])
        polar = (kinds[src] != kinds[dst]).float().mean()
        yield kinds, src, dst, polar


torch.manual_seed(50)
data = list(molecules(80, torch.Generator().manual_seed(11)))
model = MessagePassing(kinds=3, width=24, rounds=3)
optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
for epoch in range(6):
    total = 0.0
    for start in range(0, len(data), 8):
        optimizer.zero_grad()
        loss = 0.0
        for kinds, src, dst, polar in data[start:start + 8]:
            loss = loss + F.mse_loss(model(kinds, src, dst), polar) / 8
        loss.backward()
        optimizer.step()
        total += loss.item() / 10
    print(f"epoch {epoch}: mse {total:.5f}")
