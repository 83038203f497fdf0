"""Two-stage memory of one layer (after the Compressive Transformer, Rae et al.)."""
import torch
import torch.nn as nn
import torch.nn.functional as F


def attend(query, context):
    """Parameter-free attention, used by the reconstruction loss."""
    score = query @ context.transpose(1, 2) / query.size(-1) ** 0.5
    return score.softmax(dim=-1) @ context


class CompressiveMemory(nn.Module):
    """Keeps the last `mem_len` activations as they are and older ones compressed.

    The compression is a strided convolution trained by its own reconstruction
    loss and by nothing else: what lies in memory is read-only for later segments.
    """

    def __init__(self, dim, mem_len, cmem_len, rate):
        super().__init__()
        self.mem_len, self.cmem_len = mem_len, cmem_len
        self.compress = nn.Conv1d(dim, dim, rate, stride=rate)
        self.mem = None
        self.cmem = None

    def reset(self):
        self.mem = None
        self.cmem = None

    def read(self):
        return [m for m in (self.cmem, self.mem) if m is not None]

    def write(self, hidden):
        """Store this segment's activations; returns the reconstruction loss."""
        hidden = hidden.detach()
        full = hidden if self.mem is None else torch.cat([self.mem, hidden], dim=1)
        overflow = full.size(1) - self.mem_len
        self.mem = full[:, max(overflow, 0):]
        if overflow <= 0:
            return hidden.new_zeros(())
        evicted = full[:, :overflow]
        packed = self.compress(evicted.transpose(1, 2)).transpose(1, 2)
        older = packed if self.cmem is None else torch.cat([self.cmem, packed], dim=1)
        self.cmem = older[:, -self.cmem_len:]
        return F.mse_loss(attend(hidden, packed), attend(hidden, evicted))
