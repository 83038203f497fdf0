"""Prefix tuning of a frozen encoder for sentiment, with gradient accumulation.

The prefix comes from a small reparametrisation MLP. The gradients of
`accum_steps` micro-batches are averaged before each optimizer step.
"""
import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(2024)

vocab, dim, prefix_len = 50, 32, 4
accum_steps = 4

encoder = nn.TransformerEncoderLayer(dim, nhead=4, dim_feedforward=64, dropout=0.0, batch_first=True)
embedding = nn.Embedding(vocab, dim)
for p in [*encoder.parameters(), *embedding.parameters()]:
    p.requires_grad_(False)


class PrefixEncoder(nn.Module):
    def __init__(self):
        super().__init__()
        self.tokens = nn.Parameter(0.5 * torch.randn(prefix_len, 16))
        self.mlp = nn.Sequential(nn.Linear(16, 64), nn.Tanh(), nn.Linear(64, dim))

    def forward(self):
        return self.mlp(self.tokens)


prefix_encoder = PrefixEncoder()
classifier = nn.Linear(dim, 2)
optimizer = torch.optim.AdamW([*prefix_encoder.parameters(), *classifier.parameters()], lr=2e-2)
polarity = torch.randn(vocab)


def micro_batch(size=16, length=8):
    ids = torch.randint(vocab, (size, length))
    return ids, (polarity[ids].sum(1) > 0).long()


def classify(prefix, ids):
    x = embedding(ids)
    x = torch.cat([prefix.expand(len(ids), -1, -1), x], dim=1)
    return classifier(encoder(x)[:, :prefix_len].mean(1))


for step in range(30):
    optimizer.zero_grad()
    running = 0.0
    for micro in range(accum_steps):
        ids, label = micro_batch()
        prefix = prefix_encoder()
        loss = F.cross_entropy(classify(prefix, ids), label) / accum_steps
        loss.backward()
        running += loss.item()
    optimizer.step()
    if step % 5 == 0 or step == 29:
        print(f"step {step:2d}  loss {running:.4f}")
