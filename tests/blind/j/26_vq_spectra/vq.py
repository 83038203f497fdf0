"""Vector quantisation with a learned codebook."""
from typing import NamedTuple

import torch
import torch.nn.functional as F
from torch import nn


class Quantised(NamedTuple):
    values: torch.Tensor
    codes: torch.Tensor
    loss: torch.Tensor


class VectorQuantiser(nn.Module):
    """Replaces every vector by its nearest codebook entry.

    Straight-through: the decoder's gradient is handed on to the encoder unchanged. Two terms
    hold encoder and codebook together: the codebook term moves the chosen entries to the
    encoder's vectors, the commitment term moves the encoder's vectors to the entries.
    """

    def __init__(self, entries, dim, commitment=0.25):
        super().__init__()
        self.codebook = nn.Embedding(entries, dim)
        nn.init.uniform_(self.codebook.weight, -1.0, 1.0)
        self.commitment = commitment

    def nearest(self, z):
        with torch.no_grad():
            return torch.cdist(z, self.codebook.weight).argmin(1)

    def forward(self, z):
        codes = self.nearest(z)
        q = self.codebook(codes)
        q = z + (q - z).detach()
        codebook_term = F.mse_loss(q, z.detach())
        commitment_term = F.mse_loss(z, q.detach())
        return Quantised(q, codes, codebook_term + self.commitment * commitment_term)
