"""A synthetic stream of card payments: customer, merchant, features, disputed or not."""
from dataclasses import dataclass

import torch


@dataclass
class Events:
    customer: torch.Tensor
    merchant: torch.Tensor
    feats: torch.Tensor
    disputed: torch.Tensor


class PaymentStream:
    """Chronological batches; a node appears at most once per batch."""

    def __init__(self, n_customers=60, n_merchants=40, batches=12, batch_size=20, seed=5):
        self.n_customers = n_customers
        self.n_nodes = n_customers + n_merchants
        g = torch.Generator().manual_seed(seed)
        risk = torch.randn(self.n_nodes, generator=g)
        self.batches = []
        for _ in range(batches):
            c = torch.randperm(n_customers, generator=g)[:batch_size]
            m = n_customers + torch.randperm(n_merchants, generator=g)[:batch_size]
            feats = torch.randn(batch_size, 4, generator=g)
            logit = risk[c] + risk[m] + feats[:, 0]
            disputed = (torch.rand(batch_size, generator=g) < torch.sigmoid(logit)).float()
            self.batches.append(Events(c, m, feats, disputed))

    def __iter__(self):
        return iter(self.batches)

    def __len__(self):
        return len(self.batches)
