"""Molecule energies by message passing, accumulated over micro-batches.

In-place sums build the messages; gradients pile up over four micro-batches on
purpose and are cleared after the update.
"""
import torch
import torch.nn as nn


class Messages(nn.Module):
    def __init__(self, dim=10, rounds=2):
        super().__init__()
        self.atom = nn.Embedding(4, dim)
        self.pair = nn.Linear(2 * dim + 1, dim)
        self.update = nn.GRUCell(dim, dim)
        self.energy = nn.Linear(dim, 1)
        self.rounds = rounds

    def forward(self, kind, src, dst, dist, mol, n_mol):
        h = self.atom(kind)
        for _ in range(self.rounds):
            m = self.pair(torch.cat([h[src], h[dst], dist[:, None]], -1)).relu_()
            inbox = torch.zeros_like(h)
            inbox.index_add_(0, dst, m)
            h = self.update(inbox, h)
        total = torch.zeros(n_mol)
        total.index_add_(0, mol, self.energy(h).squeeze(-1))
        return total


def micro_batch(n_mol=4, atoms=5):
    n = n_mol * atoms
    kind = torch.randint(0, 4, (n,))
    mol = torch.arange(n_mol).repeat_interleave(atoms)
    same = (mol[:, None] == mol[None]) & ~torch.eye(n, dtype=torch.bool)
    src, dst = same.nonzero(as_tuple=True)
    dist = 1 + torch.rand(len(src))
    target = torch.zeros(n_mol).index_add_(0, mol, 0.3 * kind.float())
    return (kind, src, dst, dist, mol, n_mol), target


def train(updates=5, micro=4):
    net = Messages()
    opt = torch.optim.Adam(net.parameters(), lr=5e-3)
    curve = []
    running = torch.zeros(())
    for k in range(1, updates * micro + 1):
        inputs, target = micro_batch()
        loss = (net(*inputs) - target).pow(2).mean() / micro
        loss.backward()
        running += loss.detach()
        if k % micro == 0:
            nn.utils.clip_grad_norm_(net.parameters(), 10.0)
            opt.step()
            opt.zero_grad()
            curve.append(running.clone())
            running.zero_()
    return torch.stack(curve)


if __name__ == "__main__":
    torch.manual_seed(26)
    for k, value in enumerate(train().tolist()):
        print(f"update {k}: {value:.4f}")
